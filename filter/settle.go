package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the operations that wait for an acknowledgement, per worker.
const (
	// firstBackoff and maxBackoff bound the wait between two tries.
	firstBackoff = 50 * time.Millisecond
	maxBackoff   = 5 * time.Second
	// maxPendingBytes bounds the results that wait; above it a result is dropped
	// and its record says that the response was not kept.
	maxPendingBytes = 32 << 20
	// maxPending bounds the operations that wait, and maxPendingBytes what they
	// take beside their results. Above either the newest is given up and counted:
	// its lease ends and the rule's recovery decides.
	maxPending = 50_000
)

// settle queues an operation that ends a claim, or moves it towards its end. It
// is repeated until the bridge acknowledges it. s is told of the
// acknowledgement, or that none came within the timeout, if wait is true.
//
// One operation per owner is under way or waiting, the latest: a complete takes
// the place of a pending executed, and its acknowledgement settles both.
func (w *Worker) settle(now int64, s *Stream, op wire.Operation, wait bool) {
	s.localSettled(&op)
	t := &task{op: op, rule: s.rule, settles: true, since: s.since, deadline: now + int64(w.cfg.Bridge.Timeout)}
	if wait {
		t.stream = s
	}
	if len(op.Result) > 0 && w.pendingBytes+len(op.Result) > maxPendingBytes {
		w.count(MetricOverBudget)
		w.count(MetricDropped)
		t.op.Kind, t.op.Result, t.op.NoResult = wire.Executed, nil, true
	}
	t.measure()
	t.texts = t.size - len(t.op.Result)
	if w.pending >= maxPending || w.pendingTexts+t.texts > maxPendingBytes {
		w.count(MetricOverBudget)
		w.count(MetricDropped)
		w.tell(now, t, nil)
		return // an earlier operation of the same owner is repeated as before
	}
	if s.settling != nil {
		s.settling.dropped = true
	}
	w.owe(t, s.settling)
	s.settling = t
	w.pendingTexts += t.texts
	w.pending++
	w.pendingBytes += len(t.op.Result)
	w.enqueue(now, t)
	w.count(settleMetric(t.op.Kind))
}

func settleMetric(k wire.Kind) Metric {
	switch k {
	case wire.Complete:
		return MetricCompleted
	case wire.Release:
		return MetricReleased
	case wire.Unknown:
		return MetricUnknown
	}
	return MetricExecuted
}

// forget takes a settling task out of the books.
func (w *Worker) forget(now int64, t *task) {
	if !t.settles {
		return
	}
	if len(w.owed) > 0 {
		if id := t.record(); w.owed[id] == t {
			delete(w.owed, id)
		}
		w.leads(now, t, true)
	}
	w.pending--
	w.pendingTexts -= t.texts
	w.pendingBytes -= len(t.op.Result)
	t.settles, t.op.Result = false, nil
}

// acknowledged takes the bridge's word on a settling operation.
func (w *Worker) acknowledged(now int64, t *task, r *wire.Result) {
	if r.Code == wire.Stale {
		w.count(MetricStale)
	}
	if r.Code == wire.Invalid {
		w.count(MetricMisconfigured)
	}
	if r.Code == wire.OK && !t.dropped {
		w.remember(now, t, r)
	}
	if !t.dropped {
		w.localTold(t)
	}
	stream := t.stream
	t.stream = nil
	w.forget(now, t)
	if stream != nil {
		stream.settled(now, t, r)
	}
}

// unacknowledged lets a stream that waits go on, and tries again later.
func (w *Worker) unacknowledged(now int64, t *task) {
	w.tell(now, t, nil)
	wait := min(firstBackoff<<min(t.tries-1, 10), maxBackoff)
	t.due = now + int64(wait)
	t.own()
	w.waiting = append(w.waiting, t)
	w.leads(now, t, false)
}

// tell hands the end of the waiting to the stream, once.
func (w *Worker) tell(now int64, t *task, r *wire.Result) {
	if s := t.stream; s != nil {
		t.stream = nil
		s.settled(now, t, r)
	}
}

// resumeWaiting queues what is due for its next try.
func (w *Worker) resumeWaiting(now int64) {
	kept := w.waiting[:0]
	for _, t := range w.waiting {
		switch {
		case t.dropped:
			w.forget(now, t)
		case t.due <= now:
			w.enqueue(now, t)
		default:
			kept = append(kept, t)
		}
	}
	clear(w.waiting[len(kept):])
	w.waiting = kept
}
