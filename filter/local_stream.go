package filter

import (
	"slices"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// localKnown answers a request whose key was claimed in the local table and of
// whose outcome the bridge does not know yet: a claim there could be granted
// before the completion arrives. It reports whether it has answered.
func (s *Stream) localKnown() bool {
	if s.w.local == nil || s.rule.Unavailable != rules.UnavailableLocal {
		return false
	}
	for _, id := range localRecords(s.rule, s.principal, s.key) {
		e := s.w.local.find(id)
		if e == nil || e.told {
			continue
		}
		if over := e.state != localDone && s.w.local.shared.Clock() >= e.lease; over {
			if s.takesOver() {
				continue // the bridge decides, and gives a fence
			}
			e.state = localUnknown
		}
		s.answerLocal(e)
		return true
	}
	return false
}

// localRecords are the names that a key has in the table: one under each scope
// that the rule's keys had, the oldest first, and its own last. A claim holds all
// of them, as workers of an earlier configuration look under an earlier one alone.
func localRecords(r *Rule, principal, key string) []recordID {
	ids := make([]recordID, 0, 1+len(r.PreviousScopes))
	for _, scope := range slices.Backward(r.PreviousScopes) {
		ids = append(ids, makeRecordID(scope, principal, key))
	}
	return append(ids, makeRecordID(r.Scope, principal, key))
}

// takesOver reports whether a claim whose lease has ended without news may be
// granted again.
func (s *Stream) takesOver() bool { return s.rule.Recovery.Action == rules.Reacquire }

// claimLocally claims in the table that the workers share, while the store is
// away. It reports whether the request may be forwarded; if not it is answered.
func (s *Stream) claimLocally() bool {
	l := s.w.local
	if l == nil {
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		return false
	}
	ids := localRecords(s.rule, s.principal, s.key)
	for i, id := range ids {
		there, granted := l.claim(id, s.owner, s.fingerprint, s.rule.Recovery.Lease, s.rule.Completed.TTL, s.takesOver())
		if granted {
			continue
		}
		for _, held := range ids[:i] {
			l.update(held, s.owner, func(*localEntry) bool { return false })
		}
		if there != nil {
			s.answerLocal(there)
			return false
		}
		s.w.count(MetricLocalFull)
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		return false
	}
	s.local = true
	s.w.count(MetricLocalClaimed)
	return true
}

// answerLocal answers a repeat of a key that was claimed locally. Its result is
// in no worker's reach.
func (s *Stream) answerLocal(e *localEntry) {
	s.w.count(MetricLocalRefused)
	switch {
	case e.print.conflicts(printOf(s.fingerprint)):
		s.reply(problemKeyReused, extra{})
	case e.state == localInFlight:
		left := time.Duration(e.lease - s.w.local.shared.Clock())
		s.reply(problemInFlight, extra{retryAfterMS: max(left.Milliseconds(), 1)})
	case e.state == localUnknown:
		s.reply(problemOutcomeUnknown, extra{})
	default:
		s.reply(problemNotKept, extra{status: e.status})
	}
}

// localSettled notes the end of a local claim, for the repeats that come before
// the bridge knows of it.
func (s *Stream) localSettled(op *wire.Operation) {
	if !s.local {
		return
	}
	for _, id := range localRecords(s.rule, s.principal, s.key) {
		s.w.local.update(id, s.owner, func(e *localEntry) bool {
			switch op.Kind {
			case wire.Release:
				return false
			case wire.Unknown:
				e.state = localUnknown
			default:
				e.state, e.status = localDone, op.Status
			}
			return true
		})
	}
}

// localTold notes that the bridge knows the outcome of a local claim.
func (w *Worker) localTold(t *task) {
	if w.local == nil || !t.op.Unprotected || t.rule.Unavailable != rules.UnavailableLocal {
		return
	}
	for _, id := range localRecords(t.rule, t.op.Principal, t.op.Key) {
		w.local.update(id, t.op.Owner, func(e *localEntry) bool {
			e.told = true
			return true
		})
	}
}
