package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// look reads a record as its caller may, and compares.
func (s *run) look(ctx context.Context, a Action, name store.Name) ([]string, error) {
	op := store.Operation{Kind: wire.Get, Name: name, Policy: &a.Policy, Deadline: time.Now().Add(patience)}
	return s.compared(name, doing{
		what: a.String(), blind: true,
		do: func() (store.Reply, string) {
			got := s.t.Store().Do(ctx, []store.Operation{op})[0]
			return got, fmt.Sprintf("code %d state %d err %v", got.Code, got.State, got.Err)
		},
		table: func(r table.Record, now int64) (table.Record, store.Reply, *table.Row) {
			reply, row := table.Look(r, now)
			return r, reply, row
		},
	})
}
