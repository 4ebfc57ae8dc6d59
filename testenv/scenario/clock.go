package scenario

import (
	"container/heap"
	"time"
)

// clock is a virtual clock with what is to happen at its times.
type clock struct {
	now   time.Duration
	seq   int
	queue events
}

type event struct {
	at  time.Duration
	seq int // events of one time happen in the order in which they were set
	f   func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func (c *clock) after(d time.Duration, f func()) {
	c.seq++
	heap.Push(&c.queue, event{c.now + d, c.seq, f})
}

// advance lets d pass.
func (c *clock) advance(d time.Duration) {
	end := c.now + d
	for len(c.queue) > 0 && c.queue[0].at <= end {
		c.step()
	}
	c.now = end
}

func (c *clock) step() {
	e := heap.Pop(&c.queue).(event)
	c.now = max(c.now, e.at)
	e.f()
}

// until lets time pass until cond holds; false where that takes longer than
// limit.
func (c *clock) until(limit time.Duration, cond func() bool) bool {
	end := c.now + limit
	for !cond() {
		if len(c.queue) == 0 || c.queue[0].at > end {
			c.now = end
			return cond()
		}
		c.step()
	}
	return true
}
