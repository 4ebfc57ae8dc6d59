package main

import (
	"context"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// idleWait bounds the wait for the next event where no timer is armed.
const idleWait = time.Hour

// loop is the goroutine that owns the host. Everything else asks it by post.
type loop struct {
	h      *host.Host
	began  time.Time
	passed time.Duration // how far the host's clock has been moved
	events chan func()
	done   chan struct{} // closed when the loop has ended

	// later is what runs once the current event is over, waiting who waits until
	// the host has taken what was sent. Both belong to the loop.
	later   []func()
	waiting []waiter
	// idle is called when there is nothing to do for now.
	idle func()
}

// waiter is somebody who sent something and may not send more before ready.
type waiter struct {
	ready func() bool
	told  chan struct{}
}

// newLoop makes a loop; began is the real time of the host's Options.Start.
func newLoop(began time.Time) *loop {
	return &loop{began: began, events: make(chan func(), 256), done: make(chan struct{}), idle: func() {}}
}

// run runs events and timers until ctx ends.
func (l *loop) run(ctx context.Context) {
	defer close(l.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		l.advance()
		select {
		case f := <-l.events:
			l.do(f)
			continue
		default:
		}
		l.idle()
		timer.Reset(l.next())
		select {
		case f := <-l.events:
			l.advance()
			l.do(f)
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// do runs one event and what it left to be done.
func (l *loop) do(f func()) {
	f()
	l.settle()
}

// advance moves the host's clock to the real one: timers fire.
func (l *loop) advance() {
	if now := time.Since(l.began); now > l.passed {
		l.h.Advance(now - l.passed)
		l.passed = now
		l.settle()
	}
}

func (l *loop) next() time.Duration {
	if d, ok := l.h.Next(); ok {
		return min(d, idleWait)
	}
	return idleWait
}

// settle runs what the event put off and releases those who waited for it.
func (l *loop) settle() {
	for len(l.later) > 0 {
		f := l.later[0]
		l.later = l.later[1:]
		f()
	}
	kept := l.waiting[:0]
	for _, w := range l.waiting {
		if w.ready() {
			close(w.told)
		} else {
			kept = append(kept, w)
		}
	}
	clear(l.waiting[len(kept):])
	l.waiting = kept
}

// post makes f an event; false: the loop has ended. It may not be called on the
// loop itself.
func (l *loop) post(f func()) bool {
	select {
	case l.events <- f:
		return true
	case <-l.done:
		return false
	}
}

// call makes f an event and waits until it has run; false: the loop has ended.
func (l *loop) call(f func()) bool {
	return l.feed(f, func() bool { return true })
}

// feed makes f an event and waits until ready says that more may be sent. This
// is how a socket's reader is kept from reading on; false: the loop has ended.
func (l *loop) feed(f func(), ready func() bool) bool {
	told := make(chan struct{})
	posted := l.post(func() {
		f()
		l.waiting = append(l.waiting, waiter{ready, told})
	})
	if !posted {
		return false
	}
	select {
	case <-told:
		return true
	case <-l.done:
		return false
	}
}
