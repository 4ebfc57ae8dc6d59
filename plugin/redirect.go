//go:build wasip1

package main

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"

	"github.com/oncewall/oncewall/filter"
)

// handedName is where the token of a claim is kept that goes on to another
// stream: filter state wasm.oncewall_handed.
const handedName = "oncewall_handed"

var handedPath = []string{handedName}

// declaration is the argument of declare_property (a DeclarePropertyArguments of
// Envoy): name, of type bytes (the default), read-only false, and the life span
// of the downstream request, which survives an internal redirect; the default,
// that of the filter chain, does not.
var declaration = append(append([]byte{1<<3 | 2, byte(len(handedName))}, handedName...), 5<<3, 1)

// keepHanded declares the property. A host that does not know the function, or
// refuses it, carries no token: the stream that continues then meets its own
// claim and is refused.
func keepHanded() { _, _ = proxywasm.CallForeignFunction("declare_property", declaration) }

// handOn leaves a token for the stream that continues the current one. Where the
// host refuses, the claim ends as that of a stream that nothing continues.
func (p *plugin) handOn(token string) { _ = proxywasm.SetProperty(handedPath, []byte(token)) }

// handed is the token that was left for the current stream; "": none.
func handed() string {
	b, err := proxywasm.GetProperty(handedPath)
	if err != nil {
		return ""
	}
	return string(b)
}

// continues makes a stream the one that continues a claim, if one was left for
// it. Most callbacks end at the first question: no claim waits.
func (s *stream) continues() (filter.Action, bool) {
	for _, w := range s.p.workers {
		if !w.Handed() {
			continue
		}
		s.p.runs(w)
		if core, a := w.Continue(s.p.now(), s.id, handed()); core != nil {
			s.core = core
			open[s.id] = s
			return a, true
		}
	}
	return filter.Continue, false
}

// abandons gives up a claim that was left for a stream that ends before it has
// begun here.
func (s *stream) abandons() {
	for _, w := range s.p.workers {
		if w.Handed() {
			s.p.runs(w)
			w.Abandon(s.p.now(), handed())
			s.p.perform()
		}
	}
}
