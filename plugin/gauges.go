//go:build wasip1

package main

import (
	"time"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"

	"github.com/oncewall/oncewall/filter"
)

// gaugeEvery is how often gauges are told while there is anything to tell of; they
// are told once more when the last of it has ended.
const gaugeEvery = 500 * time.Millisecond

// board tells the gauges, as differences to what it told last.
type board struct {
	gauge [filter.GaugeCount]proxywasm.MetricGauge
	told  [filter.GaugeCount]int64
	at    time.Time
}

func newBoard() *board {
	b := &board{}
	for i, name := range filter.Gauges() {
		b.gauge[i] = proxywasm.DefineGaugeMetric(name)
	}
	return b
}

// tell tells the gauges if it is time, or if there is nothing left to tell of.
func (p *plugin) tell() {
	b, now := p.board, time.Now()
	v := p.held()
	if now.Sub(b.at) < gaugeEvery && (v != [filter.GaugeCount]int64{} || b.resting()) {
		return
	}
	b.at = now
	for _, w := range p.workers {
		v[filter.GaugeCache] += int64(w.Held().Memory)
	}
	memory.look() // whoever has something to do: the eldest may be idle
	if p == eldest() {
		v[filter.GaugeHeap], v[filter.GaugeMemory] = memory.value(heapObjects), memory.value(heapTotal)
	}
	b.set(v)
}

// held is what the gauges that end at 0 will say.
func (p *plugin) held() (v [filter.GaugeCount]int64) {
	if v[filter.GaugeStreams] = int64(len(open)); len(plugins) > 1 {
		v[filter.GaugeStreams] = 0
		for _, s := range open {
			if s.p == p {
				v[filter.GaugeStreams]++
			}
		}
	}
	for _, w := range p.workers {
		h := w.Held()
		v[filter.GaugePending] += int64(h.Pending)
		v[filter.GaugeWaiting] += int64(h.Waiting)
		v[filter.GaugeCallouts] += int64(h.Callouts)
		v[filter.GaugeBodies] += int64(h.Bodies)
	}
	return v
}

// resting reports whether the gauges that end at 0 were told so.
func (b *board) resting() bool {
	for _, n := range b.told[:filter.GaugeCache] {
		if n != 0 {
			return false
		}
	}
	return true
}

func (b *board) set(v [filter.GaugeCount]int64) {
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
