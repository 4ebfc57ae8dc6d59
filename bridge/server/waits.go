package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// waits are the requests that wait here, and their bounds.
type waits struct {
	max, maxKey int
	// draining ends every wait with an answer.
	draining context.Context
	drain    context.CancelFunc

	mu    sync.Mutex
	n     int
	byKey map[store.Name]int

	waiters  prometheus.Gauge
	outcomes map[string]prometheus.Counter
	duration prometheus.Histogram
}

// Outcomes of waits that no code names.
const (
	outcomeGone  = "client-gone"
	outcomeOther = "other"
)

// waitBuckets span an answer that was there already to the longest wait.
var waitBuckets = []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}

// subscriptionCounter is what a store may offer beside its interface: how many
// channels it listens to for those who wait.
type subscriptionCounter interface{ Subscriptions() int }

func newWaits(reg *prometheus.Registry, st store.Store, limit, perKey int) *waits {
	w := &waits{max: limit, maxKey: perKey, byKey: map[store.Name]int{}, outcomes: map[string]prometheus.Counter{}}
	w.draining, w.drain = context.WithCancel(context.Background())
	w.waiters = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "oncewall_bridge_waiters", Help: "Requests that wait here for a concurrent one."})
	ended := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_waits_total", Help: "Waits that have ended, by outcome."}, []string{"outcome"})
	for _, code := range []wire.Code{wire.Replayed, wire.KeyUsed, wire.ResponseNotKept, wire.KeyReused, wire.OutcomeUnknown, wire.Free,
		wire.InFlight, wire.TooManyWaiting, wire.Unavailable, wire.Invalid} {
		w.outcomes[waitOutcome(code)] = ended.WithLabelValues(waitOutcome(code))
	}
	for _, name := range []string{outcomeGone, outcomeOther} {
		w.outcomes[name] = ended.WithLabelValues(name)
	}
	w.duration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "oncewall_bridge_wait_duration_seconds", Help: "How long waits took.", Buckets: waitBuckets})
	reg.MustRegister(w.waiters, ended, w.duration)
	if c, ok := st.(subscriptionCounter); ok {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "oncewall_bridge_wait_subscriptions", Help: "Redis channels that are listened to for those who wait.",
		}, func() float64 { return float64(c.Subscriptions()) }))
	}
	return w
}

func waitOutcome(c wire.Code) string {
	switch c {
	case wire.Free:
		return "free"
	case wire.TooManyWaiting:
		return "too-many-waiting"
	}
	if int(c) < len(outcomeNames) && outcomeNames[c] != "" {
		return outcomeNames[c]
	}
	return outcomeOther
}

// enter takes a place among those who wait for n; false: there is none.
func (w *waits) enter(n store.Name) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n >= w.max || w.byKey[n] >= w.maxKey {
		return nil, false
	}
	w.n++
	w.byKey[n]++
	w.waiters.Inc()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.n--
		if w.byKey[n]--; w.byKey[n] == 0 {
			delete(w.byKey, n)
		}
		w.waiters.Dec()
	}, true
}

func (w *waits) ended(outcome string, took time.Duration) {
	c := w.outcomes[outcome]
	if c == nil {
		c = w.outcomes[outcomeOther]
	}
	c.Inc()
	w.duration.Observe(took.Seconds())
}
