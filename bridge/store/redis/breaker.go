package redis

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// A node that answers nothing would have every batch that holds one of its keys
// wait for its deadline, the operations on other nodes' keys included. So after a
// few pipelines its breaker opens: its operations are answered ErrUnavailable at
// once, and the store asks the node by itself until it answers. No operation ever
// waits for the answer to that.

const (
	// openAfter is how many pipelines in a row come to nothing before a breaker opens.
	openAfter = 3
	// minSilence is the shortest wait for an answer that says something of the node:
	// a deadline sooner than this says more of its operation.
	minSilence = 25 * time.Millisecond
	// knockEvery is the pause between two questions to a node whose breaker is open, and
	// how long each waits for its answer.
	knockEvery = 100 * time.Millisecond
)

var errAway = fmt.Errorf("%w: the node has answered nothing for a while", store.ErrUnavailable)

// A breaker stands in one way to one node.
type breaker struct {
	mu     sync.Mutex
	silent int       // pipelines in a row that came to nothing
	heard  time.Time // when the node last answered
	open   bool
}

// allows reports whether operations may go to the node.
func (r *breaker) allows() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.open
}

// answer notes that the node has answered something, an error included, and calls
// tell if that closed the breaker. It is called under the breaker's lock, so that
// what is told last is how things are.
func (r *breaker) answer(tell func(open bool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.open
	r.silent, r.heard, r.open = 0, time.Now(), false
	if was {
		tell(false)
	}
}

// silence notes that a pipeline sent at began has come to nothing, and reports
// whether that opened the breaker, of which it calls tell as answer does. One that is
// older than the last answer says nothing.
func (r *breaker) silence(began time.Time, tell func(open bool)) (opened bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open || r.heard.After(began) || time.Since(began) < minSilence {
		return false
	}
	r.silent++
	if r.silent < openAfter {
		return false
	}
	r.open = true
	tell(true)
	return true
}

// note keeps what a pipeline sent at began has told of its node.
func (s *Store) note(b *batch, began time.Time, answered bool) {
	if b.breaker == nil {
		return
	}
	tell := func(open bool) { s.tellOpened(b.node, b.way, open) }
	if answered {
		b.breaker.answer(tell)
	} else if b.breaker.silence(began, tell) {
		go s.knock(b.breaker, tell)
	}
}

// knock asks a node until it answers, or is no master any more: then whoever has its
// slots now is another node, with breakers of its own. The client library sends the
// question to whomever it takes for the master, as it does operations.
func (s *Store) knock(r *breaker, tell func(open bool)) {
	tick := time.NewTicker(knockEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.alive.Done():
			return
		case <-tick.C:
		}
		n := s.layout.Load().behind(r)
		if n == nil || s.asks(n) {
			r.answer(tell)
			return
		}
		if r.allows() { // somebody else was answered
			return
		}
		s.suspect()
	}
}

// asks sends a node a command that changes nothing, and reports whether it answers.
func (s *Store) asks(n *node) bool {
	c, err := s.connection()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(s.alive, knockEvery)
	defer cancel()
	s.commands.Add(1)
	return c.Do(ctx, c.B().Exists().Key(tags[n.bucket]+barrierSuffix).Build()).NonRedisError() == nil
}

// behind is the node that a breaker stands before, nil if it is no master any more.
func (l *layout) behind(r *breaker) *node {
	for _, n := range l.nodes {
		if n.bucket >= 0 && (r == &n.load.plain.breaker || r == &n.load.acked.breaker) {
			return n
		}
	}
	return nil
}

// refuses reports whether operations are refused that nobody else acknowledges.
func (l *load) refuses() bool { return !l.plain.breaker.allows() }

// breakerObserver is what ObserveBreakers was given.
type breakerObserver struct {
	opened  func(node, how string, open bool)
	refused func(node, how string, operations int)
}

// ObserveBreakers calls opened whenever a node's breaker opens or closes, and refused
// with how many operations an open one has refused; both with the node's address and
// one of the ways of Observe (shared stands for single too). They are called by many
// goroutines at once, opened by one for each breaker. The last call of
// ObserveBreakers counts.
func (s *Store) ObserveBreakers(opened func(node, how string, open bool), refused func(node, how string, operations int)) {
	s.breakers.Store(&breakerObserver{opened, refused})
}

func (s *Store) tellOpened(node, how string, open bool) {
	if o := s.breakers.Load(); o != nil {
		o.opened(node, how, open)
	}
}

func (s *Store) tellRefused(node, how string, operations int) {
	if o := s.breakers.Load(); o != nil {
		o.refused(node, how, operations)
	}
}
