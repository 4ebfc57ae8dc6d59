//go:build wasip1

package main

import (
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm"
	"github.com/tetratelabs/proxy-wasm-go-sdk/proxywasm/types"

	"github.com/oncewall/oncewall/filter"
)

// stream is one HTTP stream. core is nil as long as no rule covers it.
type stream struct {
	types.DefaultHttpContext
	p    *plugin
	id   uint32
	core *filter.Stream
	// view is of the request's headers, while their callback runs.
	view requestView
	// during is the resumption that the running callback makes needless: what it
	// returns says whether the stream goes on. resumed says that it was asked for.
	during  filter.EffectKind
	resumed bool
	trap    string // see trap.go
}

// actions maps the core's actions to what the host takes. Hold and Discard are
// returned from body callbacks only: stop and watermark, stop without buffer.
var actions = [...]types.Action{
	filter.Continue: types.ActionContinue,
	filter.Pause:    types.ActionPause,
	filter.Hold:     2,
	filter.Discard:  3,
}

// give performs what the event asked for and returns its action.
//
// A callout that the host refuses at once may resume the stream here and now.
// The callback then returns Continue. Were the host told to continue before the
// callback has returned, Envoy would send on what it had buffered, without the
// chunk at hand, and then stop at what the callback returns.
func (s *stream) give(resume filter.EffectKind, a filter.Action) types.Action {
	s.during, s.resumed = resume, false
	if resume == filter.ResumeRequest {
		s.p.replied = 0 // never within the reply to another stream
	}
	s.p.perform()
	s.during = 0
	if s.resumed {
		return types.ActionContinue
	}
	return actions[a]
}

// resumes reports whether an effect is the resumption of the stream whose
// callback is running, and notes it.
func (s *stream) resumes(k filter.EffectKind) bool {
	if s == nil || s.during != k {
		return false
	}
	s.resumed = true
	return true
}

func (s *stream) OnHttpRequestHeaders(_ int, end bool) types.Action {
	path, err := proxywasm.GetHttpRequestHeader(":path")
	if err != nil {
		return types.ActionContinue // CONNECT has none; no rule can cover it
	}
	method, err := proxywasm.GetHttpRequestHeader(":method")
	if err != nil {
		return types.ActionContinue
	}
	w := s.p.worker
	if a, ok := s.continues(); ok {
		return s.give(filter.ResumeRequest, a)
	}
	s.p.runs(w)
	if s.p.debug {
		s.setTrap()
	}
	s.view = requestView{}
	defer func() { s.view = requestView{} }() // the headers are not kept
	rule := w.Select(method, path, &s.view)
	if w.MatchIssue(method, path) {
		rule = nil // asking for a key goes before any rule that has its path
	} else if rule == nil {
		return types.ActionContinue
	}
	s.core = w.Open(s.id, rule, method, path)
	open[s.id] = s
	s.spring("trap-rule")
	return s.give(filter.ResumeRequest, s.core.RequestHeaders(s.p.now(), &s.view, end))
}

func (s *stream) OnHttpRequestBody(n int, end bool) types.Action {
	if s.core == nil {
		return types.ActionContinue
	}
	s.spring("trap-request-body")
	return s.give(filter.ResumeRequest, s.core.RequestBody(s.p.now(), n, end, func() []byte { return chunk(proxywasm.GetHttpRequestBody, n) }))
}

func (s *stream) OnHttpRequestTrailers(int) types.Action {
	if s.core == nil {
		return types.ActionContinue
	}
	return s.give(filter.ResumeRequest, s.core.RequestTrailers(s.p.now()))
}

func (s *stream) OnHttpResponseHeaders(n int, end bool) types.Action {
	if s.core == nil {
		return types.ActionContinue
	}
	if s.core.Answered() {
		s.core.AnswerHeaders(n, &responseView{})
		return s.give(filter.ResumeResponse, filter.Continue)
	}
	s.spring("trap-response-headers")
	return s.give(filter.ResumeResponse, s.core.ResponseHeaders(s.p.now(), &responseView{}, end))
}

func (s *stream) OnHttpResponseBody(n int, end bool) types.Action {
	if s.core == nil || s.core.Answered() {
		return types.ActionContinue
	}
	s.spring("trap-response-body")
	return s.give(filter.ResumeResponse, s.core.ResponseBody(s.p.now(), n, end, func() []byte { return chunk(proxywasm.GetHttpResponseBody, n) }))
}

func (s *stream) OnHttpResponseTrailers(int) types.Action {
	if s.core == nil || s.core.Answered() {
		return types.ActionContinue
	}
	return s.give(filter.ResumeResponse, s.core.ResponseTrailers(s.p.now(), responseTrailers))
}

func (s *stream) OnHttpStreamDone() {
	if s.core == nil {
		s.abandons()
		return
	}
	delete(open, s.id)
	s.p.runs(s.core.Worker())
	s.core.Done(s.p.now(), trail)
	s.p.perform()
	s.p.tell()
	s.spring("trap-log")
}

// chunk reads the whole of the current chunk. A host that cannot give it has
// broken its word; the panic refuses the stream.
func chunk(get func(start, size int) ([]byte, error), n int) []byte {
	b, err := get(0, n)
	if err != nil || len(b) != n {
		panic("the host gave fewer bytes than it announced")
	}
	return b
}
