package filter

import (
	"encoding/binary"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// observation is what is known of a stream that is only observed. The stream is
// in [statePassing] all the time: nothing of it is held, set or removed. What
// identifies the request is read as it passes, then a claim is sent, and the
// claim's last word follows when both its answer and the request's outcome are
// known, in whichever order they come: a last word never overtakes its claim.
type observation struct {
	phase observing
	// word is the latest word on the request's outcome; 0: none yet.
	word wire.Kind
	// code is what an enforcing rule would have told the client of that outcome.
	code Code
	told bool
}

// observing is where an observation stands.
type observing uint8

const (
	observeOver    observing = iota // there is no claim, or it is somebody else's
	observeReading                  // the request's body is passing
	observeAsking                   // the claim is in the air
	observeOwning                   // the claim is granted
	observeUnsure                   // the claim was not answered, and may have been granted
)

// picks reports whether a rule's share of enforced keys holds a record.
func (rule *Rule) picks(id recordID) bool {
	return binary.BigEndian.Uint64(id[:8])%100 < uint64(rule.EnforcePercent)
}

// observeHeaders decides whether a stream whose rule observes is only observed,
// and begins to observe it. false: its key is enforced, or may turn out to be
// when the body is here (s.undecided).
func (s *Stream) observeHeaders(now int64, r Request, end bool) bool {
	if s.rule == s.w.ambiguousObserved {
		s.observe(observeOver)
		s.observed.tell(s, CodeKeyInvalid)
		return true
	}
	p, ok := principalOf(s.rule, r)
	if !ok {
		return s.lets(problemPrincipalMissing.code)
	}
	s.principal = p
	if x := s.keyFromHeaders(r); x != nil {
		return s.lets(x.problem.code)
	}
	switch {
	case s.key == "" && !s.keyInBody():
		return s.lets(s.keyless())
	case s.key == "" && s.rule.EnforcePercent > 0:
		s.undecided = true
		return false
	case s.key != "" && s.rule.picks(makeRecordID(s.rule.Scope, s.principal, s.key)):
		return false
	}
	s.fingerprint = s.w.headerFingerprint(s.method, s.path)
	if names := s.rule.Fingerprint.Headers; len(names) > 0 {
		s.headers = headersDigest(names, r)
	}
	s.readContent(r)
	s.observe(observeReading)
	f := &s.rule.Fingerprint
	switch {
	case s.content.beside:
		s.observed.give(s, CodeTooLarge)
	case end, s.key != "" && f.Body == rules.BodyNone:
		s.observeComplete(now)
	case s.content.length > f.MaxBody && !s.passesLong():
		s.observed.give(s, CodeTooLarge)
	case s.content.length > f.MaxBody && f.Over != rules.OverPrefix:
		s.content.long = true
		s.observeComplete(now)
	}
	return true
}

func (s *Stream) observe(phase observing) {
	s.w.count(MetricObserved)
	s.state, s.undecided, s.later = statePassing, false, nil
	s.observed = &observation{phase: phase}
}

// lets lets a request pass that would get code from an enforcing rule.
func (s *Stream) lets(code Code) bool {
	s.observe(observeOver)
	s.observed.give(s, code)
	return true
}

// keyless is what becomes of a request without a key.
func (s *Stream) keyless() Code {
	if s.rule.Key.Required {
		return CodeKeyMissing
	}
	return CodeNoKey
}

// turnAway answers a request whose body is held with a refusal, unless its rule
// enforces some keys only: which one this is cannot be known any more.
func (s *Stream) turnAway(p *problem, x extra, paused Action) Action {
	if s.undecided {
		s.lets(p.code)
		return Continue
	}
	s.reply(p, x)
	return discardOf(paused)
}

// decided takes the key of a held request of a rule that enforces some keys. It
// reports whether this one is enforced.
func (s *Stream) decided(now int64) bool {
	if !s.rule.picks(s.record) {
		s.observe(observeReading)
		s.observeClaim(now)
		return false
	}
	for _, name := range s.later {
		s.emit(RemoveRequestHeader, name, "")
	}
	s.undecided, s.later = false, nil
	return true
}

// observeBody takes a chunk of the request's body that passes.
func (s *Stream) observeBody(now int64, n int, end bool, chunk func() []byte) {
	if s.observed.phase != observeReading {
		return
	}
	room := s.rule.Fingerprint.MaxBody - int64(len(s.body))
	long := int64(n) > room
	if long && !s.passesLong() {
		s.observed.give(s, CodeTooLarge)
		return
	}
	if n = int(min(int64(n), room)); n > 0 {
		if s.w.read+n > maxReadBytes {
			s.w.count(MetricOverBudget)
			s.observed.give(s, CodeUnavailable)
			return
		}
		s.w.read += n
		s.held += n
		s.body = append(s.body, chunk()[:n]...)
	}
	if end || long {
		s.content.long = long
		s.observeComplete(now)
	}
}

// observeTrailers takes the end of the request's body.
func (s *Stream) observeTrailers(now int64) {
	if s.observed.phase == observeReading {
		s.observeComplete(now)
	}
}

// observeComplete goes on once all that identifies the request is known.
func (s *Stream) observeComplete(now int64) {
	if s.key == "" {
		if x := s.keyFromBody(); x != nil {
			s.observed.give(s, x.problem.code)
			return
		}
		if s.key == "" {
			s.observed.give(s, s.keyless())
			return
		}
	}
	s.completeFingerprint()
	s.record = makeRecordID(s.rule.Scope, s.principal, s.key)
	s.observeClaim(now)
}

// observeClaim claims, unless the key is known to be finished.
func (s *Stream) observeClaim(now int64) {
	s.dropBody()
	if e := s.w.done.get(now, s.record, s.rule); e.speaksOf(s.fingerprint) {
		s.tallyFinished(now, e)
		s.observed.give(s, s.finishedCode(e))
		return
	}
	s.owner = s.w.nextOwner()
	s.observed.phase = observeAsking
	s.claim(now)
}

// finishedCode is what a repeat of a finished key is told.
func (s *Stream) finishedCode(e *entry) Code {
	switch {
	case s.reuses(e):
		return CodeKeyReused
	case e.code == wire.KeyUsed || s.rule.Completed.Action == rules.Reject:
		return CodeKeyUsed
	case e.code == wire.Replayed && !s.grpc:
		return CodeReplayed
	}
	return CodeResponseNotKept
}

// observedAs are the decisions that the bridge's answers to a claim come to, and
// whether the claim may have been granted all the same.
var observedAs = map[wire.Code]struct {
	code   Code
	unsure bool
}{
	wire.InFlight:       {CodeInFlight, false},
	wire.OutcomeUnknown: {CodeOutcomeUnknown, false},
	wire.KeyReused:      {CodeKeyReused, false},
	wire.KeyExpired:     {CodeKeyExpired, false},
	wire.KeyNotIssued:   {CodeKeyNotIssued, false},
	wire.KeyForeign:     {CodeKeyForeign, false},
	wire.OverQuota:      {CodeOverQuota, false},
	wire.Lapsed:         {CodeUnavailable, true},
	wire.Stale:          {CodeUnavailable, true},
}

// observeAnswered takes the bridge's answer to the claim whose batch left at
// sent. The stream may have ended.
func (s *Stream) observeAnswered(now int64, r *wire.Result, sent int64) {
	o := s.observed
	if o.phase != observeAsking {
		return
	}
	switch r.Code {
	case wire.Created:
		s.fence, s.since = r.Fence, sent
		s.lease = sent + r.LeaseMS*int64(time.Millisecond)
		o.phase = observeOwning
		s.observeWord(now)
		if s.observes() {
			s.live(now)
		}
	case wire.Replayed, wire.KeyUsed, wire.ResponseNotKept:
		if r.Withheld {
			o.give(s, s.finishedCode(&entry{code: r.Code, fingerprint: s.fingerprint}))
			return
		}
		e, ok := s.entryOf(r, sent)
		if !ok {
			o.give(s, CodeResponseNotKept)
			return
		}
		s.w.done.put(e)
		o.give(s, s.finishedCode(e))
	default:
		as, ok := observedAs[r.Code]
		if !ok {
			as.code = CodeMisconfigured
		}
		switch {
		case as.unsure, s.unsure && (!ok || r.Code == wire.OverQuota):
			// In the second case an earlier try may have been granted, by another bridge
			// or before the quota was used up.
			s.observeLost(now, as.code)
		default:
			o.give(s, as.code)
		}
	}
}

// observeUnanswered takes a claim that got no answer in time. sent says that the
// store may have seen it.
func (s *Stream) observeUnanswered(now int64, sent bool) {
	switch {
	case s.observed.phase != observeAsking:
	case sent:
		s.observeLost(now, CodeUnavailable)
	default:
		s.observed.give(s, CodeUnavailable)
	}
}

// observeLost goes on with a claim of which it is not known whether it was
// granted. The request has gone upstream, so its outcome is told as that of one
// that was forwarded while the store was away. An enforcing rule would have answered
// code.
func (s *Stream) observeLost(now int64, code Code) {
	s.observed.phase = observeUnsure
	s.observed.tell(s, code)
	s.observeWord(now)
}

// observeResponse takes the headers of the answer.
func (s *Stream) observeResponse(now int64, r Response, end bool) {
	o := s.observed
	if o.phase == observeOver {
		return
	}
	if !r.ViaUpstream() {
		if r.Trail().NeverForwarded() {
			s.observeOutcome(now, wire.Release, CodeReleased)
			return
		}
		s.observeOutcome(now, wire.Unknown, CodeOutcomeUnknown)
		return
	}
	word := upstreamWord{grpc: s.grpc}
	lines := r.Lines()
	for _, l := range lines {
		word.hear(l)
	}
	res := &s.response
	res.status, res.ttl = uint16(r.Status()), word.ttl
	switch word.outcome(r.Status(), s.rule.outcome(r.Status())) {
	case rules.OutcomeRelease:
		s.observeOutcome(now, wire.Release, CodeCreated)
		return
	case rules.OutcomeUnknown:
		s.observeOutcome(now, wire.Unknown, CodeCreated)
		return
	}
	res.keep = !word.noStore && s.rule.Record.Body && !s.grpc && res.status != 101 && s.capturable(lines)
	if res.keep {
		res.lines = s.recordedLines(lines)
		res.keep = res.lines != nil
	}
	if end && res.keep {
		s.observeOutcome(now, wire.Complete, CodeCreated)
		return
	}
	s.observeOutcome(now, wire.Executed, CodeCreated)
}

// observeResponseBody takes a chunk of the answer's body that passes.
func (s *Stream) observeResponseBody(now int64, n int, end bool, chunk func() []byte) {
	switch {
	case !s.response.keep:
	case !s.capture(n, chunk):
		s.observeOutcome(now, wire.Executed, CodeCreated)
	case end:
		s.observeOutcome(now, wire.Complete, CodeCreated)
	}
}

// observeCut takes the end of an answer that is being captured, and whose body
// cannot be kept: it had trailers, or broke off.
func (s *Stream) observeCut(now int64) {
	if s.response.keep {
		s.dropCapture()
		s.observeOutcome(now, wire.Executed, CodeCreated)
	}
}

// observeDone takes the stream's end.
func (s *Stream) observeDone(now int64, trail func() Trail) {
	o := s.observed
	switch {
	case o.phase == observeReading:
		o.give(s, CodeGone)
	case o.phase == observeOver, o.word == wire.Complete:
	case o.word != 0:
		s.observeCut(now)
	case trail().NeverForwarded():
		s.observeOutcome(now, wire.Release, CodeGone)
	default:
		s.observeOutcome(now, wire.Unknown, CodeGone)
	}
	s.dropBody()
}

// observeAborted takes the loss of a stream that goes on without the worker. A claim
// in the air waits for its lease: no word may overtake it, and none follows later.
func (s *Stream) observeAborted(now int64) {
	o := s.observed
	switch {
	case o.phase != observeOwning, o.word == wire.Complete:
	case o.word != 0:
		s.observeCut(now)
	default:
		s.observeOutcome(now, wire.Unknown, CodeMisconfigured)
	}
	o.phase = observeOver
}

// observeOutcome takes a word on the outcome, and what an enforcing rule would
// have said of it.
func (s *Stream) observeOutcome(now int64, word wire.Kind, code Code) {
	s.observed.word, s.observed.code = word, code
	s.observeWord(now)
}

// observeWord sends the latest word, if there is one and its claim has been
// answered. Until then a captured answer counts as the worker's.
func (s *Stream) observeWord(now int64) {
	o := s.observed
	if o.word == 0 {
		return
	}
	switch o.phase {
	case observeOwning:
	case observeUnsure:
		// A release leaves a mark, so that a late claim of this owner wins nothing.
		s.unprotected = o.word != wire.Release
	case observeOver:
		s.dropCapture()
		return
	default:
		return
	}
	o.tell(s, o.code)
	switch o.word {
	case wire.Complete:
		s.settle(now, s.complete())
	case wire.Executed:
		s.settle(now, s.executed())
	default:
		s.settle(now, s.operation(o.word))
	}
}

// observes reports whether an observed stream has a claim whose last word is
// still to come.
func (s *Stream) observes() bool {
	o := s.observed
	return o != nil && o.phase == observeOwning && s.state != stateDone &&
		(o.word == 0 || o.word == wire.Executed && s.response.keep)
}

// Observed reports whether the stream is only observed: whatever happens here, it
// is to be let alone. That of a rule which enforces nothing is, before it is known
// what identifies it.
func (s *Stream) Observed() bool {
	return s.observed != nil || s.rule != nil && s.rule.Observes() && !s.rule.Enforces()
}

// unread is what becomes of a chunk for which there is no room.
func (s *Stream) unread() Action {
	if s.observed != nil {
		return Continue
	}
	return Discard
}
