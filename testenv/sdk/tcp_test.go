package sdk

import (
	"io"
	"net"
	"testing"
	"time"
)

// testTCP sends each text on a connection of its own, closes its own direction
// and reads until the connection's end.
func testTCP(t *testing.T, p *inEnvoy) {
	for _, c := range []struct{ filter, sent, want, log string }{
		{"tcp", "append", "append]>", `done after "append"`},
		{"tcp", "prepend", "<[prepend", `downstream close after "prepend"`},
		{"tcp", "replace", "(other)", `upstream close after "replace"`},
		{"tcp", "plain", "plain", "new connection"},
		{"tcp-held", "held", "held", "continued"},
		{"tcp", "close downstream", "", `done after "close downstream"`},
		{"tcp", "close upstream", "", `done after "close upstream"`},
		{"panics-tcp", "panic", "", "panic in proxy_on_downstream_data"},
		{"panics-tcp", "later", "", "panic in proxy_on_upstream_data"},
		{"panics-tcp", "plain", "plain", ""},
	} {
		t.Run(c.filter+" "+c.sent, func(t *testing.T) {
			conn, err := net.Dial("tcp", p.ports[c.filter])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(answerWithin))
			if _, err := conn.Write([]byte(c.sent)); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 256)
			n, err := io.ReadAtLeast(conn, got, max(len(c.want), 1))
			if c.want == "" {
				if n != 0 || err == nil || isTimeout(err) {
					t.Errorf("got %q and %v, want the connection closed", got[:n], err)
				}
			} else if string(got[:n]) != c.want {
				t.Errorf("got %q and %v, want %q", got[:n], err, c.want)
			}
			conn.Close()
			if c.log != "" {
				p.logged(t, c.log)
			}
		})
	}
}

func isTimeout(err error) bool {
	n, ok := err.(net.Error)
	return ok && n.Timeout()
}
