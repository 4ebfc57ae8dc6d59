package store

import (
	"context"
	"time"
)

// Erasure is a decision to forget one record.
type Erasure struct {
	Name Name
	// Forget leaves nothing of it, so that a repeat of the request runs as a first
	// one. Else a tombstone stays for the rest of the record's life, without
	// anything that came from a caller or a backend, and a repeat is told
	// KeyExpired.
	Forget bool
	// Force erases an unresolved record too, whose request may be under way.
	Force bool
	// Audit is kept as a Resolution's is; nil: nothing is.
	Audit    []byte
	Deadline time.Time
}

// Erased is what became of an Erasure.
type Erased uint8

// What becomes of one. Unresolved is a record that was left as it is.
const (
	ErasedNow Erased = iota + 1
	ErasedNothing
	ErasedUnresolved
)

// Page is a part of a search for the records of callers.
type Page struct {
	Examined int // records looked at
	Names    []Name
	// Next goes on; "": the search is over. Restarted says that the nodes' shares
	// had changed since the cursor was given, and that it began anew: records may
	// have moved past it.
	Next      string
	Restarted bool
}

// Eraser is a store that can find and forget the records of a caller.
// Implementations are safe for concurrent use. An error wraps ErrUnavailable, or is
// ErrBadCursor.
type Eraser interface {
	// Erase carries out e in one atomic step, after its audit entry is stored.
	Erase(ctx context.Context, e Erasure) (Erased, error)
	// Find looks for records whose Operation.Caller is one of callers, from cursor
	// on ("": the beginning), until it has looked at most records or more, a few
	// hundred at a time and no more than rate a second. A record that is there from
	// the first page to the last is found, whatever is made and ends meanwhile, if
	// no page says Restarted.
	Find(ctx context.Context, callers [][]byte, cursor string, most, rate int) (Page, error)
}
