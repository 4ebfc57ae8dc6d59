package filter

import (
	"slices"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the header lines that a record keeps. Envoy drops every line of a
// local reply that has more than 1,024; what a replay adds must fit as well.
const (
	maxRecordedLines       = 900
	maxRecordedHeaderBytes = 64 << 10
)

// responseState is what a stream knows of its response.
type responseState struct {
	status uint16
	lines  []wire.HeaderLine
	body   []byte
	keep   bool          // the body is being captured
	code   Code          // what Idempotency-Status will say
	ttl    time.Duration // life of the result, as upstream said; 0: the rule's
}

// ResponseHeaders takes the headers of the answer. end: there is no body.
func (s *Stream) ResponseHeaders(now int64, r Response, end bool) Action {
	if s.observed != nil {
		s.observeResponse(now, r, end)
		return Continue
	}
	switch s.state {
	case stateForwarded:
	case stateReading, stateRefused:
		s.state = stateReplied // Envoy answers in our place
		return Continue
	case stateClaiming:
		// Envoy answers while the claim is in the air (a timeout, say), or while the
		// request waits.
		s.state = stateReplied
		s.leaveGroup()
		if s.rule != nil {
			s.giveBack(now)
		}
		return Continue
	default:
		return Continue
	}
	s.response.code = CodeCreated
	if s.unprotected {
		s.response.code = CodeUnprotected
	}
	if !r.ViaUpstream() {
		return s.madeByEnvoy(now, r.Trail())
	}
	lines := r.Lines()
	word := s.stripOwn(lines)
	s.response.status, s.response.ttl = uint16(r.Status()), word.ttl
	if _, refused := word.refusal(r.Status()); refused && !word.said && !s.unprotected {
		s.response.code = word.gateway // the client hears it from the one who refused
	}
	switch word.outcome(r.Status(), s.rule.outcome(r.Status())) {
	case rules.OutcomeRelease:
		switch {
		case s.ran && !word.said:
			// The status speaks of the place that it was redirected to.
			return s.hold(now, s.operation(wire.Unknown))
		case s.unprotected:
			return s.notExecuted(now)
		}
		return s.hold(now, s.operation(wire.Release))
	case rules.OutcomeUnknown:
		return s.hold(now, s.operation(wire.Unknown))
	}
	s.w.count(MetricCreated)
	return s.result(now, lines, !word.noStore, end)
}

// madeByEnvoy takes an answer that did not come from upstream.
func (s *Stream) madeByEnvoy(now int64, t Trail) Action {
	k := wire.Unknown
	if t.NeverForwarded() && !s.ran {
		k = wire.Release
	}
	if !s.unprotected {
		s.response.code = CodeOutcomeUnknown
		if k == wire.Release {
			s.response.code = CodeReleased
		}
	}
	if s.unprotected && k == wire.Release {
		return s.notExecuted(now)
	}
	return s.hold(now, s.operation(k))
}

// notExecuted ends an unprotected request that did not run. The answer waits for
// nothing: the store is away.
func (s *Stream) notExecuted(now int64) Action {
	s.freeUnprotected(now)
	return s.passMarked()
}

// freeUnprotected frees the key of an unprotected request that did not run: in the
// local table, and in the store where a try of its claim may have been granted
// without a word.
func (s *Stream) freeUnprotected(now int64) {
	op := s.operation(wire.Release)
	if s.unsure {
		s.settle(now, op)
		return
	}
	s.localSettled(&op)
}

func (s *Stream) passMarked() Action {
	s.mark()
	s.state = statePassing
	return Continue
}

// stripOwn removes the header lines that only this gateway writes and returns
// upstream's word on its answer.
func (s *Stream) stripOwn(lines []wire.HeaderLine) (word upstreamWord) {
	word.grpc = s.grpc
	for _, l := range lines {
		if !strings.HasPrefix(l.Name, "idempo") && l.Name != headerGRPCStatus {
			continue
		}
		word.hear(l)
		if slices.Contains(ownResponseHeaders, l.Name) {
			s.emit(RemoveResponseHeader, l.Name, "")
		}
	}
	return word
}

// stripTrailers removes from upstream's trailers what is removed from its headers.
// Nothing of it is heard: it comes too late for an answer that is told at its headers.
func (s *Stream) stripTrailers(lines []wire.HeaderLine) {
	for _, l := range lines {
		if slices.Contains(ownResponseHeaders, l.Name) {
			s.emit(RemoveResponseTrailer, l.Name, "")
		}
	}
}

// result takes an answer that ends the operation: it is recorded, if store
// allows, and it is held until the store has acknowledged it where the rule
// records before the reply.
func (s *Stream) result(now int64, lines []wire.HeaderLine, store, end bool) Action {
	res := &s.response
	res.keep = store && s.rule.Record.Body && !s.grpc && res.status != 101 && s.capturable(lines)
	if res.keep {
		res.lines = s.recordedLines(lines)
		res.keep = res.lines != nil
	}
	after := s.rule.Record.When == rules.AfterReply
	switch {
	case end && res.keep:
		if after {
			s.settle(now, s.complete())
			return s.passMarked()
		}
		return s.hold(now, s.complete())
	case after:
		s.settle(now, s.executed())
		s.mark()
		s.state = stateStreaming
		return Continue
	case res.keep && s.readsBody():
		s.state = stateCapturing
		return Pause
	}
	return s.hold(now, s.executed())
}

// recordedLines copies the lines that a record keeps; nil: too many.
func (s *Stream) recordedLines(lines []wire.HeaderLine) []wire.HeaderLine {
	out := make([]wire.HeaderLine, 0, len(lines))
	hop := nominated(lines)
	for _, l := range lines {
		if l.Name == HeaderRedacted || s.rule.drop[l.Name] || names(hop, l.Name) {
			continue
		}
		if s.rule.replays(l.Name) || l.Name == "content-length" && s.keepsLength() {
			out = append(out, l)
		}
	}
	return recordable(out)
}

// recordable returns lines, or nil where a replay could not send as many.
func recordable(lines []wire.HeaderLine) []wire.HeaderLine {
	size := 0
	for _, l := range lines {
		size += len(l.Name) + len(l.Value)
	}
	if len(lines) > maxRecordedLines || size > maxRecordedHeaderBytes {
		return nil
	}
	return lines
}

// ResponseBody takes a chunk of the response's body.
func (s *Stream) ResponseBody(now int64, n int, end bool, chunk func() []byte) Action {
	if s.observed != nil {
		s.observeResponseBody(now, n, end, chunk)
		return Continue
	}
	switch s.state {
	case stateCapturing:
		if !s.capture(n, chunk) {
			s.hold(now, s.executed())
			return Hold
		}
		if end {
			s.hold(now, s.complete())
		}
		return Hold
	case stateSettling:
		return Hold
	case stateStreaming:
		if s.response.keep && !s.capture(n, chunk) {
			s.settle(now, s.executed())
		}
		if end {
			if s.response.keep {
				s.settle(now, s.complete())
			}
			s.state = statePassing
		}
	}
	return Continue
}

// ResponseTrailers ends the response's body. A response with trailers is not
// kept: a replay could not send them. lines gives them; it is called at most once,
// and only for an answer of which the headers were taken here.
func (s *Stream) ResponseTrailers(now int64, lines func() []wire.HeaderLine) Action {
	if s.observed != nil {
		s.observeCut(now)
		return Continue
	}
	if s.response.status != 0 {
		s.stripTrailers(lines())
	}
	switch s.state {
	case stateCapturing:
		s.dropCapture()
		s.hold(now, s.executed())
		return Pause
	case stateSettling:
		return Pause
	case stateStreaming:
		if s.response.keep {
			s.dropCapture()
			s.settle(now, s.executed())
		}
		s.state = statePassing
	}
	return Continue
}

// capture adds a chunk to the captured body. false: it does not fit, and the
// capture has been given up.
func (s *Stream) capture(n int, chunk func() []byte) bool {
	if n == 0 {
		return true
	}
	res := &s.response
	full := s.w.captured+n > maxCaptureBytes
	if full {
		s.w.count(MetricOverBudget)
	}
	if full || int64(len(res.body)+n) > s.rule.Record.MaxBody {
		s.w.count(MetricDropped)
		s.dropCapture()
		return false
	}
	c := chunk()
	if res.body == nil {
		res.body = c
	} else {
		res.body = append(res.body, c...)
	}
	s.w.captured += len(c)
	return true
}

func (s *Stream) dropCapture() {
	s.w.captured -= len(s.response.body)
	s.response.body, s.response.lines, s.response.keep = nil, nil, false
}

// complete is the operation that records the captured response.
func (s *Stream) complete() wire.Operation {
	res := &s.response
	if !s.redact() {
		s.w.count(MetricDropped)
		s.dropCapture()
		return s.executed()
	}
	// The worker's memory of the key may keep these bytes for long, so that there
	// are no more of them than it takes.
	size := len(res.body) + 32
	for _, l := range res.lines {
		size += len(l.Name) + len(l.Value) + 12
	}
	kept := wire.Response{Status: res.status, Headers: res.lines, Body: res.body}
	enc, err := wire.AppendResponse(make([]byte, 0, size), &kept)
	if err != nil || CheckResponse(&kept) != nil { // a 205 with a body, say: nobody could replay it
		s.w.count(MetricDropped)
		s.dropCapture()
		return s.executed()
	}
	s.dropCapture()
	op := s.operation(wire.Complete)
	op.Status, op.Result, op.TTLMS = res.status, enc, res.ttl.Milliseconds()
	return op
}

// executed is the operation that records that the answer is known; NoResult
// unless its body is being captured.
func (s *Stream) executed() wire.Operation {
	op := s.operation(wire.Executed)
	op.Status, op.NoResult, op.TTLMS = s.response.status, !s.response.keep, s.response.ttl.Milliseconds()
	return op
}

func (s *Stream) settle(now int64, op wire.Operation) {
	s.w.settle(now, s, op, false)
	s.w.pump(now)
	s.w.schedule()
}

// hold keeps the response until the store has acknowledged op, or the timeout
// has passed. That of an unprotected request does not wait for a bridge that is
// known to be away.
func (s *Stream) hold(now int64, op wire.Operation) Action {
	s.state = stateSettling
	s.w.settle(now, s, op, true)
	if t := s.settling; t != nil && s.unprotected && s.w.b.breaker.open {
		s.w.tell(now, t, nil)
	}
	s.w.pump(now)
	s.w.schedule()
	return Pause
}

// settled lets a held response go. r nil: no acknowledgement came in time; the
// operation is repeated without the stream.
func (s *Stream) settled(now int64, t *task, r *wire.Result) {
	if s.state != stateSettling {
		return
	}
	s.mark()
	switch {
	case r == nil || r.Code == wire.Invalid:
		s.w.count(MetricUnconfirmed)
		s.emit(SetResponseHeader, HeaderRecorded, "pending")
	case r.Code == wire.Stale:
		s.emit(SetResponseHeader, HeaderRecorded, "superseded")
	}
	s.state = statePassing
	if t.op.Kind == wire.Executed && s.response.keep {
		s.state = stateStreaming
	}
	s.emit(ResumeResponse, "", "")
}

// cutWhileStreaming takes the end of a stream whose response passed, or was about
// to, and whose end was not seen: it has been executed, and its body is lost.
func (s *Stream) cutWhileStreaming(now int64) {
	if s.response.keep {
		s.dropCapture()
		s.settle(now, s.executed())
	}
}
