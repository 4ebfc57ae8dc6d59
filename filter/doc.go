// Package filter is the core of the gateway filter: what happens to a request
// that a rule covers, from its headers to the acknowledged record of its
// answer. It is pure: no I/O, no clock, no globals. Time and randomness arrive
// with events, and what has to be done leaves as effects.
//
// One [Worker] stands for one Envoy worker (one VM, one plugin context). It
// owns the configuration, the batches to the bridge, the operations that wait
// for an acknowledgement, and the memory of finished keys. One [Stream] stands
// for one HTTP request that a rule covers. An event is a method call; it
// returns an [Action] where Envoy wants one and leaves its other effects in the
// worker, which the adapter drains with [Worker.Effects].
//
// Invariants, checked by property tests:
//
//   - A stream that an event has paused is given exactly one resume or one
//     reply, in every order of events, also when no answer ever comes.
//   - At most one reply, and none after the request or the response has been
//     resumed.
//   - A covered request is resumed only with a granted claim, or, while the store is
//     away, with the mark unprotected under a rule that says forward or local.
//   - Every granted claim ends in complete, executed, release or unknown, which
//     is repeated until the bridge acknowledges it, or in a lease that ends.
//   - A record is completed only from an answer that upstream gave
//     (code details via_upstream) and whose end was seen.
package filter
