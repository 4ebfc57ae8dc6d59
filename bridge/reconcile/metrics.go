package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of a probe and of a compensation, and what became of records: label
// values.
var (
	probeOutcomes      = []string{"final", "not-executed", "unpromised", "running", "unknown", "failed"}
	compensateOutcomes = []string{"done", "failed"}
	recoveredOutcomes  = []string{"completed", "executed", "released", "noted", "conflict"}
)

type metrics struct {
	probes       *prometheus.CounterVec // scope, outcome
	compensated  *prometheus.CounterVec // scope, outcome
	recovered    *prometheus.CounterVec // outcome
	overdue      *prometheus.GaugeVec   // why
	stuck        *prometheus.GaugeVec   // why
	oldest       prometheus.Gauge
	held         prometheus.Gauge
	takeovers    prometheus.Counter
	indexRepairs *prometheus.CounterVec // kind
	duration     prometheus.Histogram
}

func newMetrics(reg *prometheus.Registry, scopes []*scope) *metrics {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauges := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	m := &metrics{
		probes:      counters("oncewall_bridge_probes_total", "Questions to backends by scope and outcome.", "scope", "outcome"),
		compensated: counters("oncewall_bridge_compensations_total", "Calls of compensations by scope and outcome.", "scope", "outcome"),
		recovered:   counters("oncewall_bridge_recovered_total", "Overdue records that a backend's answer ended, by what they became.", "outcome"),
		overdue:     gauges("oncewall_bridge_overdue_records", "Unresolved records whose lease is over, of the shares that this bridge has, by why.", "why"),
		stuck:       gauges("oncewall_bridge_stuck_records", "Overdue records past recovery.stuck_after, by why.", "why"),
		oldest:      gauge("oncewall_bridge_oldest_overdue_seconds", "How long the oldest overdue record has been so; 0: there is none."),
		held:        gauge("oncewall_bridge_recovery_shares", "Shares of the records that this bridge looks after; all bridges together have 64."),
		takeovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "oncewall_bridge_recovery_share_takeovers_total", Help: "Shares taken from a bridge that let them end without a word.",
		}),
		indexRepairs: counters("oncewall_bridge_index_repairs_total", "Members taken out of indexes, and lost ones put back.", "kind"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "oncewall_bridge_probe_duration_seconds", Help: "Questions to backends.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
	}
	// Every child is there from the start: a rate of nothing is 0, not absent.
	for _, s := range scopes {
		for _, o := range probeOutcomes {
			m.probes.WithLabelValues(s.Scope.Scope, o)
		}
		if s.Compensation != nil {
			for _, o := range compensateOutcomes {
				m.compensated.WithLabelValues(s.Scope.Scope, o)
			}
		}
	}
	for _, o := range recoveredOutcomes {
		m.recovered.WithLabelValues(o)
	}
	for _, why := range whys {
		m.overdue.WithLabelValues(why)
		m.stuck.WithLabelValues(why)
	}
	m.indexRepairs.WithLabelValues("removed")
	m.indexRepairs.WithLabelValues("indexed")
	reg.MustRegister(m.probes, m.compensated, m.recovered, m.overdue, m.stuck, m.oldest, m.held, m.takeovers, m.indexRepairs, m.duration)
	return m
}

// report counts what is overdue and stuck, and says once of each record that it
// is stuck.
func (r *Reconciler) report(now time.Time) {
	overdue, stuck := map[string]int{}, map[string]int{}
	oldest := time.Duration(0)
	r.memory.mu.Lock()
	defer r.memory.mu.Unlock()
	for _, known := range r.memory.shares {
		for name, n := range known {
			if n.why == "" { // resolved, and only its index does not know
				continue
			}
			age := now.Sub(n.since)
			overdue[n.why]++
			oldest = max(oldest, age)
			if age < r.cfg.StuckAfter || n.why == whyReacquire || n.why == whyNew {
				continue
			}
			stuck[n.why]++
			if !n.stuck {
				n.stuck = true
				r.cfg.Log.Warn("record stuck", "record", nameText(name), "why", n.why, "overdue", age.Round(time.Second).String(),
					"fence", n.fence, "probes", n.tries)
			}
		}
	}
	for _, why := range whys {
		r.metrics.overdue.WithLabelValues(why).Set(float64(overdue[why]))
		r.metrics.stuck.WithLabelValues(why).Set(float64(stuck[why]))
	}
	r.metrics.oldest.Set(oldest.Seconds())
}
