package main

import (
	"io"
	"net/http"
	"sync"

	"github.com/oncewall/oncewall/testenv/host"
)

// pipe is a request's body on its way from the loop to the transport. push never
// blocks; beyond the limit the host is told to hold the client.
type pipe struct {
	limit   int
	hold    func(bool)  // called on the loop
	release func()      // called by the reader, when half of the limit is free
	trailer http.Header // filled before the end is told; nil: trailers are dropped

	mu    sync.Mutex
	some  sync.Cond
	bufs  [][]byte
	bytes int
	held  bool
	err   error // what follows the bytes
	sends host.Headers
}

func newPipe(limit int, hold func(bool), release func()) *pipe {
	p := &pipe{limit: limit, hold: hold, release: release}
	p.some.L = &p.mu
	return p
}

// push adds bytes. It runs on the loop.
func (p *pipe) push(b []byte) {
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return
	}
	p.bufs = append(p.bufs, b)
	p.bytes += len(b)
	on := !p.held && p.bytes > p.limit
	p.held = p.held || on
	p.some.Signal()
	p.mu.Unlock()
	if on {
		p.hold(true)
	}
}

// finish ends the body, with trailers or without.
func (p *pipe) finish(trailers host.Headers) {
	p.mu.Lock()
	p.sends = trailers
	p.mu.Unlock()
	p.fail(io.EOF)
}

// fail ends the body with an error, unless it has ended.
func (p *pipe) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil || err != io.EOF && p.err == io.EOF {
		p.err = err
	}
	if err != io.EOF {
		p.bufs, p.bytes = nil, 0
	}
	p.some.Broadcast()
}

// pending says that there are bytes or trailers to be sent.
func (p *pipe) pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes > 0 || len(p.sends) > 0
}

// Read waits for bytes or the end.
func (p *pipe) Read(to []byte) (int, error) {
	p.mu.Lock()
	for len(p.bufs) == 0 && p.err == nil {
		p.some.Wait()
	}
	if len(p.bufs) == 0 {
		defer p.mu.Unlock()
		if p.err == io.EOF && p.trailer != nil {
			for _, t := range p.sends {
				p.trailer.Add(t[0], t[1])
			}
			p.sends = nil
		}
		return 0, p.err
	}
	n := copy(to, p.bufs[0])
	if p.bufs[0] = p.bufs[0][n:]; len(p.bufs[0]) == 0 {
		p.bufs = p.bufs[1:]
	}
	p.bytes -= n
	off := p.held && p.bytes <= p.limit/2
	if off {
		p.held = false
	}
	p.mu.Unlock()
	if off {
		p.release()
	}
	return n, nil
}

// Close is the transport giving up the body: what still comes is dropped.
func (p *pipe) Close() error {
	p.mu.Lock()
	held := p.held
	p.held = false
	p.mu.Unlock()
	p.fail(io.ErrClosedPipe)
	if held {
		p.release()
	}
	return nil
}
