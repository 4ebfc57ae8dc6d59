package table

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// looked is met by every look at a record; it is no row of the table, since
// nothing changes.
var looked = Row{Name: "look"}

// Look is what a record's caller may see of it.
func Look(r Record, now int64) (store.Reply, *Row) {
	past := r.Past(now) && r.Policy.TombstoneMS == 0 && !r.Policy.Issued
	if r.State == Absent || past {
		return store.Reply{Code: wire.NotFound}, &looked
	}
	a := store.Reply{
		Code: wire.Found, Status: r.Status,
		State: [...]store.State{store.Absent, store.Issued, store.Released, store.Processing, store.Unknown, store.Executed, store.Completed}[r.State],
	}
	if r.Claimed > 0 {
		a.Age = span(max(now-r.Claimed, 0))
	}
	if r.Unresolved() || r.State == Executed {
		a.RetryAfter = span(max(r.LeaseEnd-now, 0))
	}
	switch {
	case r.Final():
		a.Remaining = span(max(r.Expires-now, 0))
	case r.State == Issued:
		a.Remaining = span(max(r.KeyExpires-now, 0))
	}
	if r.State == Completed && !r.Past(now) {
		a.Result = []byte(r.Result)
	}
	return a, &looked
}
