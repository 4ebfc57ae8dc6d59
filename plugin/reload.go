//go:build wasip1

package main

import (
	"os"
	"time"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/rules"
)

// After a panic the state of the core's worker is not to be trusted for long. A
// VM that is started again would be clean, but its end cuts every stream of the
// thread, and leaves those that are paused to hang. So a new worker takes the
// requests that come from now on, and the old one ends with those that it has.
const (
	// reloadEvery bounds how often a worker is replaced; a panic in between is
	// refused and counted only.
	reloadEvery = time.Second
	// maxOld bounds the workers that end. The oldest is given up for another.
	maxOld = 4
	// drainTickMS is how often is looked whether one has ended.
	drainTickMS = 250
	// drainLimit is how long a worker without streams may go on trying to have its
	// last words acknowledged.
	drainLimit = time.Minute
)

// newWorker makes a worker for a configuration; nil: the host has no randomness.
func (p *plugin) newWorker(cfg *rules.Config) *filter.Worker {
	var seed [16]byte
	if !wasip1.Random(seed[:]) {
		return nil
	}
	w := filter.NewWorker(cfg, seed)
	w.SetSecret(os.Getenv(envSecret))
	p.shareLocal(cfg, w)
	w.SetClock(p.now(), time.Now().UnixNano())
	return w
}

// renew puts a new worker in the place of w, in which there was a panic. A worker
// that is ending already, and does it again, is given up.
func (p *plugin) renew(w *filter.Worker) {
	if w == nil {
		return
	}
	if w != p.worker {
		p.abandon(w)
		return
	}
	now := time.Now()
	if now.Sub(p.reloaded) < reloadEvery {
		return
	}
	fresh := p.newWorker(w.Config())
	if fresh == nil {
		return
	}
	p.reloaded, p.worker = now, fresh
	p.replaced[w] = now
	p.workers = append(p.workers, fresh)
	if len(p.workers) > maxOld+1 {
		p.abandon(p.workers[0])
	}
	p.metrics[filter.MetricReloaded].Increment(1)
	p.retick()
}

// abandon gives up a worker that ends: what waits in it is refused, and what has
// been forwarded passes. The leases of its claims end by themselves.
func (p *plugin) abandon(w *filter.Worker) {
	for i := range p.workers {
		if p.workers[i] == w {
			p.workers = append(p.workers[:i:i], p.workers[i+1:]...)
			break
		}
	}
	delete(p.ticks, w)
	delete(p.replaced, w)
	for _, s := range open {
		if s.p != p || s.core == nil || s.core.Worker() != w {
			continue
		}
		if s.core.Waiting() {
			s.refuse()
		} else {
			delete(open, s.id)
			s.core = nil
		}
	}
}

// endOld lets go of the workers that have nothing left to do.
func (p *plugin) endOld() {
	if len(p.workers) < 2 {
		return
	}
	busy := map[*filter.Worker]bool{p.worker: true}
	for _, s := range open {
		if s.core != nil {
			busy[s.core.Worker()] = true
		}
	}
	for _, w := range append([]*filter.Worker(nil), p.workers...) {
		h := w.Held()
		if done := h.Pending == 0 && h.Callouts == 0 || time.Since(p.replaced[w]) > drainLimit; !busy[w] && done {
			p.abandon(w)
		}
	}
	p.retick()
}

// pending is how many operations of all workers are not acknowledged.
func (p *plugin) pending() (n int) {
	for _, w := range p.workers {
		n += w.Pending()
	}
	return n
}

// nextEffects takes what one of the workers asks for; false: none asks.
func (p *plugin) nextEffects() bool {
	for _, w := range p.workers {
		if p.effects, p.next = w.Effects(), 0; p.effects != nil {
			p.of = w
			return true
		}
	}
	return false
}

// setTick notes the ticks that the worker at hand wants, and asks for those of
// the most eager, unless replies want theirs first.
func (p *plugin) setTick(ms uint32) {
	p.ticks[p.of] = ms
	p.retick()
}

func (p *plugin) retick() {
	var want uint32
	if len(p.workers) > 1 {
		want = drainTickMS
	}
	for _, ms := range p.ticks {
		if ms > 0 && (want == 0 || ms < want) {
			want = ms
		}
	}
	p.tick = want
	if len(p.later) == 0 {
		check(proxywasm.SetTickPeriodMilliSeconds(want))
	}
}

// runs notes whose state a callback is about to change.
func (p *plugin) runs(w *filter.Worker) { latest, p.running = p, w }

// lost ends a callout whose answer made the filter panic: what it carried is tried
// again or refused.
func (p *plugin) lost(w *filter.Worker, id uint32) {
	v := recover()
	if v == nil {
		return
	}
	func() {
		defer func() { recover() }() // the first panic is the one to tell of
		w.CallFailed(p.now(), id)
	}()
	panic(v)
}
