package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// state is where a stream stands.
type state uint8

const (
	stateNew       state = iota
	statePassing         // nothing more to do with it
	stateReading         // the request's body is coming
	stateRefused         // reading on, to answer when the body is here
	stateClaiming        // a claim or issue is in the air; the request is paused
	stateForwarded       // upstream may have it; no response headers yet
	stateCapturing       // response held while its body is captured
	stateSettling        // response held until the store has acknowledged
	stateStreaming       // response passes; its end is still to be told
	stateReplied         // answered here
	stateHanded          // its claim waits for the stream that continues it
	stateDone
)

// maxDiscard bounds the body that is read before a refusal is sent. Answering
// before the body has arrived makes Envoy close an HTTP/1.1 connection; above
// this bound that is cheaper than reading on.
const maxDiscard = 64 << 10

// Stream is one covered request.
type Stream struct {
	// ID is the stream's context id.
	ID uint32

	w      *Worker
	rule   *Rule // nil: the request asks for a key
	state  state
	method string
	path   string
	trace  string // traceparent of a sampled request
	// retried says that a proxy in front sends the request again.
	retried bool

	principal   string
	key         string
	record      recordID
	fingerprint []byte
	headers     [wire.DigestBytes]byte // of the headers that the fingerprint includes
	pending     *pendingKey            // of key sources from one in the body on
	lookup      *Rule                  // whose keys a request asks about
	candidates  []candidate            // rules for which a key may be issued
	content     content
	observed    *observation // the request is only observed
	undecided   bool         // whether it is depends on a key in its body
	later       []string     // request headers to remove if it is not
	body        []byte       // request body read so far
	held        int          // of the worker's budget for request bodies
	discarded   int
	refusal     *LocalReply

	owner       []byte
	fence       uint64
	since       int64 // when the granted claim was sent
	lease       int64 // end of the lease as the filter trusts it
	renewAt     int64
	waitUntil   int64
	patience    time.Duration // how long it waits for a concurrent request
	prefers     bool          // patience is the client's word
	waiting     bool
	told        bool       // a concurrent request was seen; lease is that one's until a grant
	lost        bool       // its latest claim got no answer
	unsure      bool       // the effect of a try of its claims is not known
	group       *waitGroup // that it waits in
	leads       *waitGroup // that it claims for
	grpc        bool       // a gRPC request: Envoy would turn a replay into trailers
	fetches     int        // times that the result of a finished key was asked for
	alive       bool       // in the worker's list of live streams
	unprotected bool
	local       bool  // claimed in the table that the workers share
	settling    *task // the latest settling operation

	response responseState
	own      *ownAnswer // a replay that Envoy has not sent yet
	ran      bool       // upstream answered it by an internal redirect
	handedAt int64      // when it did
	proof    *proof     // what it says of a gateway that it has passed
}

// Open makes the stream of a covered request. rule nil means that the request
// asks for a key.
func (w *Worker) Open(id uint32, rule *Rule, method, path string) *Stream {
	w.count(MetricCovered)
	return &Stream{ID: id, w: w, rule: rule, method: method, path: path}
}

func (s *Stream) emit(k EffectKind, name, value string) {
	s.w.emit(Effect{Kind: k, Stream: s, Name: name, Value: value})
}

// strip removes the headers of a list that the client sent.
func (s *Stream) strip(names []string, r Request) {
	for _, h := range names {
		switch {
		case len(r.Header(h)) == 0:
		case s.undecided:
			s.later = append(s.later, h)
		default:
			s.emit(RemoveRequestHeader, h, "")
		}
	}
}

// readsBody reports whether body callbacks come while the headers are paused.
// They are left alone under a rule for streams.
func (s *Stream) readsBody() bool {
	return s.w.cfg.Envoy.AllowOnHeadersStopIteration && (s.rule == nil || !s.rule.Streaming)
}

// RequestHeaders is the first event of a stream. end: there is no body.
func (s *Stream) RequestHeaders(now int64, r Request, end bool) Action {
	for _, v := range r.Header("content-type") {
		s.grpc = s.grpc || isGRPC(v)
	}
	s.trace, s.retried = traceOf(r), retriedBefore(r)
	end = end || upgrades(r)
	if s.rule != nil && s.rule.Observes() && !s.w.judging && s.observeHeaders(now, r, end) {
		return Continue
	}
	s.readProof(r)
	s.strip(ownRequestHeaders, r)
	if s.rule == nil {
		return s.issueHeaders(now, r, end)
	}
	switch s.rule {
	case s.w.misrouted:
		return s.refuse(problemMisconfigured, extra{}, end, r)
	case s.w.ambiguous, s.w.ambiguousObserved:
		return s.refuse(problemKeyInvalid, extra{reason: ambiguousTarget}, end, r)
	}
	s.strip(timeoutRequestHeaders, r)
	if s.rule.EnvoyRetries == rules.RetriesOff {
		s.strip(retryRequestHeaders, r)
	}
	if p, ok := principalOf(s.rule, r); ok {
		s.principal = p
	} else {
		return s.refuse(problemPrincipalMissing, extra{}, end, r)
	}
	if x := s.keyFromHeaders(r); x != nil {
		return s.refuse(x.problem, x.extra, end, r)
	}
	if s.key == "" && !s.keyInBody() {
		if s.rule.Key.Required {
			return s.refuse(problemKeyMissing, extra{}, end, r)
		}
		s.passes()
		return Continue
	}
	s.readPreference(r)
	s.fingerprint = s.w.headerFingerprint(s.method, s.path)
	if names := s.rule.Fingerprint.Headers; len(names) > 0 {
		s.headers = headersDigest(names, r)
	}
	s.readContent(r)
	if s.content.beside {
		return s.turnAway(problemTooLarge, extra{reason: upgradeBody}, Pause)
	}
	if f := &s.rule.Fingerprint; s.readsBody() && s.content.length > f.MaxBody {
		if !s.passesLong() {
			return s.turnAway(problemTooLarge, s.tooLarge(), Pause)
		}
		if f.Over != rules.OverPrefix {
			s.content.long = true
			return s.requestComplete(now, Pause)
		}
	}
	if end || !s.readsBody() {
		return s.requestComplete(now, Pause)
	}
	s.state = stateReading
	return Pause
}

// RequestBody takes a chunk of the request's body; chunk is called at most
// once, and only if the bytes are wanted. n is the chunk's length.
func (s *Stream) RequestBody(now int64, n int, end bool, chunk func() []byte) Action {
	if s.observed != nil {
		s.observeBody(now, n, end, chunk)
		return Continue
	}
	switch s.state {
	case stateReading:
		if room := s.maxBody() - int64(len(s.body)); int64(n) > room {
			if !s.passesLong() {
				return s.turnAway(problemTooLarge, s.tooLarge(), Hold)
			}
			s.content.long = true
			if !s.reads(int(room)) {
				return s.unread()
			}
			s.body = append(s.body, chunk()[:room]...)
			return s.requestComplete(now, Hold)
		}
		if n > 0 {
			if !s.reads(n) {
				return s.unread()
			}
			if c := chunk(); s.body == nil && end {
				s.body = c
			} else {
				s.body = append(s.body, c...)
			}
		}
		if end {
			return s.requestComplete(now, Hold)
		}
		return Hold
	case stateRefused:
		if s.discarded += n; end || s.discarded > maxDiscard {
			s.send(s.refusal)
		}
		return Discard
	case stateClaiming:
		return Hold
	case stateReplied:
		return Discard
	}
	return Continue
}

// RequestTrailers ends the request's body.
func (s *Stream) RequestTrailers(now int64) Action {
	if s.observed != nil {
		s.observeTrailers(now)
		return Continue
	}
	switch s.state {
	case stateReading:
		if a := s.requestComplete(now, Pause); a == Continue {
			return Continue
		}
		return Pause
	case stateRefused:
		s.send(s.refusal)
		return Pause
	case stateClaiming, stateReplied:
		return Pause
	}
	return Continue
}

// requestComplete goes on once all that identifies the request is here: from
// memory if the key is known to be finished, else by a claim. paused is what
// the callback returns while the stream waits.
func (s *Stream) requestComplete(now int64, paused Action) Action {
	if s.rule == nil {
		return s.issueComplete(now, paused)
	}
	if s.key == "" {
		x := s.keyFromBody()
		if x != nil {
			return s.turnAway(x.problem, x.extra, paused)
		}
		if s.key == "" {
			if s.rule.Key.Required {
				return s.turnAway(problemKeyMissing, extra{}, paused)
			}
			s.dropBody()
			s.passes()
			return Continue
		}
	}
	s.completeFingerprint()
	s.record = makeRecordID(s.rule.Scope, s.principal, s.key)
	if s.undecided && !s.decided(now) {
		return Continue
	}
	if e := s.w.done.get(now, s.record, s.rule); e.speaksOf(s.fingerprint) {
		s.w.count(MetricReplayedLocally)
		s.tallyFinished(now, e)
		s.answerFinished(now, e)
		return discardOf(paused)
	}
	if s.comesBack(now) {
		s.passBack()
		return Continue
	}
	if s.localKnown() {
		return discardOf(paused)
	}
	s.owner = s.w.nextOwner()
	s.waitUntil = now + int64(s.patience)
	if s.joins(now) {
		return paused
	}
	s.state = stateClaiming
	s.claim(now)
	return paused
}

// discardOf is what a callback returns once the reply is on its way: the body
// that it was given is of no more use.
func discardOf(paused Action) Action {
	if paused == Hold {
		return Discard
	}
	return paused
}

// refuse answers with a problem as soon as the body is here, so that an
// HTTP/1.1 connection is kept; at once where there is none, or where it is not
// worth reading.
func (s *Stream) refuse(p *problem, x extra, end bool, r Request) Action {
	n, ok := contentLength(r)
	if end || !s.readsBody() || ok && n > maxDiscard {
		s.reply(p, x)
		return Pause
	}
	s.w.count(p.metric)
	s.refusal = s.problemReply(p, x)
	s.state = stateRefused
	return Pause
}

// reply answers the request here and now.
func (s *Stream) reply(p *problem, x extra) {
	s.w.count(p.metric)
	s.send(s.problemReply(p, x))
}

func (s *Stream) send(r *LocalReply) {
	s.state = stateReplied
	s.refusal = nil
	s.dropBody()
	r.Headers = s.preferenceApplied(r.Headers)
	s.answeredHere(r)
	s.w.emit(Effect{Kind: Reply, Stream: s, Reply: r})
}

// maxBody is the largest request body that is read.
func (s *Stream) maxBody() int64 {
	if s.rule == nil {
		return maxIssueBody
	}
	return s.rule.Fingerprint.MaxBody
}

// Done is the stream's last event: how far it got, and whether it ended before
// its answer was complete is known from its state.
func (s *Stream) Done(now int64, trail func() Trail) {
	if s.state == stateForwarded && s.observed == nil && trail().Redirected {
		s.handOn(now)
		return
	}
	was := s.state
	s.state = stateDone
	idle := s.waiting && !s.unsure // it waits, and none of its claims can be granted
	s.alive = false
	s.leaveGroup()
	w := s.w
	if s.observed != nil {
		s.observeDone(now, trail)
	}
	switch was {
	case stateReading, stateRefused, stateClaiming, stateForwarded, stateCapturing, stateSettling:
		s.gone()
	}
	if s.rule != nil {
		switch was {
		case stateClaiming:
			// Nothing was sent upstream.
			if !idle {
				w.settle(now, s, s.operation(wire.Release), false)
			}
		case stateForwarded:
			switch never := trail().NeverForwarded() && !s.ran; {
			case never && s.unprotected:
				s.freeUnprotected(now)
			case never:
				w.settle(now, s, s.operation(wire.Release), false)
			default:
				w.settle(now, s, s.operation(wire.Unknown), false)
			}
		case stateCapturing:
			// The answer was cut: whether it was executed to the end is not known.
			w.settle(now, s, s.operation(wire.Unknown), false)
		case stateStreaming, stateSettling:
			s.cutWhileStreaming(now)
		}
	}
	if s.observed == nil {
		s.dropCapture()
	}
	s.dropBody()
	s.led(now)
	w.pump(now)
	w.schedule()
}

// Waiting reports whether the stream is paused, or will be answered here.
func (s *Stream) Waiting() bool {
	switch s.state {
	case stateReading, stateRefused, stateClaiming, stateCapturing, stateSettling:
		return true
	}
	return false
}

// Answered reports whether the stream was answered here: its response is our
// own, and no event of it changes anything.
func (s *Stream) Answered() bool { return s.state == stateReplied }
