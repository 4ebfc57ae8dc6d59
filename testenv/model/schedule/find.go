package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// find carries a reconciler's finding out and compares, as decide does an
// operator's decision.
func (s *run) find(ctx context.Context, a Action, name store.Name, before *table.Record) ([]string, error) {
	f := store.Finding{
		Name: name, Owner: s.owners[a.Owner], Fence: s.fence(a, before.Fence), Outcome: store.Outcome(a.Verb - FindResult + 1),
		Status: a.Status, Result: []byte(a.Body), Deadline: time.Now().Add(patience),
	}
	if a.Theirs && before.Owner != "" {
		f.Owner = []byte(before.Owner)
	}
	return s.compared(name, doing{
		what: fmt.Sprintf("%s, fence %d", a, f.Fence),
		do: func() (store.Reply, string) {
			v, err := s.recoverer().Reconcile(ctx, f)
			return store.Reply{Code: wire.Code(v), Err: err}, fmt.Sprintf("verdict %d err %v", v, err)
		},
		table: func(r table.Record, now int64) (table.Record, store.Reply, *table.Row) {
			after, v, row := table.Reconcile(r, &f, now, s.t.Limits())
			return after, store.Reply{Code: wire.Code(v)}, row
		},
	})
}

// recoverer is the store as reconcilers see it; it is an operator's too.
func (s *run) recoverer() store.Recoverer { return s.t.Inspector().(store.Recoverer) }

// tend looks after the indexes and compares.
func (s *run) tend(ctx context.Context, a Action, name store.Name) ([]string, error) {
	return s.compared(name, doing{
		what: a.String(), blind: a.Verb == Tidy,
		do: func() (store.Reply, string) {
			var n int
			var err error
			if a.Verb == Walk {
				n, err = s.recoverer().Reindex(ctx, 0)
			} else {
				n, err = s.recoverer().Tidy(ctx, int(name[0])*s.recoverer().Shares()/256)
			}
			return store.Reply{Err: err}, fmt.Sprintf("%d repaired, err %v", n, err)
		},
		table: func(r table.Record, now int64) (table.Record, store.Reply, *table.Row) {
			do := table.Tidy
			if a.Verb == Walk {
				do = table.Walk
			}
			after, row := do(r, now)
			return after, store.Reply{}, row
		},
	})
}
