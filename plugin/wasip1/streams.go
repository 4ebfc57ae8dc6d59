//go:build wasip1 && go1.24 && !tinygo

package wasip1

import "github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"

// kind is learnt from a stream's first callback.
type kind uint8

const (
	kindUnknown kind = iota
	kindHTTP
	kindTCP
)

// side is a direction: of a request and downstream's data, or of a response and
// upstream's data.
type side uint8

const (
	request side = iota
	response
)

// stream is what must be known of a stream in order to refuse it. There is none
// where OnPanic has taken that over.
type stream struct {
	root    uint32
	kind    kind
	paused  [2]bool // by side: the last action was not to continue
	refused bool
	absent  bool // the SDK has no context for it
}

var (
	streams = map[uint32]*stream{}
	// effective is the context that host calls act on.
	effective uint32
)

// enter begins a callback of context; what it returns ends it. Callbacks nest:
// a host call that closes a connection calls back before it returns.
func enter(context uint32) (leave func()) {
	before := effective
	effective = context
	return func() { effective = before }
}

// act runs a stream's callback. After a panic the stream is held, for the panic
// function to answer, or goes on if that says so.
func act(context uint32, callback string, k kind, d side, f func() types.Action) (action uint32) {
	defer enter(context)()
	s := streams[context]
	if s != nil {
		s.kind = k
		if s.refused {
			return uint32(s.instead(context, d))
		}
	}
	action = uint32(types.ActionPause)
	defer guard(context, callback, &action)
	action = uint32(f())
	if s != nil && !s.refused {
		s.paused[d] = action != uint32(types.ActionContinue)
	}
	return action
}

// event runs a callback that has no action.
func event(context uint32, callback string, f func()) {
	defer enter(context)()
	defer guard(context, callback, nil)
	f()
}

// resumed notes that the effective stream no longer waits.
func resumed(sides ...side) {
	if s := streams[effective]; s != nil {
		for _, d := range sides {
			s.paused[d] = false
		}
	}
}
