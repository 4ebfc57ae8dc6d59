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
//
// A stream that is only observed goes on: then it is for the callback to continue.
func panicked(context uint32, callback string, value any) (goesOn bool) {
	defer func() { recover() }() // nothing may leave this function
	proxywasm.LogCritical(fmt.Sprintf("panic in %s: %v", callback, value))
	p, w := whose(context)
	struck := p.struck()
	if s := open[context]; ended(callback) {
		// Envoy crashes on a reply to a stream that has ended.
		delete(open, context)
	} else if s != nil {
		goesOn = s.refuse()
	} else if _, root := plugins[context]; !root && !enforcing() {
		goesOn = true
	} else if !root {
		// A stream that no rule covers, or that had not got that far.
		wasip1.LocalReply(filter.PanicReply.Status, filter.PanicReply.Details, filter.PanicReply.Headers, filter.PanicReply.Body, filter.PanicReply.GRPC)
	} else {
		for _, s := range open {
			if s.core.Worker() == w && s.core.Waiting() {
				s.refuse()
			}
		}
	}
	if struck != nil && open[struck.id] == struck {
		struck.refuse()
	}
	for _, p := range plugins {
		p.carryOn()
	}
	if p != nil {
		p.metrics[filter.MetricPanic].Increment(1)
		p.renew(w)
	}
	return goesOn
}

// enforcing reports whether any rule of any configuration here may refuse a request.
func enforcing() bool {
	for _, p := range plugins {
		for _, r := range p.worker.Config().Rules {
			if r.Enforces() {
				return true
			}
		}
	}
	return false
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
					if s := p.struck(); s != nil {
						s.refuse()
					}
				}
			}()
			p.perform()
		}()
	}
}

// struck is the stream of the effect that was being carried out at a panic; nil:
// there was none, or it has ended.
func (p *plugin) struck() *stream {
	if p == nil || p.next == 0 || p.next > len(p.effects) || p.effects[p.next-1].Stream == nil {
		return nil
	}
	return open[p.effects[p.next-1].Stream.ID]
}

// refuse answers a stream whose state is not to be trusted, and takes it from
// the core, which ends its claim. It reports whether the stream goes
// on instead, as one does that is only observed.
func (s *stream) refuse() (goesOn bool) {
	delete(open, s.id)
	core := s.core
	s.core = nil
	func() {
		defer func() { recover() }()
		core.Abort(s.p.now())
	}()
	if core != nil && core.Observed() {
		return true // it was never held
	}
	if wasip1.SetEffectiveContext(s.id) {
		wasip1.LocalReply(filter.PanicReply.Status, filter.PanicReply.Details, filter.PanicReply.Headers, filter.PanicReply.Body, filter.PanicReply.GRPC)
	}
	return false
}
