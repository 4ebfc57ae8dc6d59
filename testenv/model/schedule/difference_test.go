package schedule_test

import (
	"context"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/model/schedule"
)

// faulty is a target whose store is changed by twist.
type faulty struct {
	*schedule.Embedded
	twist func(op *store.Operation, r *store.Reply)
}

type twisted struct {
	store.Store
	twist func(op *store.Operation, r *store.Reply)
}

func (f faulty) Store() store.Store { return twisted{f.Embedded.Store(), f.twist} }

func (s twisted) Do(ctx context.Context, ops []store.Operation) []store.Reply {
	for i := range ops {
		s.twist(&ops[i], nil)
	}
	replies := s.Store.Do(ctx, ops)
	for i := range ops {
		s.twist(&ops[i], &replies[i])
	}
	return replies
}

// A store that differs is found, and what is left of its schedule is short.
func TestDifference(t *testing.T) {
	target := embedded(t)
	for _, c := range []struct {
		name, line string
		most       int // actions left
		twist      func(op *store.Operation, r *store.Reply)
	}{
		{"an answer", "answer.Code", 2, func(op *store.Operation, r *store.Reply) {
			if r != nil && r.Code == wire.InFlight {
				r.Code = wire.OutcomeUnknown
			}
		}},
		{"a word that is not carried out", "record.State", 1, func(op *store.Operation, r *store.Reply) {
			if r == nil && op.Kind == wire.Complete {
				op.Kind = wire.Executed
			}
		}},
		{"a take-over that is not told", "answer.Takeover", 3, func(op *store.Operation, r *store.Reply) {
			if r != nil {
				r.Takeover = false
			}
		}},
		{"an older fence taken for the current one", "row", 3, func(op *store.Operation, r *store.Reply) {
			if r == nil && op.Kind == wire.Release {
				op.Fence = 0
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := schedule.Runner{Target: faulty{target, c.twist}}
			for seed := uint64(1); seed < 200; seed++ {
				actions := schedule.Generate(seed, 0)
				d, err := r.Run(t.Context(), actions)
				if err != nil {
					t.Fatal(err)
				}
				if d == nil {
					continue
				}
				actions, d, err = r.Minimise(t.Context(), actions, d)
				if err != nil {
					t.Fatal(err)
				}
				if len(actions) > c.most || !strings.Contains(strings.Join(d.Lines, "\n"), c.line) {
					t.Fatalf("%d actions are left, want at most %d that differ in %s:\n%s", len(actions), c.most, c.line, d)
				}
				return
			}
			t.Fatal("not found")
		})
	}
}
