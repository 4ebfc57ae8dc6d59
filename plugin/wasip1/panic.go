//go:build wasip1 && go1.24 && !tinygo

package wasip1

import (
	"fmt"
	"runtime/debug"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/internal"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"
)

// panicDetails are the response code details of the answer to a stream whose
// callback panicked.
const panicDetails = "wasm_filter_panic"

var panicked func(context uint32, callback string, value any) (goesOn bool)

// OnPanic sets what is called after a panic in a callback, with the callback's
// context, its name in the interface and the panic's value, in place of the
// default: see the package's documentation. A stream whose callback panicked is
// paused, and f must answer it, unless f returns true: then the callback continues.
// f itself must not panic.
//
// It is called from main: what streams there are is known to the default only
// from their beginning.
func OnPanic(f func(context uint32, callback string, value any) (goesOn bool)) { panicked = f }

// guard recovers a panic of the export that defers it; action is what the export
// returns, nil where that is nothing.
func guard(context uint32, callback string, action *uint32) {
	v := recover()
	switch {
	case v == nil:
	case panicked != nil:
		if panicked(context, callback, v) && action != nil {
			*action = uint32(types.ActionContinue)
		}
	default:
		text := fmt.Sprintf("panic in %s (context %d): %v\n%s", callback, context, v, debug.Stack())
		proxyLog(uint32(internal.LogLevelCritical), stringPtr(text), uint32(len(text)))
		refuseAfter(context, callback)
	}
}

// refuseAfter refuses the streams that a panic in a callback of context may have
// left waiting: the stream itself, or the stream whose callout's answer was
// being delivered. What another callback of a root context would have resumed
// cannot be known, so each stream that waits is refused.
func refuseAfter(context uint32, callback string) {
	s := streams[context]
	switch callback {
	case "proxy_on_downstream_connection_close", "proxy_on_log", "proxy_on_done", "proxy_on_delete":
		return // the stream has ended, and the host may no longer be asked to answer it
	case "proxy_on_http_call_response":
		context = internal.VMStateGetActiveContextID()
		s = streams[context]
	}
	if s != nil {
		s.refuse(context)
		return
	}
	for id, s := range streams {
		if s.root == context && (s.paused[request] || s.paused[response]) {
			s.refuse(id)
		}
	}
}

// refuse answers an HTTP stream with 500, or resets it where the response has
// begun, and closes a TCP connection. Its later callbacks do not reach the
// filter, save those of its end.
func (s *stream) refuse(context uint32) {
	s.refused, s.paused = true, [2]bool{}
	before := effective
	if !SetEffectiveContext(context) {
		return
	}
	switch s.kind {
	case kindHTTP:
		LocalReply(500, panicDetails, nil, nil, -1)
	case kindTCP:
		proxyCloseStream(uint32(internal.StreamTypeDownstream))
	}
	SetEffectiveContext(before)
}

// instead is what a callback of a refused stream returns. The answer to it
// passes through its response callbacks; nothing else passes.
func (s *stream) instead(context uint32, side side) types.Action {
	if s.kind == kindHTTP && side == response {
		return types.ActionContinue
	}
	s.refuse(context)
	return types.ActionPause
}
