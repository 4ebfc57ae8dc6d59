package filter

import (
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// An internal redirect (a route's internal_redirect_policy) ends the stream whose
// request upstream has answered with 3xx and begins another one for the place
// that the answer names, with the same request headers. To the client it is one
// request. The claim goes with it: the stream that ends leaves it under a token
// that only Envoy carries on, in filter state that outlives the stream, and the
// stream that continues takes it up, whatever its path and rule are now. Neither
// a client nor upstream sees the token.

// tokenOf names a claim that waits for the stream that continues it.
func tokenOf(s *Stream) string { return string(s.owner) }

// handOn leaves the claim of a stream that Envoy continues.
func (s *Stream) handOn(now int64) {
	s.state, s.ran, s.handedAt = stateHanded, true, now
	if s.w.handed == nil {
		s.w.handed = map[string]*Stream{}
	}
	token := tokenOf(s)
	s.w.handed[token] = s
	s.w.emit(Effect{Kind: HandOn, Stream: s, Value: token})
	s.w.schedule()
}

// Handed reports whether a claim waits for the stream that continues it.
func (w *Worker) Handed() bool { return len(w.handed) > 0 }

// Continue makes the stream id the one that continues the claim left under a
// token; nil: there is none. The request goes on, unless its lease no longer
// covers what upstream may take. body: the request has one.
func (w *Worker) Continue(now int64, id uint32, token string) (*Stream, Action) {
	s := w.handed[token]
	if s == nil {
		return nil, Continue
	}
	delete(w.handed, token)
	s.ID = id
	if !s.unprotected && s.lease-now < int64(s.rule.needs) {
		w.settle(now, s, s.operation(wire.Unknown), false)
		w.pump(now)
		s.reply(problemOutcomeUnknown, w.untilLease(now, 1000))
		return s, Pause
	}
	if s.rule.EnvoyRetries == rules.RetriesOff {
		s.emit(SetRequestHeader, headerMaxRetries, "0")
	}
	s.emit(SetRequestHeader, headerUpstreamTimeout, s.rule.timeout)
	s.state = stateForwarded
	w.schedule()
	return s, Continue
}

// Abandon takes the end of a stream that was to continue a claim and never
// reached the filter: something before it has answered.
func (w *Worker) Abandon(now int64, token string) {
	if s := w.handed[token]; s != nil {
		w.abandon(now, s)
		w.pump(now)
		w.schedule()
	}
}

func (w *Worker) abandon(now int64, s *Stream) {
	delete(w.handed, tokenOf(s))
	s.state, s.alive = stateDone, false
	s.gone()
	w.settle(now, s, s.operation(wire.Unknown), false)
}

// abandonHanded gives up claims that nothing has continued for as long as their
// lease lasted without news.
func (w *Worker) abandonHanded(now int64) {
	for _, s := range w.handed {
		if s.handedAt+int64(s.rule.Recovery.Lease) <= now {
			w.abandon(now, s)
		}
	}
}
