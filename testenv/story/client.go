package story

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// answerLimit bounds the wait for one answer. Nothing here may take that long:
// it is what a request that hangs is told by.
const answerLimit = 20 * time.Second

// Client sends requests to one address as a careful HTTP client would, except
// that it never sends anything twice by itself.
type Client struct {
	addr  string
	http  *http.Client
	dials atomic.Int64
}

// Protocol of a [Client].
type Protocol uint8

// The protocols; both without TLS.
const (
	HTTP1 Protocol = iota
	HTTP2
)

// NewClient makes a client with at most conns idle connections.
func NewClient(addr string, p Protocol, conns int) *Client {
	c := &Client{addr: addr}
	dial := (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	t := &http.Transport{
		MaxIdleConnsPerHost: conns,
		DisableCompression:  true, // answers are compared byte for byte
		Protocols:           new(http.Protocols),
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c.dials.Add(1)
			return dial(ctx, network, addr)
		},
	}
	if p == HTTP2 {
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.Protocols.SetHTTP1(true)
	}
	c.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c
}

// Dials returns how many connections have been opened.
func (c *Client) Dials() int { return int(c.dials.Load()) }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send sends a request and returns what came of it, a broken connection
// included.
func (c *Client) Send(ctx context.Context, r Request) Answer {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	began := time.Now()
	a := c.exchange(ctx, r)
	a.Took = time.Since(began)
	return a
}

func (c *Client) exchange(ctx context.Context, r Request) Answer {
	var body io.Reader
	if len(r.body) > 0 {
		// Of a type that net/http does not know: with a body that it could read
		// again, and an idempotency key, it would repeat a request whose
		// connection broke.
		body = struct{ io.Reader }{bytes.NewReader(r.body)}
	}
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+c.addr+r.path, body)
	if err != nil {
		return Answer{Err: err}
	}
	req.ContentLength = int64(len(r.body))
	if r.chunked {
		req.ContentLength = -1
	}
	for _, h := range r.header {
		// In lower case on HTTP/1 as well, which is allowed, and hides the key of
		// a request without a body from net/http.
		req.Header[h[0]] = append(req.Header[h[0]], h[1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{Err: unwrapURL(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: b, Err: err, Proto: resp.Proto}
}

// unwrapURL drops the address, which says nothing and differs from run to run.
func unwrapURL(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// SendAll sends n equal requests at one instant, each on a connection of its
// own.
func (c *Client) SendAll(ctx context.Context, n int, r Request) []Answer {
	answers := make([]Answer, n)
	gun := make(chan struct{})
	var ready, done sync.WaitGroup
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gun
			answers[i] = c.Send(ctx, r)
		})
	}
	ready.Wait()
	close(gun)
	done.Wait()
	return answers
}

// SendEach sends requests with at most width under way, in their order.
func (c *Client) SendEach(ctx context.Context, width int, requests []Request) []Answer {
	answers := make([]Answer, len(requests))
	var next atomic.Int64
	var done sync.WaitGroup
	for range width {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(requests) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				answers[i] = c.Send(ctx, requests[i])
			}
		})
	}
	done.Wait()
	return answers
}

// get asks an administrative address.
func get(ctx context.Context, url string) ([]byte, error) { return call(ctx, http.MethodGet, url, nil) }

func call(ctx context.Context, method, url string, body io.Reader) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: status %d: %s", method, url, resp.StatusCode, b)
	}
	return b, err
}
