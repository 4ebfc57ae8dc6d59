package server

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// commandCounter is what a store may offer beside its interface: how many
// commands it has sent to its nodes.
type commandCounter interface{ Commands() uint64 }

// metrics are all defined at start, every child of the two that each operation
// touches included: a hot path without a label lookup.
type metrics struct {
	operations [len(operationNames)][len(outcomeNames)]prometheus.Counter
	durations  [len(operationNames)]prometheus.Observer
	size       prometheus.Histogram
	duration   prometheus.Histogram
	requests   *prometheus.CounterVec
	served     prometheus.Counter

	storeBatches    prometheus.Counter
	stalls          prometheus.Counter
	storeOperations prometheus.Counter
	restored        prometheus.Counter
	takeovers       prometheus.Counter
	forgotten       prometheus.Counter
	unprotected     prometheus.Counter
	unreadable      [len(unreadableNames)]prometheus.Counter
	health          *prometheus.GaugeVec
	claims          *claims
}

func newMetrics(reg *prometheus.Registry, st store.Store, version string, quotas []Quota) *metrics {
	m := &metrics{
		claims: newClaims(reg, quotas),
		size: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "oncewall_bridge_batch_size", Help: "Operations of a batch.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
		}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "oncewall_bridge_batch_duration_seconds", Help: "From a batch's arrival to its answer.",
			Buckets: latencyBuckets,
		}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oncewall_bridge_requests_total", Help: "HTTP requests to the data listener by status code.",
		}, []string{"code"}),
		stalls:          counter("oncewall_bridge_stalled_batches_total", "Batches that arrived after the process had stood still for 250ms or more."),
		storeBatches:    counter("oncewall_bridge_store_batches_total", "Batches handed to the store."),
		storeOperations: counter("oncewall_bridge_store_operations_total", "Operations handed to the store and answered by it."),
		restored:        counter("oncewall_bridge_restored_total", "Operations that made a record the store had lost."),
		forgotten:       counter("oncewall_bridge_forgotten_owners_total", "Released owners that a record forgot before their time, for newer ones."),
		takeovers:       counter("oncewall_bridge_takeovers_total", "Claims granted after an earlier owner's lease ended."),
		unprotected:     counter("oncewall_bridge_unprotected_completions_total", "Completions of requests that were forwarded while the store was away."),
	}
	m.served = m.requests.WithLabelValues("200")
	operations := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_operations_total", Help: "Operations by kind and outcome.",
	}, []string{"operation", "outcome"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "oncewall_bridge_operation_duration_seconds", Help: "From a batch's arrival to its operation's outcome.",
		Buckets: latencyBuckets,
	}, []string{"operation"})
	for kind := range operationNames {
		m.durations[kind] = durations.WithLabelValues(label(operationNames[kind]))
		for code := range outcomeNames {
			m.operations[kind][code] = operations.WithLabelValues(label(operationNames[kind]), label(outcomeNames[code]))
		}
	}
	unreadable := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_unreadable_results_total", Help: "Recorded results that could not be opened, by reason.",
	}, []string{"reason"})
	for reason, name := range unreadableNames {
		m.unreadable[reason] = unreadable.WithLabelValues(name)
	}
	m.health = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "oncewall_bridge_part_status", Help: "How a part was when /readyz was last asked: 0 ok, 1 degraded, 2 failed.",
	}, []string{"part"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "oncewall_build_info", Help: "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision(), "goversion": runtime.Version()},
	})
	build.Set(1)
	reg.MustRegister(m.size, m.duration, m.requests, m.storeBatches, m.stalls, m.storeOperations, m.restored, m.takeovers, m.forgotten,
		m.unprotected, m.health, unreadable, operations, durations, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o, ok := st.(latencyObserver); ok {
		latency := newStoreLatency()
		reg.MustRegister(latency.vec)
		o.Observe(latency.observe)
		if o, ok := st.(breakerObserver); ok {
			breakers := newStoreBreakers(latency)
			reg.MustRegister(breakers.open, breakers.refused)
			o.ObserveBreakers(breakers.opened, breakers.add)
		}
	}
	if c, ok := st.(commandCounter); ok {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "oncewall_bridge_redis_commands_total", Help: "Commands sent to Redis nodes.",
		}, func() float64 { return float64(c.Commands()) }))
	}
	return m
}

// latencyBuckets span a pipeline on loopback to the largest usual budget.
var latencyBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func (m *metrics) request(status int) { m.requests.WithLabelValues(strconv.Itoa(status)).Inc() }

func (m *metrics) batch(size int, took time.Duration) {
	m.served.Inc()
	m.size.Observe(float64(size))
	m.duration.Observe(took.Seconds())
}

func (m *metrics) operation(in *outcomes, kind wire.Kind, code wire.Code, took time.Duration) {
	// Index 0 has no name: it counts what no constant names.
	if int(kind) >= len(operationNames) {
		kind = 0
	}
	if int(code) >= len(outcomeNames) {
		code = 0
	}
	if kind == wire.Claim {
		in[code].Inc()
	}
	m.operations[kind][code].Inc()
	m.durations[kind].Observe(took.Seconds())
}

func (m *metrics) reply(op *store.Operation, r *store.Reply) {
	m.storeOperations.Inc()
	if r.Restored {
		m.restored.Inc()
	}
	if r.Takeover {
		m.takeovers.Inc()
	}
	if r.Dropped {
		m.forgotten.Inc()
	}
	if op.Unprotected && op.Kind == wire.Complete {
		m.unprotected.Inc()
	}
}
