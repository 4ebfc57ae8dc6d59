package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// A request that ran unprotected while the store was away, under `unavailable:
// forward`, is completed when the bridge is back. Until then the store knows nothing
// of its key, and a claim that came first would be granted: in the worker that owes
// the completion, claims of the key go behind it.

// owe notes that an operation has to be acknowledged before claims of its key are
// sent. old is the operation of the same owner in whose place it comes; nil: none.
//
// Where requests of several owners ran, one of their operations is enough for the
// store to refuse a claim, or to answer it: the one that says most.
func (w *Worker) owe(t, old *task) {
	owes := t.op.Unprotected && t.rule.Unavailable == rules.UnavailableForward
	if !owes && len(w.owed) == 0 {
		return
	}
	id := t.record()
	first := w.owed[id]
	switch {
	case first == nil && owes:
		w.owed[id] = t
	case first != nil && (first == old || owes && t.says() > first.says()):
		w.owed[id], t.leads, first.leads = t, first.leads, false
		for _, claim := range w.followers {
			if claim.behind == first {
				claim.behind = t
			}
		}
	}
}

// says ranks operations by what the store knows of a key when it has acknowledged
// them: a release frees it.
func (t *task) says() int {
	switch t.op.Kind {
	case wire.Release:
		return 0
	case wire.Unknown:
		return 1
	}
	return 2
}

// goesBehind reports whether a claim goes behind a completion that is owed, which
// is tried at once. While the bridge is known to be away nothing waits.
func (w *Worker) goesBehind(now int64, s *Stream, claim *task) bool {
	if len(w.owed) == 0 || s.observed != nil || !w.b.breaker.allows(now) {
		return false
	}
	first := w.owed[s.record]
	if first == nil {
		return false
	}
	claim.behind, first.leads = first, true
	w.followers = append(w.followers, claim)
	first.due = now
	w.resumeWaiting(now)
	return true
}

// leads lets the claims behind an operation go: to the store once it is acknowledged,
// else the way of claims that the store did not answer.
func (w *Worker) leads(now int64, first *task, acknowledged bool) {
	if !first.leads {
		return
	}
	first.leads = false
	w.release(now, acknowledged, func(claim *task) bool { return claim.behind == first })
}

// expireFollowers fails the claims whose budget is used up before the operation in
// front of them has had its try.
func (w *Worker) expireFollowers(now int64) {
	w.release(now, false, func(claim *task) bool { return time.Duration(claim.deadline-now) < minTry })
}

func (w *Worker) release(now int64, acknowledged bool, goes func(*task) bool) {
	if len(w.followers) == 0 {
		return
	}
	var free []*task
	kept := w.followers[:0]
	for _, claim := range w.followers {
		if goes(claim) {
			free = append(free, claim)
		} else {
			kept = append(kept, claim)
		}
	}
	clear(w.followers[len(kept):])
	w.followers = kept
	for _, claim := range free {
		claim.behind = nil
		if acknowledged {
			w.enqueue(now, claim)
		} else {
			claim.tries = max(claim.tries, 1)
			w.failed(now, claim)
		}
	}
}

// record names the record of a task.
func (t *task) record() recordID { return makeRecordID(t.op.Scope, t.op.Principal, t.op.Key) }
