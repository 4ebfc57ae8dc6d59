package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// readBytes is the largest part of a body that is read at once, either way.
const readBytes = 32 << 10

// front is the listener: it gives clients' requests to the host and writes what
// the host answers.
type front struct {
	l       *loop
	workers int
	limit   int // bytes that wait for one client
	idle    time.Duration
	conns   atomic.Uint64
}

type workerKey struct{}

// server makes the HTTP server: HTTP/1.1 and HTTP/2 without TLS.
func (f *front) server() *http.Server {
	s := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: time.Minute,
		IdleTimeout:       time.Hour,
		MaxHeaderBytes:    60 << 10, // Envoy's max_request_headers_kb
		Protocols:         new(http.Protocols),
		ErrorLog:          discardLog,
		// "OPTIONS *" is the filter's and the backend's to answer.
		DisableGeneralOptionsHandler: true,
		// A connection belongs to one worker, as in Envoy.
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, workerKey{}, int((f.conns.Add(1)-1)%uint64(f.workers)))
		},
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

// ServeHTTP serves one stream. It returns when the response has ended and nothing
// reads the request any more.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := requestOf(r)
	if err != nil {
		w.Header().Set("Connection", "close")
		http.Error(w, "oncewall-host: "+err.Error(), http.StatusForbidden)
		return
	}
	rc := http.NewResponseController(w)
	if r.ProtoMajor == 1 {
		// A filter may answer while the request is still being read.
		if err := rc.EnableFullDuplex(); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	c := newClient(f.l, f.limit)
	req.Client = c
	worker, _ := r.Context().Value(workerKey{}).(int)
	var s *host.Stream
	if !f.l.call(func() { s = f.l.h.Worker(worker).Request(req); c.begun(s) }) {
		panic(http.ErrAbortHandler)
	}
	var whole atomic.Bool
	whole.Store(!req.Open)
	read := make(chan struct{})
	go func() {
		defer close(read)
		if req.Open {
			f.read(s, r, &whole)
		}
	}()
	err = f.write(r.Context(), s, c, writer{w, rc, f.idle})
	if !whole.Load() {
		// Nobody needs the rest of the request. The connection cannot be used
		// again, and the host has said so in the response.
		_ = rc.SetReadDeadline(time.Now().Add(-time.Second))
	}
	<-read
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection, or resets the stream
	}
}

// read gives the request's body to the host, as fast as the host takes it. whole
// is set before the host hears of the end.
func (f *front) read(s *host.Stream, r *http.Request, whole *atomic.Bool) {
	buf := make([]byte, readBytes)
	for {
		n, err := r.Body.Read(buf)
		if n > 0 && !f.l.feed(func() { s.Send(buf[:n], false) }, s.Reading) {
			return
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			whole.Store(true)
			f.l.post(func() {
				if t := fromHTTP(r.Trailer); len(t) > 0 {
					s.SendTrailers(t)
				} else {
					s.Send(nil, true)
				}
			})
			return
		default:
			f.l.post(s.Reset)
			return
		}
	}
}

// write writes the response until it has ended. An error means that the client
// cannot be told of a proper end.
func (f *front) write(ctx context.Context, s *host.Stream, c *client, o writer) error {
	gone := ctx.Done()
	for {
		select {
		case <-c.wake:
		case <-gone:
			gone = nil
			f.l.post(s.Reset)
			continue
		case <-f.l.done:
			return http.ErrAbortHandler
		}
		flush := false
		for _, p := range c.take() {
			err := o.write(p)
			if err == http.ErrAbortHandler && flush {
				_ = o.rc.Flush() // what came before the break
			}
			if err != nil {
				f.l.post(s.Reset)
				return err
			}
			c.wrote(len(p.data))
			if p.end {
				return nil
			}
			flush = true
		}
		if flush {
			if err := o.rc.Flush(); err != nil {
				f.l.post(s.Reset)
				return fmt.Errorf("flush: %w", err)
			}
		}
	}
}
