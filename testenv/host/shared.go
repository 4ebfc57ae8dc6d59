package host

import (
	"slices"
	"strings"
)

// sharedData is one value of proxy_set_shared_data.
type sharedData struct {
	value []byte
	cas   uint32
}

// queue is one shared queue and whom to tell of its entries.
type queue struct {
	token   uint32
	entries [][]byte
	w       *Worker
	context uint32
}

// metric is one of the filter's own metrics, whatever ids the VMs know it by.
type metric struct {
	value   uint64
	samples []uint64
}

func (h *Host) metric(kind uint32, name string) *metric {
	key := metricTypes[kind] + " " + name
	if h.metrics[key] == nil {
		h.metrics[key] = &metric{}
	}
	return h.metrics[key]
}

// SharedData returns a value of the shared data; false where there is none.
func (h *Host) SharedData(key string) ([]byte, bool) {
	d, ok := h.shared[key]
	return d.value, ok
}

// Counter is a counter's value, 0 for one that was never defined.
func (h *Host) Counter(name string) uint64 { return h.value("counter " + name) }

// Gauge is a gauge's value.
func (h *Host) Gauge(name string) int64 { return int64(h.value("gauge " + name)) }

// Histogram is what was recorded in a histogram.
func (h *Host) Histogram(name string) []uint64 {
	if m := h.metrics["histogram "+name]; m != nil {
		return m.samples
	}
	return nil
}

func (h *Host) value(key string) uint64 {
	if m := h.metrics[key]; m != nil {
		return m.value
	}
	return 0
}

// Metric is one of the filter's own metrics.
type Metric struct {
	Kind    string // "counter", "gauge" or "histogram"
	Name    string
	Value   uint64   // of a counter or, signed, of a gauge
	Samples []uint64 // of a histogram
}

// Metrics lists the filter's metrics by kind and name.
func (h *Host) Metrics() []Metric {
	var all []Metric
	for _, key := range sortedKeys(h.metrics) {
		kind, name, _ := strings.Cut(key, " ")
		m := h.metrics[key]
		all = append(all, Metric{kind, name, m.value, m.samples})
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
