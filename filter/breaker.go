package filter

import "time"

// Bounds of the breaker, per worker.
const (
	// breakerFailures is how many callouts with claims in a row may come to nothing
	// before the worker stops claiming. An answer of the bridge that says that its
	// store is away is an answer: the breaker is for bridges that cannot be reached.
	breakerFailures = 5
	// breakerInterval is the time between two probes.
	breakerInterval = 250 * time.Millisecond
)

// breaker spares requests the wait for a bridge that is known to be away: while
// it is open their rule's `unavailable` decides at once. One batch with claims at
// a time goes out to see whether the bridge is back.
//
// What settles a claim is not held up: it is repeated at its own pace, and its
// failures say nothing of claims, since one operation that the bridge cannot
// digest would otherwise refuse every request.
type breaker struct {
	failures int
	open     bool
	probe    uint32 // id of the callout that probes; 0: none is under way
	next     int64  // earliest time of the next probe
}

// allows reports whether a batch with claims may leave.
func (k *breaker) allows(now int64) bool { return !k.open || k.probe == 0 && now >= k.next }

// left notes that a callout with claims is under way.
func (k *breaker) left(id uint32) {
	if k.open {
		k.probe = id
	}
}

// answered notes that the bridge has answered, and reports whether it had failed
// before.
func (k *breaker) answered() (back bool) {
	back = k.failures > 0 || k.open
	*k = breaker{}
	return back
}

// failed notes that a callout with claims came to nothing, and reports whether
// the breaker opens by that.
func (k *breaker) failed(now int64, id uint32) (opens bool) {
	if k.open {
		if k.probe == id {
			k.probe, k.next = 0, now+int64(breakerInterval)
		}
		return false
	}
	if k.failures++; k.failures < breakerFailures {
		return false
	}
	*k = breaker{open: true, next: now + int64(breakerInterval)}
	return true
}

// refuseClaims fails the claims that wait for batches while none may leave.
func (w *Worker) refuseClaims(now int64) {
	var refused []*task
	for l := range w.b.lanes {
		for _, list := range [...]*[]*task{&w.b.lanes[l].retries, &w.b.lanes[l].fresh} {
			kept := (*list)[:0]
			for _, t := range *list {
				if t.settles || t.dropped {
					kept = append(kept, t)
				} else {
					refused = append(refused, t)
				}
			}
			clear((*list)[len(kept):])
			*list = kept
		}
	}
	for _, t := range refused {
		t.tries++
		if t.stream != nil {
			t.stream.unavailable(now, t)
		}
	}
}

// hurry brings forward what waits to be acknowledged, once the bridge is back: a
// claim must not overtake the completion of a request that ran meanwhile.
func (w *Worker) hurry(now int64) {
	for _, t := range w.waiting {
		t.due = now
	}
	w.resumeWaiting(now)
}
