package scenario

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// door is an HTTP server (HTTP/1.1 and h2c) on a loopback port that can be shut,
// so that connections are refused, and opened again.
type door struct {
	handler http.Handler
	addr    string
	mu      sync.Mutex
	server  *http.Server
}

// openDoor opens a door on a free port.
func openDoor(h http.Handler) (*door, error) {
	d := &door{handler: h, addr: "127.0.0.1:0"}
	return d, d.open()
}

func (d *door) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		return nil
	}
	l, err := net.Listen("tcp", d.addr)
	if err != nil {
		return err
	}
	d.addr = l.Addr().String()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: d.handler, Protocols: protocols, ReadHeaderTimeout: 30 * time.Second}
	d.server = s
	go func() { _ = s.Serve(l) }()
	return nil
}

// shut closes the port and every connection.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		_ = d.server.Close()
		d.server = nil
	}
}

// port is the port's number as text.
func (d *door) port() string {
	_, port, _ := net.SplitHostPort(d.addr)
	return port
}

// turn carries out what is to happen in one handler. What others ask for goes to
// the handler's goroutine, since nobody else may write.
type turn struct {
	w   http.ResponseWriter
	ctx context.Context
	do  chan func() (last bool)
}

func newTurn(w http.ResponseWriter, r *http.Request) *turn {
	return &turn{w: w, ctx: r.Context(), do: make(chan func() bool, 64)}
}

// serve runs until the exchange has ended, either way.
func (t *turn) serve() {
	for {
		select {
		case f := <-t.do:
			if f() {
				return
			}
		case <-t.ctx.Done():
			return
		}
	}
}

// ask hands f to the handler; it is dropped when the exchange is over.
func (t *turn) ask(f func() (last bool)) {
	select {
	case t.do <- f:
	case <-t.ctx.Done():
	}
}

func (t *turn) after(d time.Duration, f func()) { time.AfterFunc(d, f) }

func (t *turn) head(status int, h Lines, end bool) {
	t.ask(func() bool {
		// net/http would guess a type.
		t.w.Header()["Content-Type"] = nil
		for _, l := range h {
			t.w.Header().Add(l[0], l[1])
		}
		t.w.WriteHeader(status)
		if !end {
			t.flush()
		}
		return end
	})
}

func (t *turn) data(b []byte, end bool) {
	t.ask(func() bool {
		_, _ = t.w.Write(b)
		if !end {
			t.flush()
		}
		return end
	})
}

func (t *turn) trailers(h Lines) {
	t.ask(func() bool {
		for _, l := range h {
			t.w.Header().Add(http.TrailerPrefix+l[0], l[1])
		}
		return true
	})
}

func (t *turn) reset() { t.ask(func() bool { panic(http.ErrAbortHandler) }) }

func (t *turn) flush() {
	if f, ok := t.w.(http.Flusher); ok {
		f.Flush()
	}
}

// linesOf are a map's headers, in lower case.
func linesOf(h http.Header) (lines Lines) {
	for name, values := range h {
		for _, v := range values {
			lines = append(lines, [2]string{strings.ToLower(name), v})
		}
	}
	return lines
}

// doorRequest is a request at the real upstream.
type doorRequest struct {
	*turn
	r Request
}

func (d *doorRequest) request() Request { return d.r }

// doorCall is a callout at the fault proxy.
type doorCall struct{ *turn }

func (c doorCall) answer(a bridgeAnswer) {
	c.head(a.status, a.headers, len(a.body) == 0)
	if len(a.body) > 0 {
		c.data(a.body, true)
	}
}

func (c doorCall) cut(a bridgeAnswer) {
	c.head(a.status, a.headers, false)
	c.data(a.body[:len(a.body)/2], false)
	c.reset()
}
