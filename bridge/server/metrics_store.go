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
