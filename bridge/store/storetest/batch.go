package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// batchRows: many operations in one Do.
var batchRows = []row{
	{"replies stand in the order of the operations", func(k *key) {
		var ops []store.Operation
		for i := range 300 {
			other := newKey(k.T, k.h)
			op := other.operation(wire.Complete, owner(), 1)
			op.Status, op.Result = uint16(200+i), fmt.Appendf(nil, "result %d", i)
			ops = append(ops, op)
		}
		k.h.Store.Do(k.Context(), ops)
		claims := make([]store.Operation, len(ops))
		for i := range ops {
			claims[i] = ops[i]
			claims[i].Kind, claims[i].Owner = wire.Claim, owner()
		}
		for i, r := range k.h.Store.Do(k.Context(), claims) {
			if r.Code != wire.Replayed || int(r.Status) != 200+i || string(r.Result) != fmt.Sprintf("result %d", i) {
				k.Fatalf("reply %d: %+v", i, r)
			}
		}
	}},
	{"operations of one record keep their order", func(k *key) {
		o1, o2 := owner(), owner()
		ops := []store.Operation{
			k.operation(wire.Claim, o1, 0),
			k.operation(wire.Claim, o2, 0),
			k.operation(wire.Release, o1, 0),
			k.operation(wire.Claim, o1, 0),
			k.operation(wire.Claim, o2, 0),
			k.operation(wire.Executed, o2, 0),
			k.operation(wire.Complete, o2, 0),
			k.operation(wire.Claim, o1, 0),
		}
		ops[5].Status, ops[6].Status, ops[6].Result = 200, 200, []byte("r")
		want := []wire.Code{wire.Created, wire.InFlight, wire.OK, wire.Stale, wire.Created, wire.OK, wire.OK, wire.Replayed}
		for i, r := range k.h.Store.Do(k.Context(), ops) {
			if r.Code != want[i] {
				k.Errorf("operation %d: code %d (%v), want %d", i, r.Code, r.Err, want[i])
			}
		}
	}},
	{"an operation whose deadline has passed is not begun", func(k *key) {
		other := newKey(k.T, k.h)
		ops := []store.Operation{k.operation(wire.Claim, owner(), 0), other.operation(wire.Claim, owner(), 0)}
		ops[0].Deadline = time.Now().Add(-time.Millisecond)
		r := k.h.Store.Do(k.Context(), ops)
		if !errors.Is(r[0].Err, store.ErrUnavailable) || r[1].Code != wire.Created {
			k.Fatalf("%+v", r)
		}
		if r := k.want(k.claim(owner()), wire.Created); r.Attempt != 1 {
			k.Fatalf("%+v", r)
		}
	}},
	{"after the end of the context everything is unavailable", func(k *key) {
		ctx, cancel := context.WithCancel(k.Context())
		cancel()
		r := k.h.Store.Do(ctx, []store.Operation{k.operation(wire.Claim, owner(), 0)})[0]
		if r.Err != nil && !errors.Is(r.Err, store.ErrUnavailable) {
			k.Fatalf("%+v", r)
		}
		if r.Err == nil {
			k.want(r, wire.Created) // it may have been in time
		}
	}},
	{"no operations", func(k *key) {
		if r := k.h.Store.Do(k.Context(), nil); len(r) != 0 {
			k.Fatalf("%+v", r)
		}
	}},
	{"an operation that cannot be carried out is invalid, its neighbours are not", func(k *key) {
		other := newKey(k.T, k.h)
		ops := []store.Operation{k.operation(wire.Claim, nil, 0), other.operation(wire.Claim, owner(), 0), k.operation(99, owner(), 0)}
		r := k.h.Store.Do(k.Context(), ops)
		if r[0].Code != wire.Invalid || r[1].Code != wire.Created || r[2].Code != wire.Invalid {
			k.Fatalf("%+v", r)
		}
	}},
}

// oneGrant lets 64 owners claim one key at one instant, again and again.
func oneGrant(t *testing.T, h *Harness) {
	const owners, rounds = 64, 20
	for round := range rounds {
		k := newKey(t, h)
		replies := make([]store.Reply, owners)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range owners {
			op := k.operation(wire.Claim, owner(), 0)
			all.Go(func() {
				<-start
				replies[i] = h.Store.Do(t.Context(), []store.Operation{op})[0]
			})
		}
		close(start)
		all.Wait()
		got := map[wire.Code]int{}
		for _, r := range replies {
			if r.Err != nil {
				t.Fatalf("round %d: %v", round, r.Err)
			}
			got[r.Code]++
		}
		if got[wire.Created] != 1 || got[wire.InFlight] != owners-1 {
			t.Fatalf("round %d: codes %v, want 1 created and %d in-flight", round, got, owners-1)
		}
	}
}
