package model

import (
	"fmt"
	"strings"
)

// state is the state of a record.
type state uint8

const (
	absent state = iota
	processing
	unknown
	completed
	released
	tombstone
	issued
	executed
)

func (s state) String() string {
	return [...]string{"absent", "PROCESSING", "UNKNOWN", "COMPLETED", "RELEASED", "tombstone", "ISSUED", "EXECUTED"}[s]
}

// A record is what one store keeps of the key. Owners and results are numbers of
// requests, from 1; 0 is nobody.
type record struct {
	state                state
	owner, fence, result uint8
	over                 bool  // the lease has ended; EXECUTED: no body is coming
	indexed              bool  // the reconciler would find it
	maybe                bool  // an earlier owner may have been forwarded
	held                 bool  // only a final word or the operator ends it
	noted                uint8 // an earlier owner that is known to have run
	attempts             uint8 // counted only where max_attempts is set
	leavers              uint8 // a bit for each owner that released and that nothing else remembers
}

func (r *record) final() bool {
	return r.state == completed || r.state == executed || r.state == tombstone
}

func (r *record) unresolved() bool { return r.state == processing || r.state == unknown }

// seal ends a claim on which an older owner's success was noted.
func (r *record) seal(fence uint8) {
	*r = record{state: executed, owner: r.noted, fence: fence, result: r.noted, over: true}
}

// leave remembers that owner has released.
func (c *Config) leave(r *record, owner uint8) {
	if c.rule(leaversKept) && owner != 0 {
		r.leavers |= 1 << owner
	}
}

// leftBehind are the leavers of r once another owner follows.
func (c *Config) leftBehind(r record) uint8 {
	if r.state == released || r.state == issued {
		c.leave(&r, r.owner)
	}
	return r.leavers
}

func (r *record) hasLeft(owner uint8) bool { return r.leavers>>owner&1 == 1 }

// copied is r as Redis takes it over from the ledger: a free row of an issued key
// is ISSUED there, since RELEASED would never be granted.
func (r record) copied(c *Config) record {
	if c.Issued && r.state == released {
		r.state = issued
	}
	return r
}

func (r record) String() string {
	if r.state == absent {
		return r.state.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s(o%d f%d", r.state, r.owner, r.fence)
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{r.leavers != 0, "leavers"}, {r.over, "over"}, {r.unresolved() && !r.indexed, "not indexed"}, {r.maybe, "maybe"}, {r.held, "held"},
	} {
		if flag.on {
			b.WriteString(" " + flag.name)
		}
	}
	for _, number := range []struct {
		n    uint8
		name string
	}{
		{r.noted, "noted o"}, {r.attempts, "attempt "}, {r.result, "result of o"},
	} {
		if number.n > 0 {
			fmt.Fprintf(&b, " %s%d", number.name, number.n)
		}
	}
	return b.String() + ")"
}
