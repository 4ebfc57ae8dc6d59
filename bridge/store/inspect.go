package store

import (
	"context"
	"errors"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// ErrBadCursor is the error of Overdue where the cursor is none that it gave.
var ErrBadCursor = errors.New("store: not a cursor of this store")

// State is a record's state; see docs/protocol.md, "States".
type State uint8

// The states. Absent is a record that is not there, or no more than a tombstone
// that the store has dropped.
const (
	Absent State = iota
	Issued
	Released
	Processing
	Unknown
	Executed
	Completed
	// Elsewhere is no record but the marker of one that has another name: Moved.
	Elsewhere
	// Later is a record of a version above RecordVersion, of which no more is known.
	Later
)

// Unresolved reports whether the record waits for a final word.
func (s State) Unresolved() bool { return s == Processing || s == Unknown }

// Record is what a store holds of one name, as an operator sees it. Every
// duration is counted on the store's clock at the moment of reading.
type Record struct {
	State    State
	Fence    uint64
	Attempts uint32
	Status   uint16        // Executed, Completed
	Age      time.Duration // since it was claimed; 0: not claimed
	// Lease is what is left of the lease, negative once it is over. LeaseOver says
	// so too where the end of the lease is not a time: it ended by decision.
	Lease     time.Duration
	LeaseOver bool
	// Remaining is the life left to the answer: 0 or less is a tombstone.
	Remaining time.Duration
	// Erased says that the tombstone is what an erasure left: it has no status, and no
	// owner.
	Erased      bool
	Maybe       bool   // an earlier fence may have run
	Noted       bool   // an earlier owner is known to have run
	NotedStatus uint16 // its status
	Held        bool   // only a final word or the operator ends it
	Policy      wire.Policy
	Identity    []byte // Operation.Identity; nil: none kept
	Caller      []byte // Operation.Caller; nil: none kept
	Owner       []byte // whose claim it is, or who settled it
	// Kept says that a result is there; Result is its envelope where it was asked
	// for.
	Kept   bool
	Result []byte
}

// Entry is an unresolved record whose lease is over.
type Entry struct {
	Name Name
	Record
}

// Action is what an operator decides about an unresolved record.
type Action uint8

// The actions. Complete and Execute are the final word, with and without a
// result. Free is the operator's word that nothing was executed under the fence
// and never will be. Extend puts the end of the lease off.
const (
	Complete Action = iota + 1
	Execute
	Free
	Extend
)

// Resolution is an operator's decision about one record.
type Resolution struct {
	Name   Name
	Fence  uint64 // what the operator saw; another one is a conflict
	Action Action
	// Owner names the decision: repeated with the same owner it is the same one,
	// and becomes the owner of a final record, so that whoever was is told stale.
	Owner  []byte
	Status uint16        // Complete, Execute
	Result []byte        // Complete: an envelope
	By     time.Duration // Extend: how much lease there is to be from now
	// Audit is kept with the decision, at most MaxAuditBytes. It holds no key.
	Audit    []byte
	Deadline time.Time
}

// MaxAuditBytes bounds Resolution.Audit.
const MaxAuditBytes = 4096

// Verdict is what became of a Resolution or a Finding.
type Verdict uint8

// The verdicts. Noted means that the record was freed by nobody: an earlier
// owner is known to have run, and it is EXECUTED by that one.
const (
	Done     Verdict = iota + 1
	Noted            // Free on a noted record: executed by the noted owner
	Conflict         // another fence, or final already
	Live             // the lease is not over
	Withheld         // Reconcile: the record is held, and this outcome does not end that
	Busy             // Reconcile: a compensation was called a moment ago
)

// Inspector is what an operator may do beside the operations. Implementations
// are safe for concurrent use. An error wraps ErrUnavailable, or is ErrBadCursor.
type Inspector interface {
	// Get reads a record. An unresolved one is put back into an index that lost
	// it. A record that is not there is Absent, and no error.
	Get(ctx context.Context, name Name, withResult bool) (Record, error)
	// Overdue lists unresolved records whose lease is over, in no order that means
	// anything, at most limit of them, from cursor on ("": the beginning). next is
	// "" at the end. A record that is resolved between two pages may hide another.
	Overdue(ctx context.Context, cursor string, limit int) (list []Entry, next string, err error)
	// Resolve carries out r in one atomic step if the record still has its fence.
	// The audit entry is stored first: there is no resolution without one, but one
	// may tell of a resolution that was refused.
	Resolve(ctx context.Context, r Resolution) (Verdict, error)
	// Audit returns the entries of name that are still kept, the newest first.
	Audit(ctx context.Context, name Name) ([][]byte, error)
}
