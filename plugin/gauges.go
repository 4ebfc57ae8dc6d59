//go:build wasip1

package main

import (
	"runtime/metrics"
	"time"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
)

// The gauges. Each is the sum over the workers of an Envoy; what a VM held that
// has failed stays in it.
const (
	gaugeStreams  = iota // covered streams that have not ended
	gaugePending         // operations that are not acknowledged
	gaugeWaiting         // requests that wait for a concurrent one
	gaugeCallouts        // callouts under way
	gaugeBodies          // bytes of bodies and of results that are not acknowledged
	gaugeCache           // bytes of the memory of finished keys
	gaugeHeap            // bytes of living and dead objects of the Go heap
	gaugeMemory          // bytes that the VM's memory has grown to for Go
	gauges
)

var gaugeNames = [gauges]string{
	"idempotency.open_streams",
	"idempotency.pending_operations",
	"idempotency.waiting",
	"idempotency.callouts_under_way",
	"idempotency.body_bytes",
	"idempotency.cache_bytes",
	"idempotency.heap_bytes",
	"idempotency.memory_bytes",
}

// gaugeEvery is how often gauges are told while there is anything to tell of; they
// are told once more when the last of it has ended.
const gaugeEvery = 500 * time.Millisecond

// board tells the gauges, as differences to what it told last.
type board struct {
	gauge [gauges]proxywasm.MetricGauge
	told  [gauges]int64
	at    time.Time
	read  []metrics.Sample
}

func newBoard() *board {
	b := &board{read: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}}
	for i, name := range gaugeNames {
		b.gauge[i] = proxywasm.DefineGaugeMetric(name)
	}
	return b
}

// tell tells the gauges if it is time, or if there is nothing left to tell of.
func (p *plugin) tell() {
	b, now := p.board, time.Now()
	v := p.held()
	if now.Sub(b.at) < gaugeEvery && (v != [gauges]int64{} || b.resting()) {
		return
	}
	b.at = now
	for _, w := range p.workers {
		v[gaugeCache] += int64(w.Held().Memory)
	}
	if p == eldest() {
		metrics.Read(b.read)
		v[gaugeHeap] = int64(b.read[0].Value.Uint64())
		v[gaugeMemory] = int64(b.read[1].Value.Uint64())
	}
	b.set(v)
}

// held is what the gauges that end at 0 will say.
func (p *plugin) held() (v [gauges]int64) {
	if v[gaugeStreams] = int64(len(open)); len(plugins) > 1 {
		v[gaugeStreams] = 0
		for _, s := range open {
			if s.p == p {
				v[gaugeStreams]++
			}
		}
	}
	for _, w := range p.workers {
		h := w.Held()
		v[gaugePending] += int64(h.Pending)
		v[gaugeWaiting] += int64(h.Waiting)
		v[gaugeCallouts] += int64(h.Callouts)
		v[gaugeBodies] += int64(h.Bodies)
	}
	return v
}

// resting reports whether the gauges that end at 0 were told so.
func (b *board) resting() bool {
	for _, n := range b.told[:gaugeCache] {
		if n != 0 {
			return false
		}
	}
	return true
}

func (b *board) set(v [gauges]int64) {
	for i := range v {
		if d := v[i] - b.told[i]; d != 0 {
			b.gauge[i].Add(d)
		}
	}
	b.told = v
}

// eldest is the plugin context that speaks for the memory of the VM, which
// several may share.
func eldest() (first *plugin) {
	for _, p := range plugins {
		if first == nil || p.id < first.id {
			first = p
		}
	}
	return first
}
