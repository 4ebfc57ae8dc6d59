package filter

import "time"

// Bounds of the breaker, per worker.
const (
	// breakerFailures is how many callouts in a row may come to nothing before
	// the worker stops asking. An answer of the bridge that says that its store is
	// away is an answer: the breaker is for bridges that cannot be reached.
	breakerFailures = 5
	// breakerInterval is the time between two probes.
	breakerInterval = 250 * time.Millisecond
)

// breaker spares requests the wait for a bridge that is known to be away: while
// it is open their rule's `unavailable` decides at once. One batch at a time
// goes out to see whether the bridge is back.
type breaker struct {
	failures int
	open     bool
	probe    uint32 // id of the callout that probes; 0: none is under way
	next     int64  // earliest time of the next probe
}

// allows reports whether a batch may leave.
func (k *breaker) allows(now int64) bool { return !k.open || k.probe == 0 && now >= k.next }

// left notes that a callout is under way.
func (k *breaker) left(id uint32) {
	if k.open {
		k.probe = id
	}
}

// answered notes that the bridge has answered.
func (k *breaker) answered() { *k = breaker{} }

// failed notes that a callout came to nothing, and reports whether the breaker
// opens by that.
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

// refuseQueued fails what waits for batches while none may leave: claims meet
// their rule's `unavailable`, and what must be acknowledged is tried later.
func (w *Worker) refuseQueued(now int64) {
	for l := range w.b.lanes {
		q := &w.b.lanes[l]
		fresh, retries := q.fresh, q.retries
		q.fresh, q.retries = nil, nil
		for _, list := range [...][]*task{retries, fresh} {
			for _, t := range list {
				t.tries++
				switch {
				case t.dropped:
					w.forget(t)
				case t.settles:
					w.unacknowledged(now, t)
				case t.stream != nil:
					t.stream.unavailable(now, t)
				}
			}
		}
	}
}
