package redis

import (
	"cmp"
	"time"
)

// How operations went to a node, as Observe tells it.
const (
	// shared: one pipeline among others on a connection.
	shared = "shared"
	// single: an operation with a large result, on a connection of its own.
	single = "single"
	// acknowledged: a pipeline that ends when replicas have acknowledged it.
	acknowledged = "acknowledged"
)

// observer wraps the function, since an atomic pointer cannot hold one.
type observer struct {
	f func(node, how string, took time.Duration)
}

// Observe calls f after each answer of a node, or after the wait for it: with the
// address of the node that was meant (a redirection is the client library's
// business), the way that the operations went, and what it took. f is called by
// many goroutines at once. The last call of Observe counts.
func (s *Store) Observe(f func(node, how string, took time.Duration)) { s.seen.Store(&observer{f}) }

func (s *Store) observe(node, how string, began time.Time) {
	if o := s.seen.Load(); o != nil {
		o.f(cmp.Or(node, "none"), how, time.Since(began))
	}
}
