package host

import (
	"container/heap"
	"time"
)

// timer is one armed timer of the virtual clock.
type timer struct {
	at    time.Duration
	seq   uint64 // timers of one instant fire in the order in which they were set
	f     func()
	index int // in the heap; -1 when it fired or was stopped
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].seq < t[j].seq
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i]; t[i].index, t[j].index = i, j }
func (t *timers) Push(x any)   { x.(*timer).index = len(*t); *t = append(*t, x.(*timer)) }
func (t *timers) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t, x.index = old[:len(old)-1], -1
	return x
}

func (h *Host) setTimer(d time.Duration, f func()) *timer {
	h.seq++
	t := &timer{at: h.now + d, seq: h.seq, f: f}
	heap.Push(&h.timers, t)
	return t
}

func (h *Host) stopTimer(t *timer) {
	if t != nil && t.index >= 0 {
		heap.Remove(&h.timers, t.index)
	}
}

// After calls f once d has passed on the virtual clock.
func (h *Host) After(d time.Duration, f func()) { h.setTimer(d, f) }

// Now is the virtual clock's reading.
func (h *Host) Now() time.Time { return h.o.Start.Add(h.now) }

// Advance lets d pass: ticks, timeouts and what After asked for happen at their
// times. In an event of the host it may not be called.
func (h *Host) Advance(d time.Duration) {
	until := h.now + d
	for len(h.timers) > 0 && h.timers[0].at <= until {
		t := heap.Pop(&h.timers).(*timer)
		h.now = max(h.now, t.at)
		h.event(t.f)
	}
	h.now = until
}

// Next is how long it is until the next timer; false where none is armed.
func (h *Host) Next() (time.Duration, bool) {
	if len(h.timers) == 0 {
		return 0, false
	}
	return h.timers[0].at - h.now, true
}

// event runs f as an event of Envoy's loop: at once, or after the current one.
func (h *Host) event(f func()) {
	h.queue = append(h.queue, f)
	if h.running {
		return
	}
	h.running = true
	for len(h.queue) > 0 && h.fault == nil {
		next := h.queue[0]
		h.queue = h.queue[1:]
		next()
		if h.fault != nil && h.o.T == nil && h.o.Fail != nil {
			err := h.fault
			h.fault = nil
			h.o.Fail(err)
		}
	}
	h.running = false
	if err := h.fault; err != nil {
		h.queue, h.fault = nil, nil
		h.fail(err)
	}
}
