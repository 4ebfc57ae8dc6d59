// Package reconcile ends what nobody else ends: records whose lease is over and
// which have no final word, because an Envoy died, a connection broke, or a
// backend did not answer in time. Where a scope has a probe configured, it asks the
// backend what became of the request, and writes down the answer.
//
// A Reconciler runs in every bridge. The records are split into shares, each leased
// by one bridge for some seconds. That saves work and protects nothing: every step
// that is written names owner and fence of the record that was asked about, and is
// refused where they have changed or the lease runs again. Two reconcilers on one
// record ask twice and write once; one that is killed at any moment leaves the
// record as it was, or as it shall be.
//
// The order for one record: look, ask, (mark and call the compensation,) write.
// What a backend does not know, or cannot say now, is asked again with growing
// pauses. What is overdue for longer than a bound is counted, logged once and
// listed; it is never guessed.
//
// It also looks after the index by which overdue records are found: at the start,
// daily, and when a server has been replaced.
//
// The package imports store, seal, health and wire, never the server.
package reconcile
