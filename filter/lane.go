package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// lane is a way to the bridge with queues and batches of its own. The bridge
// answers a batch when its slowest operation is done, so that operations share
// one only with their like: what awaits replicas, and what carries large results
// either way, holds up nothing else.
type lane uint8

// The lanes, in the order in which they send.
const (
	laneFast        lane = iota
	laneDurable          // rules with durability: answered when replicas have acknowledged
	laneBulk             // large completions, and claims answered with a large result
	laneBulkDurable      // both
	lanes
)

// bulkBytes is the result from which on a completion goes by the bulk lane.
// Below it a completion costs the batch of claims that it rides in less than a
// callout of its own would.
const bulkBytes = 8 << 10

// lane is the way that a task goes.
func (t *task) lane() lane {
	l := laneFast
	if t.rule.Durability.Replicas > 0 {
		l = laneDurable
	}
	if t.op.Fetch || len(t.op.Result) > bulkBytes {
		l += laneBulk
	}
	return l
}

// queue is what waits for one lane. Retries queue apart: their smaller budget
// must not shorten the callout of fresh operations.
type queue struct {
	fresh   []*task
	retries []*task
	flights int // batches under way
}

func (q *queue) empty() bool { return len(q.fresh) == 0 && len(q.retries) == 0 }

// ready is the list that the lane's next batch leaves from; nil: none may leave
// yet.
func (q *queue) ready(now int64) *[]*task {
	list := &q.fresh
	if len(q.retries) > 0 {
		list = &q.retries
	}
	switch {
	case len(*list) == 0 || q.flights == maxFlights:
		return nil
	case q.flights > 0 && time.Duration(now-(*list)[0].queued) < batchPatience:
		return nil
	}
	return list
}

// enqueue puts a task where its next try leaves from.
func (w *Worker) enqueue(now int64, t *task) {
	t.queued = now
	q := &w.b.lanes[t.lane()]
	if t.tries == 0 {
		q.fresh = append(q.fresh, t)
	} else {
		q.retries = append(q.retries, t)
	}
}

// queued reports whether any operation waits for a batch.
func (b *batcher) queued() bool {
	for i := range b.lanes {
		if !b.lanes[i].empty() {
			return true
		}
	}
	return false
}

// pump sends what may leave now.
func (w *Worker) pump(now int64) {
	for l := range lanes {
		for {
			if !w.b.breaker.allows(now) {
				w.refuseClaims(now)
			}
			list := w.b.lanes[l].ready(now)
			if list == nil {
				break
			}
			w.send(now, l, list)
		}
	}
}

// expireQueued fails what has waited in a queue past its budget, which happens
// only while every flight of its lane is stuck.
func (w *Worker) expireQueued(now int64) {
	for l := range w.b.lanes {
		for _, list := range [...]*[]*task{&w.b.lanes[l].fresh, &w.b.lanes[l].retries} {
			var expired []*task
			kept := (*list)[:0]
			for _, t := range *list {
				if time.Duration(t.deadline-now) < minTry && (!t.settles || t.stream != nil) {
					expired = append(expired, t)
				} else {
					kept = append(kept, t)
				}
			}
			clear((*list)[len(kept):])
			*list = kept
			for _, t := range expired {
				t.tries = max(t.tries, 1)
				w.failed(now, t)
			}
		}
	}
}

// large reports whether the bridge may answer a task with a result beyond
// wire.MaxBatchBytes' share of one.
func (t *task) large() bool { return t.op.Kind == wire.Claim && t.op.Fetch }
