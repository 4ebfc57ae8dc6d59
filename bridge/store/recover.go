package store

import (
	"context"
	"time"
)

// Outcome is what a backend said about an unresolved record, as far as it moves
// the record. That it still runs, or is not known, moves nothing.
type Outcome uint8

// The outcomes. FoundResult and FoundExecuted are the final word, with and
// without a result. FoundNothing is the word that nothing was executed under this
// fence and never will be. Compensating says that a compensation is about to be
// called, and must come before a FoundNothing where there is one.
const (
	FoundResult Outcome = iota + 1
	FoundExecuted
	FoundNothing
	Compensating
)

// Finding is what was found out about one record. Owner and Fence are those of
// the record that the backend was asked about: another owner or fence, or a lease
// that is not over, is a conflict, and nothing is done.
type Finding struct {
	Name    Name
	Owner   []byte
	Fence   uint64
	Outcome Outcome
	Status  uint16 // FoundResult, FoundExecuted
	Result  []byte // FoundResult: an envelope
	// Quiet is how long after one Compensating no other is let through.
	Quiet    time.Duration
	Deadline time.Time
}

// Due is a member of a bucket's index whose lease is over by the store's clock.
type Due struct {
	Name Name
	// Overdue is how long ago the lease ended; negative: it ended by decision, the
	// moment is not known.
	Overdue time.Duration
}

// Lease is what became of a request for shared work.
type Lease uint8

// The answers. LeaseTaken was somebody else's, who let it end without a word.
const (
	LeaseOthers Lease = iota
	LeaseHeld
	LeaseTaken
)

// Recoverer is what a reconciler needs beside the operations. Implementations are
// safe for concurrent use, and every step may be taken by two reconcilers at once.
// An error wraps ErrUnavailable.
type Recoverer interface {
	// Shares is into how many parts the records are split for reconcilers.
	Shares() int
	// Hold asks for a share for the time of life, or for longer where holder has it
	// already. It saves work and protects nothing: a share may have two holders.
	Hold(ctx context.Context, share int, holder string, life time.Duration) (Lease, error)
	// Yield gives a share back.
	Yield(ctx context.Context, share int, holder string) error
	// Due lists the overdue members of a share's indexes, at most limit of each
	// index. They may be resolved by now.
	Due(ctx context.Context, share, limit int) ([]Due, error)
	// Look reads records, as Get does without their results.
	Look(ctx context.Context, names []Name) ([]Record, error)
	// Reconcile carries out f in one atomic step; its verdicts are Done, Noted,
	// Conflict, Live, Withheld and Busy.
	Reconcile(ctx context.Context, f Finding) (Verdict, error)
	// Tidy takes members out of a share's indexes behind which nothing is
	// unresolved, and returns how many.
	Tidy(ctx context.Context, share int) (int, error)
	// Reindex walks over all records, pausing after each page, and puts unresolved
	// ones into their index. It returns how many it found that were not there.
	Reindex(ctx context.Context, pause time.Duration) (int, error)
	// Incarnation changes whenever records or indexes may have been lost: with a
	// failover or a restart of a server.
	Incarnation(ctx context.Context) (string, error)
}
