package filter

import (
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
	e := s.w.local.find(s.record)
	if e == nil || e.told {
		return false
	}
	if over := e.state != localDone && s.w.local.shared.Clock() >= e.lease; over {
		if s.takesOver() {
			return false // the bridge decides, and gives a fence
		}
		e.state = localUnknown
	}
	s.answerLocal(e)
	return true
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
	there, granted := l.claim(s.record, s.owner, s.fingerprint, s.rule.Recovery.Lease, s.rule.Completed.TTL, s.takesOver())
	switch {
	case granted:
		s.local = true
		s.w.count(MetricLocalClaimed)
		return true
	case there != nil:
		s.answerLocal(there)
	default:
		s.w.count(MetricLocalFull)
		s.reply(problemUnavailable, extra{retryAfterMS: 1000})
	}
	return false
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
	s.w.local.update(s.record, s.owner, func(e *localEntry) bool {
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

// localTold notes that the bridge knows the outcome of a local claim.
func (w *Worker) localTold(t *task) {
	if w.local == nil || !t.op.Unprotected || t.rule.Unavailable != rules.UnavailableLocal {
		return
	}
	id := makeRecordID(t.op.Scope, t.op.Principal, t.op.Key)
	w.local.update(id, t.op.Owner, func(e *localEntry) bool {
		e.told = true
		return true
	})
}
