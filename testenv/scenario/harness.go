package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/host"
)

// Names in the rules of stories and in the stack's Envoy.
const (
	upstreamCluster = "shop"
	bridgeCluster   = "oncewall_bridge"
)

// harnessWorld plays in the model of Envoy, with the compiled filter.
type harnessWorld struct {
	h       *host.Host
	backend *backend
	bridge  *bridge
	real    *inProcess
	streams map[string]*harnessStream
	trace   strings.Builder
	faults  []error
}

type harnessStream struct {
	*host.Stream
	began, ended time.Duration
	left         bool
}

// newHarness makes the stage of the harness.
func newHarness(bin *host.Binary, config []byte, flag bool) (*stage, error) {
	w := &harnessWorld{streams: map[string]*harnessStream{}}
	var err error
	if w.real, err = newInProcess(); err != nil {
		return nil, err
	}
	w.bridge = newBridge(w.now, func(batch []byte, _ Lines) bridgeAnswer { return w.real.serve(w.now(), batch) })
	w.bridge.look = func(batch *wire.Batch) wire.Result { return w.real.look(w.now(), batch) }
	w.backend = newBackend(w.bridge)
	w.h, err = host.New(context.Background(), host.Options{
		Binary: bin, PluginConfig: config, AllowOnHeadersStopIteration: flag, Start: start, Seed: 1,
		UseRemoteAddress: true, StreamIdleTimeout: 30 * time.Second,
		Route: host.Route{Name: "shop", Cluster: upstreamCluster},
		Fail:  func(err error) { w.faults = append(w.faults, err) },
		Clusters: map[string]*host.Cluster{
			upstreamCluster: {Handle: func(x *host.Exchange) {
				if !w.h.Cluster(upstreamCluster).Refuse {
					w.backend.arrive(&harnessRequest{x: x, w: w})
				}
			}},
			bridgeCluster: {HTTP2: true, Handle: func(x *host.Exchange) {
				if !w.h.Cluster(bridgeCluster).Refuse {
					w.bridge.arrive(x.Body, Lines(x.Headers), harnessCall{x})
				}
			}},
		},
	})
	if err != nil {
		w.real.close()
		return nil, err
	}
	w.h.Trace().Reset()
	w.h.Trace().Follow(func(e host.TraceEntry) {
		if e.VM == "worker0" {
			w.trace.WriteString(e.Text + "\n")
		}
	})
	s := &stage{w: w, backend: w.backend, bridge: w.bridge}
	s.narrate = func(step Step) { fmt.Fprintf(&w.trace, "%s# %s\n", w.clock(), step.Text) }
	return s, nil
}

func (w *harnessWorld) now() time.Duration { return w.h.Now().Sub(start) }

// clock is a line that says how late it is, where time has passed.
func (w *harnessWorld) clock() string { return fmt.Sprintf("\n[%s] ", w.now()) }

// harnessCall is a callout in the model.
type harnessCall struct{ x *host.Exchange }

func (c harnessCall) after(d time.Duration, f func()) { c.x.After(d, f) }
func (c harnessCall) reset()                          { c.x.Reset(host.RemoteReset) }

func (c harnessCall) answer(a bridgeAnswer) {
	c.x.Respond(a.status, host.Headers(a.headers), a.body)
}

func (c harnessCall) cut(a bridgeAnswer) {
	c.x.SendHeaders(a.status, host.Headers(a.headers), false)
	c.x.Send(a.body[:len(a.body)/2], false)
	c.x.Reset(host.RemoteReset)
}

// harnessRequest is a request at the model's upstream.
type harnessRequest struct {
	x     *host.Exchange
	w     *harnessWorld
	begun bool
}

func (r *harnessRequest) request() Request {
	h := Lines(r.x.Headers)
	return Request{Method: h.Get(":method"), Path: h.Get(":path"), Headers: h, Body: r.x.Body}
}

func (r *harnessRequest) after(d time.Duration, f func()) { r.x.After(d, f) }
func (r *harnessRequest) data(b []byte, end bool)         { r.x.Send(b, end) }
func (r *harnessRequest) trailers(t Lines)                { r.x.SendTrailers(host.Headers(t)) }
func (r *harnessRequest) head(status int, h Lines, end bool) {
	r.begun = true
	r.x.SendHeaders(status, host.Headers(h), end)
}

func (r *harnessRequest) reset() {
	switch {
	case r.w.h.Cluster(upstreamCluster).HTTP2:
		r.x.Reset(host.RemoteReset)
	case r.begun: // a body cut short is no HTTP
		r.x.Reset(host.ProtocolError)
	default:
		r.x.Reset(host.ConnectionTermination)
	}
}

func (w *harnessWorld) send(r Request) {
	w.h.Cluster(upstreamCluster).HTTP2 = r.HTTP2 // it follows the client's
	s := &harnessStream{began: w.now()}
	w.streams[r.Client] = s
	authority := r.Headers.Get(":authority")
	if authority == "" {
		authority = "shop.example"
	}
	s.Stream = w.h.Request(host.Request{Method: r.Method, Path: r.Path, Authority: authority,
		Headers: host.Headers(r.Headers.without(":authority")), Body: bodyOf(r), Open: r.Open, HTTP2: r.HTTP2})
}

// bodyOf is nil for a request without one, which host.Request tells from an
// empty one.
func bodyOf(r Request) []byte {
	if len(r.Body) == 0 {
		return nil
	}
	return r.Body
}

func (w *harnessWorld) more(client string, body []byte, end bool) {
	w.streams[client].Send(body, end)
}

func (w *harnessWorld) leave(client string) {
	s := w.streams[client]
	s.left = true
	s.Reset()
}

func (w *harnessWorld) response(client string) Response {
	s := w.streams[client]
	r := s.Response()
	if s.ended == 0 && (r.Complete || r.Reset != "") {
		s.ended = w.now()
	}
	return Response{Status: r.Status, Headers: Lines(r.Headers), Body: r.Body, Complete: r.Complete, Cut: r.Reset != ""}
}

func (w *harnessWorld) took(client string) time.Duration {
	s := w.streams[client]
	return s.ended - s.began
}

func (w *harnessWorld) advance(d time.Duration) { w.h.Advance(d) }

func (w *harnessWorld) until(limit time.Duration, cond func() bool) bool {
	end := w.now() + limit
	for !cond() {
		d, ok := w.h.Next()
		if !ok || w.now()+d > end {
			w.h.Advance(end - w.now())
			return cond()
		}
		w.h.Advance(d)
	}
	return true
}

func (w *harnessWorld) stat(name string) int { return int(w.h.Counter(name)) }

func (w *harnessWorld) block(who string, how access) error {
	c := w.h.Cluster(map[string]string{toUpstream: upstreamCluster, toBridge: bridgeCluster}[who])
	c.Refuse, c.NoHosts = how == refuses, how == absent
	return nil
}

func (w *harnessWorld) slack() time.Duration { return 0 }

// end lets a minute pass: no stream may be left, and the filter asks for no more
// ticks when there is nothing to do.
func (w *harnessWorld) end() error {
	w.h.Advance(time.Minute)
	for name, s := range w.streams {
		if !s.Done() {
			w.faults = append(w.faults, fmt.Errorf("the stream of %s has not ended", name))
		}
	}
	if n := len(w.h.Pending(bridgeCluster)); n > 0 {
		w.faults = append(w.faults, fmt.Errorf("%d callouts are under way for nobody", n))
	}
	if d, ok := w.h.Next(); ok && len(w.faults) == 0 {
		w.h.Advance(d)
		if next, ok := w.h.Next(); ok {
			w.faults = append(w.faults, fmt.Errorf("timers are armed for nothing: %s, %s", d, next))
		}
	}
	if text := w.h.LogText(); strings.Contains(text, "panic") {
		w.faults = append(w.faults, errors.New(text))
	}
	return errors.Join(w.faults...)
}

func (w *harnessWorld) close() {
	w.h.Close()
	w.real.close()
}

// Trace is what the filter was asked and asked itself, beside the story's lines.
// Values that are random, of the bridge's making, have a name instead.
func (w *harnessWorld) Trace() string { return normal(w.trace.String()) }
