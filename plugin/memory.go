//go:build wasip1

package main

import (
	"runtime/debug"
	"runtime/metrics"

	"github.com/oncewall/oncewall/filter"
)

// memory is the VM's memory, which the plugin contexts in it share.
var memory = newHeap()

// heap reads what Go's heap holds and keeps its limit; see [filter.HeapLimit].
type heap struct {
	read  []metrics.Sample
	limit int64
}

// The places in heap.read.
const (
	heapLive    = iota // what survived the last collection
	heapObjects        // living and dead
	heapTotal          // what the VM's memory has grown to for Go
)

func newHeap() *heap {
	h := &heap{read: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}}
	debug.SetGCPercent(filter.HeapPercent)
	h.setLimit(filter.MinHeapLimit)
	return h
}

func (h *heap) setLimit(n int64) {
	h.limit = n
	debug.SetMemoryLimit(n)
}

// look reads the figures and lifts the limit if what lives has come near it.
func (h *heap) look() {
	metrics.Read(h.read)
	if n := filter.HeapLimit(h.limit, h.value(heapLive)); n != h.limit {
		h.setLimit(n)
	}
}

func (h *heap) value(i int) int64 { return int64(h.read[i].Value.Uint64()) }
