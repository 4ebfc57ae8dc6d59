package scenario

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// storyHeader tells the requests of one story from those of others.
const storyHeader = "x-story"

// poll is how often a condition is looked at in real time.
const poll = 2 * time.Millisecond

// envoyWorld is one story in a town. Its clock is the real one.
type envoyWorld struct {
	town    *Town
	ctx     context.Context
	number  int
	began   time.Time
	backend *backend
	bridge  *bridge
	clients map[string]*envoyClient
	stats   map[string]int
	zero    map[string]int
	shut    map[string]bool // circuit breakers
}

// envoyClient is one request of a real client.
type envoyClient struct {
	leave context.CancelFunc
	body  *io.PipeWriter
	close func()

	mu           sync.Mutex
	got          Response
	began, ended time.Time
}

func (w *envoyWorld) send(r Request) {
	ctx, cancel := context.WithCancel(w.ctx)
	t := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	t.Protocols.SetHTTP1(!r.HTTP2)
	t.Protocols.SetUnencryptedHTTP2(r.HTTP2)
	c := &envoyClient{leave: cancel, began: time.Now(), close: t.CloseIdleConnections}
	w.clients[r.Client] = c
	var body io.Reader
	length := int64(len(r.Body))
	switch {
	case r.Open:
		var pr *io.PipeReader
		pr, c.body = io.Pipe()
		body, length = pr, -1
	case len(r.Body) > 0:
		// Of a type that net/http does not know: it would repeat a request whose
		// body it could read again.
		body = struct{ io.Reader }{bytes.NewReader(r.Body)}
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+w.town.stack.Gateway(0)+r.Path, body)
	if err != nil {
		panic(err) // the parser has seen method and path
	}
	req.ContentLength = length
	for _, h := range r.Headers {
		v := h[1]
		if h[0] == ":authority" {
			req.Host = v
			continue
		}
		if h[0] == "x-user-id" {
			// Keys belong to a caller: callers of one story have those of no other.
			v += "-" + strconv.Itoa(w.number)
		}
		req.Header[h[0]] = append(req.Header[h[0]], v)
	}
	req.Header[storyHeader] = []string{strconv.Itoa(w.number)}
	go c.exchange(&http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, req)
	if r.Open && len(r.Body) > 0 {
		w.more(r.Client, r.Body, false)
	}
}

func (c *envoyClient) exchange(h *http.Client, req *http.Request) {
	defer c.close()
	resp, err := h.Do(req)
	if err != nil {
		c.end(true)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	c.mu.Lock()
	c.got.Status, c.got.Headers = resp.StatusCode, linesOf(resp.Header)
	c.mu.Unlock()
	for buf := make([]byte, 64<<10); ; {
		n, err := resp.Body.Read(buf)
		c.mu.Lock()
		c.got.Body = append(c.got.Body, buf[:n]...)
		c.mu.Unlock()
		if err != nil {
			c.end(err != io.EOF)
			return
		}
	}
}

func (c *envoyClient) end(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended, c.got.Cut, c.got.Complete = time.Now(), cut, !cut
}

// more writes a part of a body. The pipe takes it when the transport reads it,
// which it stops doing when an answer has come.
func (w *envoyWorld) more(client string, body []byte, end bool) {
	pipe := w.clients[client].body
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = pipe.Write(body)
		if end {
			_ = pipe.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}

func (w *envoyWorld) leave(client string) { w.clients[client].leave() }

func (w *envoyWorld) response(client string) Response {
	c := w.clients[client]
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.got
	r.Body = bytes.Clone(r.Body)
	return r
}

func (w *envoyWorld) took(client string) time.Duration {
	c := w.clients[client]
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended.Sub(c.began)
}

func (w *envoyWorld) advance(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-w.ctx.Done():
	}
}

func (w *envoyWorld) until(limit time.Duration, cond func() bool) bool {
	for deadline := time.Now().Add(limit); !cond(); w.advance(poll) {
		if time.Now().After(deadline) || w.ctx.Err() != nil {
			return cond()
		}
	}
	return true
}

// statPrefix is Envoy's, before the names of a filter's own counters.
const statPrefix = "wasmcustom."

func (w *envoyWorld) loadStats() (err error) {
	w.stats, err = w.town.statsOf(w.ctx, "idempotency")
	return err
}

func (w *envoyWorld) stat(name string) int {
	if w.loadStats() != nil {
		return -1
	}
	return w.stats[statPrefix+name] - w.zero[statPrefix+name]
}

// block shuts or opens a door, and waits until Envoy has no connection that it
// could take for a good one.
func (w *envoyWorld) block(who string, how access) error {
	d, cluster := w.town.upstream, upstreamCluster
	if who == toBridge {
		d, cluster = w.town.proxy, bridgeCluster
	}
	if shut := how == absent; shut != w.shut[who] {
		if err := w.town.breaker(w.ctx, cluster, shut); err != nil {
			return err
		}
		w.shut[who] = shut
	}
	if how != refuses {
		return d.open()
	}
	d.shut()
	name := "cluster." + cluster + ".upstream_cx_active"
	if !w.until(hangs, func() bool {
		stats, err := w.town.statsOf(w.ctx, name)
		return err == nil && stats[name] == 0
	}) {
		return fmt.Errorf("envoy keeps connections to %s", who)
	}
	return nil
}

// slack is what a busy machine may add.
func (w *envoyWorld) slack() time.Duration { return time.Second }

func (w *envoyWorld) end() error {
	if n := w.stat("idempotency.panic"); n != 0 {
		return fmt.Errorf("the filter panicked %d times", n)
	}
	return nil
}

// close leaves the town as it was found, also after a story that broke off.
func (w *envoyWorld) close() {
	for _, who := range []string{toUpstream, toBridge} {
		_ = w.block(who, open)
	}
	for _, c := range w.clients {
		c.leave()
	}
}
