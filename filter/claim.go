package filter

import (
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// What becomes of a request by what the bridge says of its claim.

func (s *Stream) operation(k wire.Kind) wire.Operation {
	return wire.Operation{Kind: k, Scope: s.rule.Scope, Principal: s.principal, Key: s.key,
		Owner: s.owner, Fence: s.fence, Fingerprint: s.fingerprint, Unprotected: s.unprotected, Trace: s.traceFor(k)}
}

func (s *Stream) claim(now int64) {
	op := s.operation(wire.Claim)
	op.Fetch, op.Retried, op.Again = s.fetches > 0, s.retried, s.told
	t := &task{op: op, rule: s.rule, stream: s, deadline: now + int64(s.w.cfg.Bridge.Timeout)}
	t.measure()
	if !s.w.goesBehind(now, s, t) {
		s.w.enqueue(now, t)
	}
	s.w.pump(now)
	s.w.schedule()
}

// claimAnswered takes the bridge's answer to the claim whose batch left at
// sent.
func (s *Stream) claimAnswered(now int64, r *wire.Result, sent int64) {
	if s.observed != nil {
		s.observeAnswered(now, r, sent)
		return
	}
	if s.state != stateClaiming {
		return // the stream ended; its release is on its way
	}
	defer s.led(now)
	switch r.Code {
	case wire.Created:
		s.granted(now, r, sent)
	case wire.Replayed, wire.KeyUsed, wire.ResponseNotKept:
		if r.Withheld {
			s.fetch(now)
			return
		}
		s.finished(now, r, sent)
	case wire.InFlight:
		s.inFlight(now, r)
	case wire.OutcomeUnknown:
		s.reply(problemOutcomeUnknown, s.w.untilLease(now, r.RetryAfterMS))
	case wire.KeyReused:
		s.reply(problemKeyReused, extra{parts: r.Differs})
	case wire.KeyExpired:
		s.reply(problemKeyExpired, extra{})
	case wire.KeyNotIssued:
		s.reply(problemKeyNotIssued, extra{})
	case wire.KeyForeign:
		s.reply(problemKeyForeign, extra{})
	case wire.Lapsed:
		s.giveBack(now)
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
	case wire.Stale:
		// Its first try was granted and given back: too few replicas held it.
		s.away(now, true)
	default:
		// An earlier try may have been granted, by another bridge or before the
		// quota was used up.
		if s.unsure {
			s.giveBack(now)
		}
		s.refused(r)
	}
}

// maxFetches bounds how often the result of one finished key is asked for.
const maxFetches = 16

// fetch asks for a result that the bridge withheld because it is large. The key
// is known to be finished: whatever becomes of the store meanwhile, the request
// is not forwarded.
func (s *Stream) fetch(now int64) {
	if s.fetches++; s.fetches > maxFetches {
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		return
	}
	s.claim(now)
}

// granted forwards the request, if the lease still covers what upstream may
// take.
func (s *Stream) granted(now int64, r *wire.Result, sent int64) {
	s.fence, s.since = r.Fence, sent
	s.lease = sent + r.LeaseMS*int64(time.Millisecond)
	if s.localKnown() { // let through meanwhile by a worker for which the store is away
		s.giveBack(now)
		return
	}
	if time.Duration(s.lease-now) < s.rule.needs {
		s.giveBack(now)
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		return
	}
	if r.Attempt > 1 {
		s.w.count(MetricTakeover)
	}
	s.emit(SetRequestHeader, HeaderFence, strconv.FormatUint(r.Fence, 10))
	s.emit(SetRequestHeader, HeaderAttempt, strconv.FormatUint(uint64(r.Attempt), 10))
	if s.w.gatewayKey != nil {
		s.emit(SetRequestHeader, HeaderProof, s.prove(r.Fence))
	}
	s.forward()
	s.live(now)
}

// forward sends the paused request on.
func (s *Stream) forward() {
	s.emit(SetRequestHeader, HeaderGateway, s.w.cfg.Namespace)
	if s.rule.EnvoyRetries == rules.RetriesOff {
		s.emit(SetRequestHeader, headerMaxRetries, "0")
	}
	s.emit(SetRequestHeader, headerUpstreamTimeout, s.rule.timeout)
	s.state = stateForwarded
	s.emit(ResumeRequest, "", "")
}

// unavailable takes a claim, issue or renew that got no answer in time.
func (s *Stream) unavailable(now int64, t *task) {
	if s.observed != nil {
		if t.op.Kind == wire.Claim {
			s.observeUnanswered(now, t.sent)
		}
		return
	}
	if t.op.Kind == wire.Renew || s.state != stateClaiming {
		return
	}
	defer s.led(now)
	if s.rule == nil || s.fetches > 0 {
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		return
	}
	if !s.stay(now) {
		s.away(now, t.sent)
	}
}

// away does what the rule says of a claim that the store did not grant or
// refuse. asked says that the store may have seen the claim.
func (s *Stream) away(now int64, asked bool) {
	switch s.rule.Unavailable {
	case rules.UnavailableLocal:
		if !s.claimLocally() {
			if asked {
				s.giveBack(now)
			}
			return
		}
		fallthrough
	case rules.UnavailableForward:
		s.unprotected = true
		s.w.count(MetricUnprotected)
		s.emit(SetRequestHeader, HeaderStatus, string(CodeUnprotected))
		s.forward()
		return
	}
	if asked {
		s.giveBack(now)
	}
	s.reply(problemUnavailable, extra{retryAfterMS: 1000})
}

// giveBack releases what a claim may have been granted.
func (s *Stream) giveBack(now int64) {
	s.w.settle(now, s, s.operation(wire.Release), false)
	s.w.pump(now)
	s.w.schedule()
}
