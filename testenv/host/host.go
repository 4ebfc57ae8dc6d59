package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Host is one Envoy process with one listener, whose chain is this filter and
// the router. It is not safe for use by several goroutines at a time.
type Host struct {
	o      Options
	ctx    context.Context
	trace  *Trace
	log    []LogLine
	rand   *rand.ChaCha8
	now    time.Duration // since Options.Start
	timers timers
	seq    uint64

	queue   []func()
	running bool
	fault   error

	main    *Worker
	workers []*Worker
	mods    []api.Module
	vms     int

	plugin   *plugin
	draining []*plugin

	inFlight []*Exchange
	shared   map[string]sharedData
	nextCas  uint32
	queues   map[string]*queue
	metrics  map[string]*metric
	conns    uint64
}

// Worker is one thread of Envoy with its VM.
type Worker struct {
	h       *Host
	name    string
	vm      *vm
	loaded  time.Duration // when its VM was made
	streams []*Stream     // live ones
}

// New starts Envoy: a VM on the main thread and on each worker, and the plugin
// configuration in each. An error is what keeps Envoy from starting: a trap, or
// proxy_on_vm_start or proxy_on_configure that answers false. It holds what the
// filter logged, unless Options.Logged took that. Where Options.T is set, an
// error fails the test, too.
func New(ctx context.Context, o Options) (*Host, error) {
	h, err := newHost(ctx, o)
	if err != nil && o.T != nil {
		o.T.Helper()
		o.T.Fatalf("%v", err)
	}
	return h, err
}

func newHost(ctx context.Context, o Options) (*Host, error) {
	if o.Binary == nil {
		return nil, fmt.Errorf("host: no binary")
	}
	o.Workers = orDefault(o.Workers, 1)
	o.BufferLimit = orDefault(o.BufferLimit, DefaultBufferLimit)
	o.StreamWindow = orDefault(o.StreamWindow, DefaultStreamWindow)
	o.ReloadBackoff = backoff(o.ReloadBackoff)
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.StreamIdleTimeout == 0 {
		o.StreamIdleTimeout = DefaultStreamIdleTimeout
	}
	if o.LogLevel == nil {
		info := LogInfo
		o.LogLevel = &info
	}
	if o.Route.Timeout == 0 {
		o.Route.Timeout = DefaultRouteTimeout
	}
	if o.Route.Cluster == "" {
		o.Route.Cluster = "upstream"
	}
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(o.Seed >> (8 * i))
	}
	h := &Host{
		o: o, ctx: ctx, trace: &Trace{sink: o.Traced, passing: o.Traced != nil}, rand: rand.NewChaCha8(seed),
		plugin: &plugin{config: o.PluginConfig, number: 1},
		shared: map[string]sharedData{}, queues: map[string]*queue{}, metrics: map[string]*metric{},
	}
	if o.T != nil {
		o.T.Helper()
		o.T.Cleanup(h.Close)
	}
	h.main = &Worker{h: h, name: "main"}
	for i := range o.Workers {
		h.workers = append(h.workers, &Worker{h: h, name: fmt.Sprintf("worker%d", i)})
	}
	var err error
	h.event(func() {
		if o.Canary {
			if err = h.canary(h.plugin); err != nil {
				return
			}
		}
		for _, w := range h.threads() {
			if err = w.load(); err != nil {
				return
			}
		}
	})
	if err != nil {
		h.Close()
		if text := h.LogText(); text != "" {
			err = fmt.Errorf("%w; the filter's log:\n%s", err, strings.TrimSuffix(text, "\n"))
		}
		return nil, err
	}
	return h, nil
}

// Close frees the VMs without another callback. [Host.Shutdown] before it plays
// the end of the process.
func (h *Host) Close() {
	for _, m := range h.mods {
		m.Close(h.ctx)
	}
	h.mods = nil
}

func (h *Host) threads() []*Worker { return append([]*Worker{h.main}, h.workers...) }

// Worker returns the i-th worker, from 0.
func (h *Host) Worker(i int) *Worker { return h.workers[i] }

// Request sends a request to the first worker.
func (h *Host) Request(r Request) *Stream { return h.workers[0].Request(r) }

// Trace is the record of all callbacks and host calls.
func (h *Host) Trace() *Trace { return h.trace }

// Log is what the filter logged at Options.LogLevel or above.
func (h *Host) Log() []LogLine { return h.log }

func (h *Host) record(l LogLine) {
	if h.o.Logged != nil {
		h.o.Logged(l)
		return
	}
	h.log = append(h.log, l)
}

// LogText is the log's text, one line each.
func (h *Host) LogText() string {
	var b strings.Builder
	for _, l := range h.log {
		fmt.Fprintf(&b, "%s %s: %s\n", l.VM, l.Level, l.Text)
	}
	return b.String()
}

// Pending lists the exchanges that a cluster has not answered, oldest first.
func (h *Host) Pending(cluster string) []*Exchange {
	var xs []*Exchange
	for _, x := range h.inFlight {
		if x.Cluster == cluster {
			xs = append(xs, x)
		}
	}
	return xs
}

func (h *Host) forget(x *Exchange) {
	for i, y := range h.inFlight {
		if x == y {
			h.inFlight = append(h.inFlight[:i:i], h.inFlight[i+1:]...)
			return
		}
	}
}

// Cluster returns a cluster to change how it behaves from now on.
func (h *Host) Cluster(name string) *Cluster { return h.o.Clusters[name] }

// uuid makes a request id from the seeded source.
func (h *Host) uuid() string {
	var b [16]byte
	h.rand.Read(b[:])
	b[6], b[8] = b[6]&15|64, b[8]&63|128
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
