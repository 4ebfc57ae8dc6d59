//go:build wasip1

package main

import (
	"fmt"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
)

// The covered streams that have not ended, and the plugin contexts, by id.
var (
	open    = map[uint32]*stream{}
	plugins = map[uint32]*plugin{}
	// latest is whose callback ran last.
	latest *plugin
)

// panicked refuses the stream whose callback or effect has panicked. Then it
// carries out what else the core had asked for, and puts a new worker in the place
// of the one whose state is not to be trusted any more. A panic in a root callback
// that leaves no such trace may have left any stream of that worker paused, so all
// that wait are refused.
func panicked(context uint32, callback string, value any) {
	defer func() { recover() }() // nothing may leave this function
	proxywasm.LogCritical(fmt.Sprintf("panic in %s: %v", callback, value))
	p, w := whose(context)
	if s := open[context]; ended(callback) {
		// Envoy crashes on a reply to a stream that has ended.
		delete(open, context)
	} else if s != nil {
		s.refuse()
	} else if _, root := plugins[context]; !root {
		// A stream that no rule covers, or that had not got that far.
		wasip1.LocalReply(filter.PanicReply.Status, filter.PanicReply.Details, filter.PanicReply.Headers, filter.PanicReply.Body, filter.PanicReply.GRPC)
	} else {
		for _, s := range open {
			if s.core.Worker() == w && s.core.Waiting() || s.core == plugins[context].current() {
				s.refuse()
			}
		}
	}
	for _, p := range plugins {
		p.carryOn()
	}
	if p != nil {
		p.metrics[filter.MetricPanic].Increment(1)
		p.renew(w)
	}
}

// whose is the plugin, and its worker, in whose callback there was a panic.
func whose(context uint32) (*plugin, *filter.Worker) {
	if s := open[context]; s != nil && s.core != nil {
		return s.p, s.core.Worker()
	}
	p := plugins[context]
	if p == nil {
		p = latest
	}
	if p == nil || p.running == nil {
		return p, nil
	}
	return p, p.running
}

// ended reports whether a callback comes after its stream's end.
func ended(callback string) bool {
	switch callback {
	case "proxy_on_log", "proxy_on_done", "proxy_on_delete":
		return true
	}
	return false
}

// carryOn performs the rest of the effects; one that panics as well costs its
// stream, not the others.
func (p *plugin) carryOn() {
	for p.next < len(p.effects) {
		func() {
			defer func() {
				if recover() != nil {
					if s := p.current(); s != nil && open[s.ID] != nil {
						open[s.ID].refuse()
					}
				}
			}()
			p.perform()
		}()
	}
}

// current is the stream of the effect that was carried out last.
func (p *plugin) current() *filter.Stream {
	if p.next == 0 || p.next > len(p.effects) {
		return nil
	}
	return p.effects[p.next-1].Stream
}

// refuse answers a stream whose state is not to be trusted, and takes it from
// the core: its claim's lease ends by itself. One that is only observed goes on.
func (s *stream) refuse() {
	delete(open, s.id)
	core := s.core
	s.core = nil
	func() {
		defer func() { recover() }()
		core.Abort(s.p.now())
	}()
	if core != nil && core.Observed() {
		return // it was never held, and goes on
	}
	if wasip1.SetEffectiveContext(s.id) {
		wasip1.LocalReply(filter.PanicReply.Status, filter.PanicReply.Details, filter.PanicReply.Headers, filter.PanicReply.Body, filter.PanicReply.GRPC)
	}
}
