package store

import "context"

// Watcher is a store that tells when a key is no longer in flight. Whoever waits
// there never executes, never claims, and never changes or removes a record.
type Watcher interface {
	// Peek reads the record that op, of kind Wait, names (Name, Policy,
	// Fingerprint, Withhold) and answers as a claim would where the key is
	// finished or its outcome unknown: Replayed, KeyUsed, ResponseNotKept,
	// KeyReused, OutcomeUnknown. It answers InFlight, with what is left of the
	// lease, while an owner's claim is live, and Free where a claim decides:
	// there is no record, it was released, its lease is over, or the answer is one
	// that replicas must acknowledge first.
	Peek(ctx context.Context, op *Operation) Reply
	// Watch is Peek that returns when the answer is another than InFlight, or at
	// ctx's end with the latest. It reads the record when it begins, when another
	// operation ended what was in flight, when it may have missed that, and at
	// the lease's end, and never in between. Err is set where nothing was read in
	// time, or where the store cannot tell of changes.
	Watch(ctx context.Context, op *Operation) Reply
}
