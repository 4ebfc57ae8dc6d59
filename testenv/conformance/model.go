package conformance

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// model is the stage of testenv/host.
type model struct {
	sc      *Scenario
	h       *host.Host
	from    int // log lines before the scenario began
	streams []*host.Stream
	seen    map[string][]*host.Exchange
	failed  error
}

// patience bounds how long a condition is waited for, of virtual time.
const patience = 20 * time.Second

func newModel(ctx context.Context, bin *host.Binary, sc *Scenario) (*model, error) {
	s := &sc.Setup
	m := &model{sc: sc, seen: map[string][]*host.Exchange{}}
	o := host.Options{
		Binary: bin, Name: sc.Name, RootID: sc.Name, VMID: sc.vmID(), PluginConfig: []byte(sc.config()),
		AllowOnHeadersStopIteration: s.AllowStop, BufferLimit: s.BufferLimit, StreamWindow: s.StreamWindow, FailurePolicy: s.Failure,
		ReloadBackoff: s.ReloadBackoff, StreamIdleTimeout: s.StreamIdle, UseRemoteAddress: s.UseRemote, Route: s.Route,
		Clusters: map[string]*host.Cluster{}, Canary: true, Lenient: true, Fail: func(err error) { m.failed = err },
	}
	if o.Route.Cluster == "" {
		o.Route.Cluster = "upstream"
	}
	o.Route.Cluster = sc.cluster(o.Route.Cluster)
	for name, c := range s.clusters() {
		o.Clusters[sc.cluster(name)] = &host.Cluster{
			HTTP2: c.HTTP2, NoHosts: c.NoHosts, Refuse: c.Refuse, MaxRequests: c.MaxRequests, BufferLimit: c.BufferLimit,
			HandleHeaders: func(x *host.Exchange) { m.seen[x.Cluster] = append(m.seen[x.Cluster], x) },
		}
	}
	if s.Deny {
		o.Earlier = func(host.Headers) *host.Reply {
			return &host.Reply{Status: 403, Body: "RBAC: access denied", Details: "rbac_access_denied_matched_policy[none]"}
		}
	}
	if s.Abort != 0 {
		o.Later = func(host.Headers) *host.Reply {
			return &host.Reply{Status: s.Abort, Body: "fault filter abort", Details: "fault_filter_abort", Flags: flagFault}
		}
	}
	h, err := host.New(ctx, o)
	if err != nil {
		return nil, err
	}
	m.h = h
	if !sc.Startup {
		m.from = len(h.Log())
	}
	return m, nil
}

// flagFault is FI.
const flagFault host.Flags = 1 << 10

func (m *model) connect(_ int, r host.Request) wire {
	s := m.h.Request(r)
	m.streams = append(m.streams, s)
	return &modelClient{m, s}
}

func (m *model) exchanges(cluster string) []wire {
	var ws []wire
	for _, x := range m.seen[cluster] {
		ws = append(ws, &modelUpstream{m, x})
	}
	return ws
}

func (m *model) trace() []line {
	var ls []line
	for _, l := range m.h.Log()[m.from:] {
		ls = append(ls, line{l.VM, l.Text})
	}
	return ls
}

func (m *model) until(cond func() bool) bool {
	var passed time.Duration
	for !cond() {
		d, ok := m.h.Next()
		if passed += d; !ok || passed > patience {
			return false
		}
		m.h.Advance(d)
	}
	return true
}

func (m *model) pass(d time.Duration)            { m.h.Advance(d) }
func (m *model) reconfigure(config string) error { return m.h.Reconfigure([]byte(config)) }
func (m *model) drained()                        { m.h.Drain() }
func (m *model) settle()                         {}
func (m *model) finish()                         { m.h.Close() }

func (m *model) metric(kind, name string) string {
	if kind == "gauge" {
		return strconv.FormatInt(m.h.Gauge(name), 10)
	}
	return strconv.FormatUint(m.h.Counter(name), 10)
}

func (m *model) access(id int) (string, bool) {
	s := m.streams[id]
	decision := "-"
	if b, ok := s.FilterState("wasm.decision"); ok {
		decision = string(b)
	}
	return fmt.Sprintf("%d %s %s %s", s.Code(), strings.ReplaceAll(s.Details(), " ", "_"), s.Flags(), decision), s.Done()
}

// modelClient is a client of the host.
type modelClient struct {
	m *model
	s *host.Stream
}

func (c *modelClient) got() message {
	r := c.s.Response()
	var h host.Headers
	if r.Status != 0 {
		h = append(host.Headers{{":status", strconv.Itoa(r.Status)}}, r.Headers...)
	}
	return message{h, r.Body, r.Trailers, r.Complete, r.Reset != ""}
}

func (c *modelClient) head(int, host.Headers, bool) {}
func (c *modelClient) send(b []byte, end bool)      { c.s.Send(b, end) }
func (c *modelClient) trailers(h host.Headers)      { c.s.SendTrailers(h) }
func (c *modelClient) reset(host.ResetReason)       { c.s.Reset() }

// modelUpstream is an attempt at a cluster of the host.
type modelUpstream struct {
	m *model
	x *host.Exchange
}

func (u *modelUpstream) got() message {
	return message{u.x.Headers, u.x.Body, u.x.Trailers, u.x.Ended, u.x.Aborted}
}

func (u *modelUpstream) http2() bool {
	return u.m.sc.Setup.clusters()[strings.TrimPrefix(u.x.Cluster, u.m.sc.Name+".")].HTTP2
}

// head adds what an HTTP/1 server writes to frame a body of unknown length.
func (u *modelUpstream) head(status int, h host.Headers, end bool) {
	if !end && !u.http2() && !h.Has("content-length") {
		h = append(h, [2]string{"transfer-encoding", "chunked"})
	}
	u.x.SendHeaders(status, h, end)
}

func (u *modelUpstream) send(b []byte, end bool)       { u.x.Send(b, end) }
func (u *modelUpstream) trailers(h host.Headers)       { u.x.SendTrailers(h) }
func (u *modelUpstream) reset(reason host.ResetReason) { u.x.Reset(reason) }
