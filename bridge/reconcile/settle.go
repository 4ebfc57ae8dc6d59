package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// queued bounds the records of one scope that wait for a worker.
const queued = 256

// A scope is a Scope at work.
type scope struct {
	Scope
	queue chan task

	mu     sync.Mutex
	slot   time.Time // when the next question may be asked
	failed bool      // the last one was not answered, and it was said
}

// A task is one record to be asked about, as it was seen.
type task struct {
	share  int
	name   store.Name
	record store.Record
	about  *About
}

func newScope(c Scope) *scope { return &scope{Scope: c, queue: make(chan task, queued)} }

// wait waits for the scope's rate; false: ctx has ended.
func (s *scope) wait(ctx context.Context) bool {
	s.mu.Lock()
	now := time.Now()
	if s.slot.Before(now) {
		s.slot = now
	}
	d := s.slot.Sub(now)
	s.slot = s.slot.Add(time.Second / time.Duration(s.Probe.Rate))
	s.mu.Unlock()
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// work takes records until stop ends; what is under way then goes on under ctx.
func (r *Reconciler) work(stop, ctx context.Context, s *scope) {
	for {
		select {
		case <-stop.Done():
			return
		case t := <-s.queue:
			if !s.wait(stop) {
				return
			}
			r.settle(ctx, s, &t)
		}
	}
}

// settle asks about one record, writes down the answer and notes when to ask
// again.
func (r *Reconciler) settle(ctx context.Context, s *scope, t *task) {
	why := r.resolve(ctx, s, t)
	if why == "" {
		r.memory.resolved(t.share, t.name)
		return
	}
	r.memory.with(t.share, t.name, func(n *memo) {
		n.busy, n.why = false, why
		n.next = time.Now().Add(backoff(n.tries, s.Probe.Retry, s.Probe.RetryMax))
		n.tries++
	})
}

// resolve asks about one record and writes down the answer. It returns why the
// record is still overdue; "": it is not, or not the one that was asked about.
func (r *Reconciler) resolve(ctx context.Context, s *scope, t *task) (why string) {
	begin := time.Now()
	a, err := r.probe(ctx, s, t.about)
	r.metrics.duration.Observe(time.Since(begin).Seconds())
	r.heard(s, err)
	count := func(outcome string) { r.metrics.probes.WithLabelValues(s.Scope.Scope, outcome).Inc() }
	switch {
	case err != nil:
		count("failed")
		return whyFailed
	case a.outcome == unknown:
		count("unknown")
		return whyUnknown
	case a.outcome == running:
		count("running")
		return whyRunning
	case a.outcome == final:
		count("final")
		return r.finish(ctx, s, t, &a)
	case a.refusedUpTo < t.record.Fence && !s.Probe.AcceptSnapshot:
		// Nothing was executed yet; a request on its way still may be.
		count("unpromised")
		return whyUnpromised
	}
	count("not-executed")
	return r.free(ctx, s, t)
}

// heard says once that a backend does not answer, and once that it does again.
func (r *Reconciler) heard(s *scope, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && !s.failed:
		r.cfg.Log.Warn("a probe fails", "scope", s.Scope.Scope, "error", err)
	case err == nil && s.failed:
		r.cfg.Log.Info("probes are answered again", "scope", s.Scope.Scope)
	}
	s.failed = err != nil
}

// finish writes down a final word.
func (r *Reconciler) finish(ctx context.Context, s *scope, t *task, a *answer) string {
	f := store.Finding{Outcome: store.FoundExecuted, Status: a.status}
	became := "executed"
	if a.response != nil {
		if result, err := r.envelope(t.name, a.response); err == nil {
			f.Outcome, f.Result, became = store.FoundResult, result, "completed"
		} else {
			r.cfg.Log.Error("a probed result was not kept", "error", err)
		}
	}
	return r.write(ctx, s, t, f, became)
}

// free makes the key claimable again, after the compensation where there is one.
func (r *Reconciler) free(ctx context.Context, s *scope, t *task) string {
	if c := s.Compensation; c != nil && !t.record.Noted && !t.record.Held {
		// Marked first: whoever comes after a crash knows that a call may be under
		// way, and waits for its end before it calls again.
		marked := time.Now()
		verdict, err := r.reconcile(ctx, t, store.Finding{Outcome: store.Compensating, Quiet: c.Timeout + storeTimeout})
		switch {
		case time.Since(marked) > storeTimeout: // stood still: another call may be under way by the time of this one
			return whyCompensate
		case err != nil:
			return whyStore
		case verdict == store.Busy:
			return whyCompensate
		case verdict != store.Done:
			return r.became(s, t, verdict, "")
		}
		if err := r.compensate(ctx, c, t.about); err != nil {
			r.metrics.compensated.WithLabelValues(s.Scope.Scope, "failed").Inc()
			r.cfg.Log.Warn("a compensation failed", "scope", s.Scope.Scope, "record", nameText(t.name), "error", err)
			return whyCompensate
		}
		r.metrics.compensated.WithLabelValues(s.Scope.Scope, "done").Inc()
	}
	return r.write(ctx, s, t, store.Finding{Outcome: store.FoundNothing}, "released")
}

func (r *Reconciler) reconcile(ctx context.Context, t *task, f store.Finding) (store.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	f.Name, f.Owner, f.Fence = t.name, t.record.Owner, t.record.Fence
	f.Deadline, _ = ctx.Deadline()
	return r.cfg.Store.Reconcile(ctx, f)
}

func (r *Reconciler) write(ctx context.Context, s *scope, t *task, f store.Finding, became string) string {
	verdict, err := r.reconcile(ctx, t, f)
	if err != nil {
		return whyStore // and the next look sees whether it was written all the same
	}
	return r.became(s, t, verdict, became)
}

// became counts and logs what a verdict makes of a record.
func (r *Reconciler) became(s *scope, t *task, verdict store.Verdict, became string) string {
	switch verdict {
	case store.Withheld:
		return whyHeld
	case store.Noted:
		became = "noted"
	case store.Done:
	default: // somebody else was faster, or its lease runs again
		became = "conflict"
	}
	r.metrics.recovered.WithLabelValues(became).Inc()
	r.cfg.Log.Info("record recovered", "outcome", became, "scope", s.Scope.Scope, "record", nameText(t.name), "fence", t.record.Fence)
	return ""
}
