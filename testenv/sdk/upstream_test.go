package sdk

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// reply is what upstream answers: the body it got, headers and trailers for the
// filters to change, and an answer of its own to callouts.
func reply(path string, got message) (headers, trailers http.Header, body string) {
	headers = h("x-up-replaced", "old", "x-up-removed", "1")
	switch {
	case path == "/callout":
		body = strings.TrimSpace("granted " + got.body + " " + joined(got.trailers, "x-asked"))
		return headers, h("x-granted", "yes"), body
	case strings.HasPrefix(path, "/trailers"):
		trailers = h("x-up", "1", "x-up-removed", "1")
	}
	body = got.body
	if body == "" {
		body = "up"
	}
	return headers, trailers, body
}

func joined(h http.Header, name string) string { return strings.Join(h.Values(name), ",") }

// upstream is a real server. Requests come one at a time, so the last one is
// the one asked for.
type upstream struct {
	address string
	mu      sync.Mutex
	last    *message
}

func (u *upstream) take() *message {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.last
	u.last = nil
	return m
}

func startUpstream(t *testing.T) *upstream {
	u := &upstream{}
	s := httptest.NewUnstartedServer(http.HandlerFunc(u.serve))
	s.Config.Protocols = cleartext()
	s.Start()
	t.Cleanup(s.Close)
	u.address = s.Listener.Addr().String()
	return u
}

// cleartext is HTTP/2 without TLS: the only HTTP whose trailers Envoy passes by
// default.
func cleartext() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := message{headers: r.Header, body: string(body), trailers: r.Trailer}
	if r.URL.Path != "/callout" {
		u.mu.Lock()
		u.last = &got
		u.mu.Unlock()
	}
	headers, trailers, text := reply(r.URL.Path, got)
	for k, v := range headers {
		w.Header()[k] = v
	}
	io.WriteString(w, text)
	http.NewResponseController(w).Flush()
	for k, v := range trailers {
		w.Header()[http.TrailerPrefix+k] = v
	}
}

// startEcho starts a TCP server that sends back what it reads.
func startEcho(t *testing.T) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().String()
}
