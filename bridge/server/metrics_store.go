package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// maxNodes bounds the nodes that have a series of their own. Addresses come and
// go, where nodes are pods, and a series stays for as long as the process: what
// comes after these is counted as "other".
const maxNodes = 64

// latencyObserver is what a store may offer beside its interface: each answer of a
// node, in which way the operations went there and how long it took.
type latencyObserver interface {
	Observe(func(node, how string, took time.Duration))
}

// breakerObserver is what a store may offer beside its interface: when it begins
// and ends to refuse a node's operations because the node does not answer.
type breakerObserver interface {
	ObserveBreakers(opened func(node, how string, open bool), refused func(node, how string, operations int))
}

// storeBreakers tells which nodes a store has given up for now.
type storeBreakers struct {
	nodes   *storeLatency // whose labels are used
	open    *prometheus.GaugeVec
	refused *prometheus.CounterVec
}

func newStoreBreakers(nodes *storeLatency) *storeBreakers {
	return &storeBreakers{
		nodes: nodes,
		open: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "oncewall_bridge_store_breaker_open", Help: "1 while operations for a node of the store are refused, because it does not answer.",
		}, []string{"node", "way"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "oncewall_bridge_store_refused_total", Help: "Operations answered unavailable at once, because their node does not answer.",
		}, []string{"node", "way"}),
	}
}

func (b *storeBreakers) opened(node, how string, open bool) {
	value := 0.0
	if open {
		value = 1
	}
	b.open.WithLabelValues(b.nodes.label(node), how).Set(value)
}

func (b *storeBreakers) add(node, how string, operations int) {
	b.refused.WithLabelValues(b.nodes.label(node), how).Add(float64(operations))
}

// storeLatency is the histogram of a store's answers by node and way.
type storeLatency struct {
	vec   *prometheus.HistogramVec
	known sync.Map // place -> prometheus.Observer

	mu    sync.Mutex
	nodes map[string]bool
}

type place struct{ node, how string }

func newStoreLatency() *storeLatency {
	return &storeLatency{nodes: map[string]bool{}, vec: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "oncewall_bridge_store_duration_seconds", Help: "Answers of the store's nodes, one for each pipeline, by node and way.",
		Buckets: latencyBuckets,
	}, []string{"node", "way"})}
}

func (l *storeLatency) observe(node, how string, took time.Duration) {
	at := place{node, how}
	o, ok := l.known.Load(at)
	if !ok {
		label := l.label(node)
		o = l.vec.WithLabelValues(label, how)
		if label == node {
			l.known.Store(at, o)
		}
	}
	o.(prometheus.Observer).Observe(took.Seconds())
}

// label is the node's own, or that of all beyond maxNodes.
func (l *storeLatency) label(node string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.nodes[node] && len(l.nodes) == maxNodes {
		return "other"
	}
	l.nodes[node] = true
	return node
}
