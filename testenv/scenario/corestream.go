package scenario

import (
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// chunk is a part of a body that waits.
type chunk struct {
	b        []byte
	end      bool
	trailers Lines // the end is one of these
}

// coreStream is a stream as Envoy's filter manager and router keep it, for the
// core alone. Bodies travel as they are sent: nothing here has buffer limits.
type coreStream struct {
	w    *coreWorld
	id   uint32
	core *filter.Stream // nil: no rule covers it
	req  Request        // headers as they are now; Body is what reached upstream

	held     bool    // the request's headers are
	released []chunk // what the filter holds back of the body
	waiting  []chunk // what it has not seen
	replied  bool
	routed   bool // the request has begun to leave
	reqEnd   bool
	flags    uint64
	via      bool

	status   int
	resp     Lines
	answered bool
	respHeld bool
	respOut  []chunk
	respIn   []chunk
	client   Response

	began, ended time.Duration
	over         bool
}

func (s *coreStream) begin(end bool) {
	w := s.w
	rule := w.w.Select(s.req.Method, s.req.Path, s)
	if rule != nil || w.w.MatchIssue(s.req.Method, s.req.Path) {
		s.core = w.w.Open(s.id, rule, s.req.Method, s.req.Path)
		w.byCore[s.core] = s
		a := s.core.RequestHeaders(w.at(), s, end)
		s.held = a != filter.Continue
		w.perform()
	}
	if s.replied {
		return
	}
	if end {
		s.released = append(s.released, chunk{end: true})
	}
	if !s.held {
		s.flush()
	}
}

// input takes a part of the body from the client; HTTP/1 tells of its end apart.
func (s *coreStream) input(b []byte, end bool) {
	if end && !s.req.HTTP2 && len(b) > 0 {
		s.chunk(chunk{b: b})
		b = nil
	}
	s.chunk(chunk{b: b, end: end})
}

func (s *coreStream) chunk(c chunk) {
	switch {
	case s.over || s.replied:
	case s.held && !s.w.flag:
		s.waiting = append(s.waiting, c)
	default:
		a := filter.Continue
		if s.core != nil {
			a = s.core.RequestBody(s.w.at(), len(c.b), c.end, func() []byte { return append([]byte(nil), c.b...) })
		}
		if a != filter.Discard {
			s.released = append(s.released, c)
		}
		if a == filter.Continue {
			s.held = false
		}
		s.w.perform()
		if !s.held && !s.replied {
			s.flush()
		}
	}
}

func (s *coreStream) resumeRequest() {
	if !s.held || s.replied || s.routed {
		s.w.fault("a request was resumed that was not paused")
	}
	s.held = false
	s.flush()
	late := s.waiting
	s.waiting = nil
	for _, c := range late {
		s.chunk(c)
	}
}

// flush sends on what is free; upstream hears of a request when it is whole.
func (s *coreStream) flush() {
	s.routed = true
	for _, c := range s.released {
		s.req.Body = append(s.req.Body, c.b...)
		if c.end && !s.reqEnd {
			s.reqEnd = true
			s.route()
		}
	}
	s.released = nil
}

// route is the router's work once the request is complete.
func (s *coreStream) route() {
	timeout := 15 * time.Second
	if ms, err := strconv.Atoi(s.req.Headers.Get("x-envoy-upstream-rq-timeout-ms")); err == nil {
		timeout = time.Duration(ms) * time.Millisecond
	}
	switch s.w.ways[toUpstream] {
	case refuses:
		s.w.after(0, func() { s.envoyReply(503, 0x20) })
		return
	case absent:
		s.envoyReply(503, 0x2)
		return
	}
	s.w.after(0, func() {
		if !s.over {
			s.w.backend.arrive(s)
		}
	})
	s.w.after(timeout, func() { s.envoyReply(504, 0x4) })
}

// envoyReply is Envoy's own answer for upstream, or the end of one that has
// begun.
func (s *coreStream) envoyReply(status int, flags uint64) {
	switch {
	case s.over || s.answered && s.lastSeen():
	case s.answered && !s.respHeld:
		s.cut(flags)
	case s.answered:
		// Past the filter, straight to the client.
		s.client = Response{Status: status, Complete: true}
		s.finish(flags)
	default:
		s.via, s.flags = false, flags
		s.respond(status, nil, true)
	}
}

// lastSeen reports whether the answer is complete at the filter.
func (s *coreStream) lastSeen() bool {
	for _, q := range [][]chunk{s.respOut, s.respIn} {
		if n := len(q); n > 0 && q[n-1].end {
			return true
		}
	}
	return false
}

// localReply is an answer of the filter: it runs through its own response
// callbacks, which leave it alone.
func (s *coreStream) localReply(r *filter.LocalReply) {
	if s.replied || s.answered || s.routed {
		s.w.fault("a second answer to one request, or one after it was sent on")
		return
	}
	s.replied, s.held = true, false
	s.resp = append(Lines(nil), r.Headers...)
	s.status = int(r.Status)
	n := 1 + len(s.resp)
	if len(r.Body) > 0 {
		n++
	}
	s.core.AnswerHeaders(n, s)
	s.w.perform()
	s.client = Response{Status: s.status, Headers: s.resp, Body: r.Body, Complete: true}
	s.w.after(0, func() { s.finish(0) })
}

// respond takes the headers of an answer.
func (s *coreStream) respond(status int, h Lines, end bool) {
	if s.over || s.answered || s.replied {
		return
	}
	s.answered, s.status, s.resp = true, status, append(Lines(nil), h...)
	if end {
		s.respOut = append(s.respOut, chunk{end: true})
	}
	if s.core != nil {
		s.respHeld = s.core.ResponseHeaders(s.w.at(), s, end) != filter.Continue
		s.w.perform()
	}
	if !s.respHeld {
		s.deliver()
	}
}

func (s *coreStream) respBody(c chunk) {
	switch {
	case s.over:
		return
	case s.respHeld && !s.w.flag:
		s.respIn = append(s.respIn, c)
		return
	}
	a := filter.Continue
	if s.core != nil {
		a = s.core.ResponseBody(s.w.at(), len(c.b), c.end, func() []byte { return append([]byte(nil), c.b...) })
	}
	s.respOut = append(s.respOut, c)
	if a == filter.Continue {
		s.respHeld = false
	}
	s.w.perform()
	if !s.respHeld {
		s.deliver()
	}
}

func (s *coreStream) resumeResponse() {
	if !s.respHeld {
		s.w.fault("a response was resumed that was not paused")
	}
	s.respHeld = false
	s.deliver()
	late := s.respIn
	s.respIn = nil
	for _, c := range late {
		if c.trailers != nil {
			s.trailers(c.trailers)
			continue
		}
		s.respBody(c)
	}
}

// deliver gives the client what is free.
func (s *coreStream) deliver() {
	s.client.Status, s.client.Headers = s.status, s.resp
	for _, c := range s.respOut {
		s.client.Body = append(s.client.Body, c.b...)
		s.client.Complete = s.client.Complete || c.end
	}
	s.respOut = nil
	if s.client.Complete {
		s.finish(s.flags)
	}
}

// cut ends the stream without a proper end of its answer.
func (s *coreStream) cut(flags uint64) {
	if !s.over {
		s.client.Cut = true
		s.finish(flags)
	}
}

func (s *coreStream) finish(flags uint64) {
	if s.over {
		return
	}
	s.over, s.flags, s.ended = true, s.flags|flags, s.w.now
	if s.core != nil {
		s.core.Done(s.w.at(), s.Trail)
		s.w.perform()
		delete(s.w.byCore, s.core)
	}
}

// What the core reads of a stream.

func (s *coreStream) Header(name string) []string       { return s.req.Headers.All(name) }
func (s *coreStream) Property(...string) (string, bool) { return "", false }
func (s *coreStream) Status() int                       { return s.status }
func (s *coreStream) ViaUpstream() bool                 { return s.via }
func (s *coreStream) Lines() []wire.HeaderLine          { return s.resp.wire() }

func (s *coreStream) Trail() filter.Trail {
	attempts := 0
	if s.routed {
		attempts = 1
	}
	return filter.Trail{Attempts: attempts, Flags: s.flags}
}

// What upstream does with it.

func (s *coreStream) request() Request                { return s.req }
func (s *coreStream) after(d time.Duration, f func()) { s.w.after(d, f) }
func (s *coreStream) data(b []byte, end bool)         { s.respBody(chunk{b: b, end: end}) }

func (s *coreStream) head(status int, h Lines, end bool) {
	s.via = true
	s.respond(status, h, end)
}

func (s *coreStream) trailers(h Lines) {
	switch {
	case s.over:
		return
	case s.respHeld && !s.w.flag:
		s.respIn = append(s.respIn, chunk{end: true, trailers: h})
		return
	}
	if s.core != nil {
		if a := s.core.ResponseTrailers(s.w.at(), h.wire); a == filter.Continue {
			s.respHeld = false
		}
		s.w.perform()
	}
	s.respOut = append(s.respOut, chunk{end: true})
	if !s.respHeld {
		s.deliver()
	}
}

// reset breaks the connection: on HTTP/1 a body cut short is no HTTP.
func (s *coreStream) reset() {
	if s.answered && !s.req.HTTP2 {
		s.envoyReply(502, 0x800000)
		return
	}
	s.envoyReply(503, 0x40)
}
