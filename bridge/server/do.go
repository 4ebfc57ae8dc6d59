package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// margin is what is kept of a budget for the way back: 10%, at least 5ms, at
// most half of it.
func margin(budget time.Duration) time.Duration {
	return min(max(budget/10, 5*time.Millisecond), budget/2)
}

// do hands the operations to the store and returns its replies when all are in
// or the batch's deadline is near. It returns nil where the store held none of
// its promises: it did not return in time, panicked, or returned another number
// of replies. settled says that nothing of j is in use by the store any more.
func (s *Server) do(j *job) (replies []store.Reply, settled bool) {
	if len(j.ops) == 0 {
		return nil, true
	}
	budget := j.deadline.Sub(j.arrival)
	keep := margin(budget)
	// The request's own context has no part in this: an operation that is on its
	// way takes effect whether or not the filter still listens.
	ctx, cancel := context.WithDeadline(context.Background(), j.deadline.Add(-keep))
	defer cancel()

	s.metrics.storeBatches.Inc()
	s.calls.Add(1)
	type answered struct {
		replies []store.Reply
		walks   []*walk
	}
	done := make(chan answered, 1)
	go func() {
		var a answered
		// The call is over before it is answered: who has the answer may end the
		// server, which then asks whether the store may be closed.
		defer func() {
			if v := recover(); v != nil {
				s.cfg.Log.Error("store panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			}
			s.calls.Add(-1)
			done <- a
		}()
		a.replies, a.walks = s.follow(ctx, j)
	}()
	// The store returns at ctx's end, with what it has by then. Most of the margin
	// is its to do so on a busy machine; after that the batch is answered without
	// it.
	late := time.NewTimer(time.Until(j.deadline.Add(-keep / 4)))
	defer late.Stop()
	select {
	case a := <-done:
		replies = a.replies
		for _, w := range a.walks {
			j.ops[w.index] = w.op
		}
		s.moves.count(j, a.walks, replies)
	case <-late.C:
		s.health.failed(fmt.Errorf("%w: no return %s after the deadline", store.ErrUnavailable, keep-keep/4))
		return nil, false
	}
	if len(replies) != len(j.ops) {
		s.health.failed(fmt.Errorf("%w: %d replies to %d operations", store.ErrUnavailable, len(replies), len(j.ops)))
		return nil, false
	}
	// An operation without an answer may still be queued inside the store.
	settled = true
	var failure error
	for i := range replies {
		if replies[i].Err == nil && replies[i].Code == 0 {
			replies[i] = store.Reply{Err: fmt.Errorf("%w: a reply without a code", store.ErrUnavailable)}
		}
		if replies[i].Err != nil {
			settled, failure = false, replies[i].Err
		}
	}
	if failure != nil {
		s.health.failed(failure)
	} else {
		s.health.answered()
	}
	return replies, settled
}

// finish fills the results of the operations that went to the store and counts
// the outcome of all.
func (s *Server) finish(j *job, replies []store.Reply) {
	room := maxAnswerBytes
	for i, at := range j.index {
		result := &j.results[at]
		if replies == nil || replies[i].Err != nil {
			j.quota.settle(&j.ops[i], len(j.batch.Ops[at].Result), nil)
			*result = wire.Result{Code: wire.Unavailable}
			continue
		}
		j.quota.settle(&j.ops[i], len(j.batch.Ops[at].Result), &replies[i])
		s.metrics.reply(&j.ops[i], &replies[i])
		// Counted as stored, so that what has no room is not opened for nothing.
		if room -= len(replies[i].Result); room < 0 {
			*result = wire.Result{Code: wire.Replayed, Withheld: true}
			continue
		}
		*result = s.answer(&j.ops[i], &replies[i])
		if j.ops[i].Kind == wire.Issue && (result.Code == wire.OK || result.Code == wire.Issued) {
			*result = wire.Result{
				Code:        wire.Issued,
				Key:         j.batch.Ops[at].Key,
				ExpiresAtMS: j.issuedUntil.UnixMilli(),
			}
		}
	}
	elapsed := time.Since(j.arrival)
	j.took = elapsed
	in := s.metrics.claims.in(j.batch.Namespace)
	for i := range j.results {
		s.metrics.operation(in, j.batch.Ops[i].Kind, j.results[i].Code, elapsed)
	}
	s.report.take(j, s.cfg.Now())
}

// maxAnswerBytes bounds the results that one answer carries: Envoy drops a
// callout's answer of more than 32 MiB whole. It is more than one stored result
// may have (a batch of 16 MiB, and a seal), so the first always fits. What does
// not fit is withheld, and the filter asks for it again: it must not learn that
// the store is away, since some rules forward then.
const maxAnswerBytes = 16<<20 + seal.Overhead

// laterRecord says why an operation was not carried out.
var laterRecord = fmt.Sprintf("record: of a later version than %d, which this bridge serves", store.RecordVersion)

// answer converts a reply. Times are rounded so that no one waits too little or
// trusts too long: a wait up, a life down.
func (s *Server) answer(op *store.Operation, r *store.Reply) wire.Result {
	out := wire.Result{
		Code:         r.Code,
		Fence:        r.Fence,
		Attempt:      r.Attempt,
		LeaseMS:      r.Lease.Milliseconds(),
		RetryAfterMS: (r.RetryAfter + time.Millisecond - 1).Milliseconds(),
		Status:       r.Status,
		AgeMS:        r.Age.Milliseconds(),
		RemainingMS:  r.Remaining.Milliseconds(),
		Restored:     r.Restored,
	}
	switch r.Code {
	case wire.Invalid:
		out.Text = laterRecord
		if op.Kind != wire.Claim && op.Kind != wire.Get && op.Kind != wire.Wait {
			// What settles a claim is sent again, until it meets a bridge that knows.
			out.Code = wire.Unavailable
		}
	case wire.Found:
		out.State = wireStates[r.State]
		s.openFound(&out, op, r)
	case wire.KeyReused:
		out.Differs = wire.Differs(r.Fingerprint, op.Fingerprint)
	case wire.Replayed:
		if out.Withheld = r.Withheld; out.Withheld {
			break
		}
		var ok bool
		if out.Result, ok = s.open(op.Name, r.Result); !ok {
			// The request has run; that its result cannot be read does not make
			// the store unavailable, which a rule might answer by forwarding.
			out.Code = wire.ResponseNotKept
		}
	}
	return out
}
