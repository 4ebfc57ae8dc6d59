//go:build wasip1

package main

import (
	"sync"

	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
)

// debugHeader makes the filter fail where its value says, if envDebug is set:
//
//	trap                   in the request's headers
//	trap-rule              in the request's headers, when its rule is known
//	trap-request-body      in the first chunk of the request's body
//	trap-response-headers  in the response's headers
//	trap-response-body     in the first chunk of the response's body
//	trap-log               when the stream has ended
//	trap-answer            in the next answer to a callout
//	trap-tick              in the next tick
//	fatal                  in the request's headers, as Go ends when memory runs out
//
// All but the last are panics, which the filter survives. Without envDebug the
// header means nothing.
const debugHeader = "x-oncewall-debug"

// setTrap reads the header and fails if it asks for that here.
func (s *stream) setTrap() {
	v, err := proxywasm.GetHttpRequestHeader(debugHeader)
	if err != nil {
		return
	}
	switch v {
	case "fatal":
		new(sync.Mutex).Unlock() // no recover stops what this throws
	case "trap-answer":
		s.p.trap = v
	case "trap-tick":
		s.p.trap = v
		_ = proxywasm.SetTickPeriodMilliSeconds(1)
	default:
		s.trap = v
		s.spring("trap")
	}
}

// spring panics if that is where the stream's header says so.
func (s *stream) spring(where string) {
	if s.trap != "" && s.trap == where {
		s.trap = ""
		panic(debugHeader + ": " + where)
	}
}

// spring panics if a stream has asked for it in a callback of the plugin's.
func (p *plugin) spring(where string) {
	if p.trap == where {
		p.trap = ""
		panic(debugHeader + ": " + where)
	}
}
