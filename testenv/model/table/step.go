package table

import (
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Limits are what a store is configured with.
type Limits struct {
	Skew   time.Duration // a claim further in the future restarts its lease
	Marker time.Duration // life of a RELEASED marker
}

// A Row is one row of the table.
type Row struct {
	Name string // unique, stable
	// State, Condition, Becomes and Answer are the document's columns.
	State, Condition, Becomes, Answer string
	// Needs names the part that serves the row; "": the store itself. Such a row
	// is not executed here.
	Needs string

	kinds []wire.Kind
	when  func(*Case) bool
	then  func(*Case)
}

// A Case is one operation on one record at one moment.
type Case struct {
	Before Record
	Op     *store.Operation
	Now    int64 // us
	Limits Limits

	// After and Reply are what the row makes of it.
	After Record
	Reply store.Reply

	policy  wire.Policy   // of record and caller, the stricter
	verdict store.Verdict // of a decision
}

// Step carries op out on r. The row is nil when no row holds, which is a fault of
// the table.
func Step(r Record, op *store.Operation, now int64, l Limits) (Record, store.Reply, *Row) {
	c := Case{Before: r, After: r, Op: op, Now: now, Limits: l, policy: r.Stricter(*op.Policy)}
	if op.Kind == wire.Claim {
		c.clockSetBack()
	}
	row := c.row()
	if row == nil {
		return r, store.Reply{Err: fmt.Errorf("no row for operation %d on %s", op.Kind, r.State)}, nil
	}
	row.then(&c)
	if c.Before.Unresolved() && c.After.Unresolved() {
		c.After.index() // whatever meets an unresolved record and leaves it so
	}
	return c.After, c.Reply, row
}

func (c *Case) row() *Row {
	for i := range Rows {
		row := &Rows[i]
		if row.Needs != "" {
			continue
		}
		for _, k := range row.kinds {
			if k == c.Op.Kind && row.when(c) {
				return row
			}
		}
	}
	return nil
}

// clockSetBack starts the lease of a claim from the future once more: the clock
// was set back, or a node with another clock took over. The record lives as if it
// had been claimed now.
func (c *Case) clockSetBack() {
	r := &c.After
	future := r.Claimed > c.Now+c.Limits.Skew.Microseconds()
	leased := r.Unresolved() || r.State == Executed
	if !leased || !future || r.Over(c.Now) || c.reused() || r.Past(c.Now) {
		return
	}
	r.Claimed, r.LeaseEnd = c.Now, c.Now+c.policy.LeaseMS*1000
	if r.State == Executed {
		r.outliveLease(c.policy, c.Now)
	} else {
		r.liveUnresolved(c.policy, c.Now)
	}
	c.Before = *r
}

// The words of the table.

func (c *Case) me() bool { return c.Before.Owner == string(c.Op.Owner) }

// current: the record's owner, and its fence or none.
func (c *Case) current() bool {
	return c.me() && (c.Op.Fence == c.Before.Fence || c.Op.Fence == 0)
}

func (c *Case) newer() bool   { return c.Op.Fence > c.Before.Fence }
func (c *Case) older() bool   { return c.Op.Fence < c.Before.Fence }
func (c *Case) over() bool    { return c.Before.Over(c.Now) }
func (c *Case) success() bool { return c.Op.Status/100 == 2 }
func (c *Case) noted() bool   { return c.Before.NotedOwner != "" }

// issuedKey: the rule wants issued keys, or the record is one's.
func (c *Case) issuedKey() bool { return c.policy.Issued }

func (c *Case) reused() bool {
	r := &c.Before
	return c.Op.Kind == wire.Claim && wire.Conflict([]byte(r.Fingerprint), c.Op.Fingerprint) && !c.forgotten()
}

// forgotten: a client key's answer past its life that leaves no tombstone, and is
// only not dropped yet.
func (c *Case) forgotten() bool {
	return c.Before.Past(c.Now) && c.policy.TombstoneMS == 0 && !c.issuedKey()
}

func (c *Case) attemptsLeft() bool {
	return c.policy.MaxAttempts == 0 || c.Before.Attempts < c.policy.MaxAttempts
}

// reacquires: the rule lets a claim whose lease is over go to another, and nothing
// forbids it.
func (c *Case) reacquires() bool {
	return c.attemptsLeft() && c.policy.Recovery == wire.Reacquire && !c.Before.Held
}

func in(states ...State) func(*Case) bool {
	return func(c *Case) bool {
		for _, s := range states {
			if c.Before.State == s {
				return true
			}
		}
		return false
	}
}

// all holds where every condition does.
func all(conditions ...func(*Case) bool) func(*Case) bool {
	return func(c *Case) bool {
		for _, holds := range conditions {
			if !holds(c) {
				return false
			}
		}
		return true
	}
}

func either(a, b func(*Case) bool) func(*Case) bool {
	return func(c *Case) bool { return a(c) || b(c) }
}

func not(a func(*Case) bool) func(*Case) bool { return func(c *Case) bool { return !a(c) } }

func always(*Case) bool { return true }
