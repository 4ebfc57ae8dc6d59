package main

import (
	"net/http"
	"sync"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// part is a part of a response.
type part struct {
	status   int // headers, where it is not 0
	headers  host.Headers
	data     []byte
	trailers host.Headers
	end      bool
	reset    string
}

// client is the host's view of one client's response: what the host sends waits
// here until the connection's goroutine has written it. Beyond the limit the
// host is told to hold the upstream.
type client struct {
	l     *loop
	limit int
	wake  chan struct{} // holds a token while there is something to write

	mu    sync.Mutex
	parts []part
	bytes int
	held  bool
	s     *host.Stream // nil until the request has been given to the host
}

var _ host.Client = (*client)(nil)

func newClient(l *loop, limit int) *client {
	return &client{l: l, limit: limit, wake: make(chan struct{}, 1)}
}

func (c *client) Headers(status int, h host.Headers, end bool) {
	c.push(part{status: status, headers: h, end: end})
}
func (c *client) Data(b []byte, end bool) { c.push(part{data: b, end: end}) }
func (c *client) Trailers(t host.Headers) { c.push(part{trailers: t, end: true}) }
func (c *client) Reset(why string)        { c.push(part{reset: why, end: true}) }

// push runs on the loop.
func (c *client) push(p part) {
	c.mu.Lock()
	c.parts = append(c.parts, p)
	c.bytes += len(p.data)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	c.hold()
}

// begun is called on the loop once the host knows the stream.
func (c *client) begun(s *host.Stream) {
	c.mu.Lock()
	c.s = s
	c.mu.Unlock()
	c.hold()
}

// hold stops the upstream while more than the limit waits. It runs on the loop.
func (c *client) hold() {
	c.mu.Lock()
	on := !c.held && c.s != nil && c.bytes > c.limit
	c.held = c.held || on
	s := c.s
	c.mu.Unlock()
	if on {
		s.Hold(true)
	}
}

// take gives what waits to be written.
func (c *client) take() []part {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := c.parts
	c.parts = nil
	return parts
}

// wrote says that n bytes are on their way to the client.
func (c *client) wrote(n int) {
	c.mu.Lock()
	c.bytes -= n
	off := c.held && c.bytes <= c.limit/2
	if off {
		c.held = false
	}
	s := c.s
	c.mu.Unlock()
	if off {
		c.l.post(func() { s.Hold(false) })
	}
}

// writer writes a response to a connection.
type writer struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	idle time.Duration // bounds each write; 0: nothing does
}

// write writes one part. An error means that the connection is of no more use.
func (o writer) write(p part) error {
	if o.idle > 0 {
		if err := o.rc.SetWriteDeadline(time.Now().Add(o.idle)); err != nil {
			return err
		}
	}
	switch {
	case p.reset != "":
		return http.ErrAbortHandler
	case p.status != 0:
		if p.status < 200 || p.status > 999 {
			return http.ErrAbortHandler // net/http cannot send it as a response
		}
		toClient(o.w.Header(), p.headers)
		o.w.WriteHeader(p.status)
	case p.trailers != nil:
		for _, t := range p.trailers {
			o.w.Header().Add(http.TrailerPrefix+t[0], t[1])
		}
	case len(p.data) > 0:
		// Bytes behind a HEAD, a 204 or a 304 are no part of the response.
		if _, err := o.w.Write(p.data); err != nil && err != http.ErrBodyNotAllowed {
			return err
		}
	}
	return nil
}
