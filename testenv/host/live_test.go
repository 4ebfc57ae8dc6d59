package host_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

// line is a live cluster and a live client in one: it notes what reaches it.
type line struct {
	x        *host.Exchange
	sent     []byte // to the cluster
	ended    bool
	aborted  bool
	status   int
	received []byte // by the client
	done     bool
	reset    string
}

func (l *line) Open(x *host.Exchange)                 { l.x = x }
func (l *line) Data(_ *host.Exchange, b []byte)       { l.sent = append(l.sent, b...) }
func (l *line) End(*host.Exchange)                    { l.ended = true }
func (l *line) Abort(*host.Exchange)                  { l.aborted = true }
func (l *line) Trailers(host.Headers)                 { l.done = true }
func (l *line) Reset(why string)                      { l.reset = why }
func (l *line) Headers(s int, _ host.Headers, _ bool) { l.status = s }

type client struct{ *line }

func (c client) Data(b []byte, end bool) {
	c.received = append(c.received, b...)
	c.done = end
}

func live(t *testing.T) (*scene, *line, *host.Stream) {
	l := &line{}
	s := start(t, func(o *host.Options) {
		o.BufferLimit = 1000
		o.Clusters["upstream"] = &host.Cluster{Live: l, BufferLimit: 1000}
	})
	return s, l, s.Request(host.Request{Method: "POST", Open: true, Client: client{l}})
}

// A live cluster gets the request piece by piece, a live client the response.
func TestLive(t *testing.T) {
	_, l, s := live(t)
	if l.x == nil || l.ended {
		t.Fatal("the cluster does not know of the request")
	}
	s.Send([]byte("ab"), false)
	s.Send([]byte("cd"), true)
	if string(l.sent) != "abcd" || !l.ended || len(l.x.Body) != 0 {
		t.Fatalf("%q %t %q", l.sent, l.ended, l.x.Body)
	}
	l.x.SendHeaders(200, nil, false)
	l.x.Send([]byte("ef"), false)
	if l.status != 200 || string(l.received) != "ef" || l.done {
		t.Fatalf("%d %q %t", l.status, l.received, l.done)
	}
	l.x.Send(nil, true)
	if !l.done || !s.Done() || len(s.Response().Body) != 0 {
		t.Fatal(l.done, s.Done(), s.Response().Body)
	}
}

// While the cluster takes nothing the client is not read, and the other way
// round.
func TestLiveHold(t *testing.T) {
	_, l, s := live(t)
	l.x.Hold(true)
	l.x.Hold(true) // once is enough
	s.Send([]byte("ab"), false)
	if s.Reading() || len(l.sent) != 0 {
		t.Fatalf("reading %t, sent %q", s.Reading(), l.sent)
	}
	l.x.Hold(false)
	if !s.Reading() || string(l.sent) != "ab" {
		t.Fatalf("reading %t, sent %q", s.Reading(), l.sent)
	}
	s.Send(nil, true)
	l.x.SendHeaders(200, nil, false)
	s.Hold(true)
	l.x.Send([]byte("cd"), true)
	if l.x.Reading() || len(l.received) != 0 {
		t.Fatalf("reading %t, received %q", l.x.Reading(), l.received)
	}
	s.Hold(false)
	if string(l.received) != "cd" || !s.Done() {
		t.Fatalf("received %q", l.received)
	}
}

// A client that goes away resets the exchange; an upstream that does resets the
// client.
func TestLiveReset(t *testing.T) {
	_, l, s := live(t)
	l.x.Hold(true)
	s.Reset()
	if !l.aborted {
		t.Fatal("the cluster was not told")
	}
	if !strings.Contains(l.reset, "client gone") {
		t.Fatal(l.reset)
	}
	_, l, s = live(t)
	s.Send(nil, true)
	l.x.SendHeaders(200, nil, false)
	l.x.Send([]byte("half"), false)
	l.x.Reset(host.ConnectionTermination)
	if l.reset == "" || l.aborted || l.done {
		t.Fatalf("reset %q, aborted %t, done %t", l.reset, l.aborted, l.done)
	}
}

// A request is kept for another attempt up to the buffer limit.
func TestLiveRetry(t *testing.T) {
	for size, again := range map[int]bool{1000: true, 1001: false} {
		s, l, _ := live(t)
		body := bytes.Repeat([]byte("x"), size)
		s.Request(host.Request{Method: "POST", Body: body, Headers: host.H("x-probe", "rqh=add:0:x-envoy-retry-on:reset"), Client: client{l}})
		l.sent, l.ended = nil, false
		first := l.x
		first.Reset(host.ConnectionTermination)
		s.Advance(1e9)
		if (l.x != first) != again || again && !bytes.Equal(l.sent, body) {
			t.Errorf("%d bytes: sent again %t, %d bytes", size, l.x != first, len(l.sent))
		}
	}
}
