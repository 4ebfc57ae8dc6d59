//go:build wasip1

package main

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/wasip1"

	"github.com/oncewall/oncewall/filter"
)

const (
	// maxReplies bounds the streams that one callback answers. Envoy sends local
	// replies when the callback has returned, each within the one before: a thousand
	// exhaust the stack, which costs the VM and every stream of the worker.
	maxReplies = 64
	// replyTickMS is when the next are answered.
	replyTickMS = 1
)

// reply answers a stream, or leaves that to the next tick.
func (p *plugin) reply(e *filter.Effect) {
	if p.replied == maxReplies {
		if len(p.later) == 0 {
			check(proxywasm.SetTickPeriodMilliSeconds(replyTickMS))
		}
		p.later = append(p.later, *e)
		return
	}
	p.replied++
	r := e.Reply
	if st := wasip1.LocalReply(r.Status, r.Details, r.Headers, r.Body, r.GRPC); st != 0 {
		check(types.ErrorInternalFailure)
	}
}

// replyLater answers the next of those that had to wait.
func (p *plugin) replyLater() {
	if len(p.later) == 0 {
		return
	}
	n := min(len(p.later), maxReplies)
	for i := range p.later[:n] {
		e := &p.later[i]
		// A stream that has ended, or was refused after a panic, is not there.
		if s := open[e.Stream.ID]; s != nil && s.core == e.Stream && wasip1.SetEffectiveContext(s.id) {
			p.reply(e)
		}
	}
	clear(p.later[:n])
	if p.later = p.later[n:]; len(p.later) == 0 {
		p.later = nil
		check(proxywasm.SetTickPeriodMilliSeconds(p.tick))
	}
}
