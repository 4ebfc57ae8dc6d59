package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

func TestMargin(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{
		time.Second:            100 * time.Millisecond,
		30 * time.Millisecond:  5 * time.Millisecond,
		4 * time.Millisecond:   2 * time.Millisecond,
		250 * time.Millisecond: 25 * time.Millisecond,
	} {
		if got := margin(budget); got != want {
			t.Errorf("%s: %s, want %s", budget, got, want)
		}
	}
}

// TestDeadlines: the batch has the smallest budget's, each operation its own,
// and an operation that is not valid has no say.
func TestDeadlines(t *testing.T) {
	type seen struct {
		ctx time.Time
		ops []time.Time
	}
	got := make(chan seen, 1)
	b := start(t, &stub{do: func(ctx context.Context, ops []store.Operation) []store.Reply {
		s := seen{}
		s.ctx, _ = ctx.Deadline()
		for _, op := range ops {
			s.ops = append(s.ops, op.Deadline)
		}
		got <- s
		return make([]store.Reply, len(ops))
	}})
	short, long, huge, bad := testOp(wire.Claim, 1), testOp(wire.Claim, 2), testOp(wire.Claim, 3), testOp(wire.Claim, 4)
	short.BudgetMS, long.BudgetMS, huge.BudgetMS, bad.BudgetMS = 1000, 4000, 4_000_000_000, 1
	bad.Owner = nil
	b.send(testPolicy(), long, short, huge, bad)
	s := await(t, got)
	if len(s.ops) != 3 {
		t.Fatalf("%d operations reached the store", len(s.ops))
	}
	arrival := s.ops[1].Add(-time.Second)
	for i, want := range []time.Duration{4 * time.Second, time.Second, MaxBudget} {
		if d := s.ops[i].Sub(arrival); d != want {
			t.Errorf("operation %d: deadline after %s, want %s", i, d, want)
		}
	}
	if d := s.ctx.Sub(arrival); d != 900*time.Millisecond {
		t.Errorf("context ends after %s, want 900ms", d)
	}
}

// TestFaultyStore: whatever the store does, the batch is answered in time, each
// operation unavailable, and nothing of it goes back to the pool.
func TestFaultyStore(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, do := range map[string]func(context.Context, []store.Operation) []store.Reply{
		"hangs":  func(context.Context, []store.Operation) []store.Reply { <-release; return nil },
		"panics": func(context.Context, []store.Operation) []store.Reply { panic("boom") },
		"too few": func(_ context.Context, ops []store.Operation) []store.Reply {
			return make([]store.Reply, len(ops)-1)
		},
		"waits for the end": func(ctx context.Context, ops []store.Operation) []store.Reply {
			<-ctx.Done()
			return answering(store.Reply{Err: fmt.Errorf("%w: too slow", store.ErrUnavailable)}).do(ctx, ops)
		},
		"no code": func(_ context.Context, ops []store.Operation) []store.Reply {
			return make([]store.Reply, len(ops))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, &stub{do: do}, func(c *Config) {
				if name == "hangs" {
					c.DrainTimeout = 50 * time.Millisecond
				}
			})
			one, two := testOp(wire.Claim, 1), testOp(wire.Issue, 2)
			one.BudgetMS, two.BudgetMS = 60_000, 60_000
			if name == "hangs" || name == "waits for the end" {
				one.BudgetMS = 300
			}
			began := time.Now()
			expect(t, b.send(testPolicy(), one, two), wire.Unavailable, wire.Unavailable)
			// At its deadline or, where the fault is known, at once: far from the
			// minute, with room for a slow machine.
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("answered after %s", took)
			}
			b.stop()
			if settled := await(t, b.done); settled != (name != "hangs") {
				t.Errorf("settled %v: the store may be closed", settled)
			}
		})
	}
}

// TestPartialAnswers: what did answer is not lost with what did not.
func TestPartialAnswers(t *testing.T) {
	b := start(t, &stub{do: func(ctx context.Context, ops []store.Operation) []store.Reply {
		<-ctx.Done()
		return []store.Reply{{Code: wire.Created, Fence: 7}, {Err: store.ErrUnavailable}}
	}})
	one, two := testOp(wire.Claim, 1), testOp(wire.Claim, 2)
	one.BudgetMS = 1000
	got := b.send(testPolicy(), one, two)
	expect(t, got, wire.Created, wire.Unavailable)
	if got[0].Fence != 7 {
		t.Errorf("%+v", got[0])
	}
}

// TestUnsettledBatchIsNotReused: a store that has not answered an operation may
// still read it.
func TestUnsettledBatchIsNotReused(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, tc := range map[string]struct {
		store   *stub
		settled bool
	}{
		"answered": {answering(store.Reply{Code: wire.OK}), true},
		"not":      {answering(store.Reply{Err: store.ErrUnavailable}), false},
		"hangs":    {&stub{do: func(context.Context, []store.Operation) []store.Reply { <-release; return nil }}, false},
	} {
		s, err := New(Config{Store: tc.store, Keys: testRing(t)})
		if err != nil {
			t.Fatal(err)
		}
		op := testOp(wire.Claim, 1)
		op.BudgetMS = 100
		j := &job{arrival: time.Now(), batch: wire.Batch{Namespace: "edge",
			Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{op}}}
		s.prepare(j, false)
		if _, settled := s.do(j); settled != tc.settled {
			t.Errorf("%s: settled %v", name, settled)
		}
	}
}

// TestRecycledJobIsEmpty: whatever a batch left behind would become the next
// one's.
func TestRecycledJobIsEmpty(t *testing.T) {
	s, err := New(Config{Store: answering(store.Reply{Code: wire.OK}), Keys: testRing(t)})
	if err != nil {
		t.Fatal(err)
	}
	full := testOp(wire.Complete, 1)
	full.Fence, full.Unprotected, full.NoResult = 5, true, true
	j := &job{arrival: time.Now()}
	run := func(body []byte) {
		j.body = append(j.body[:0], body...)
		if err := wire.DecodeBatch(j.body, &j.batch); err != nil {
			t.Fatal(err)
		}
		s.prepare(j, false)
		replies, _ := s.do(j)
		s.finish(j, replies)
	}
	run(encode(t, &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{full, full}}))
	j.reset()
	run(encode(t, &wire.Batch{Policies: []wire.Policy{{}}, Ops: []wire.Operation{{}}}))
	op, policy := j.batch.Ops[0], j.batch.Policies[0]
	if op.Kind != 0 || op.Key != "" || op.Owner != nil || op.Fence != 0 || op.Fingerprint != nil || op.Status != 0 ||
		op.NoResult || op.Result != nil || op.Unprotected {
		t.Errorf("operation kept %+v", op)
	}
	if policy != (wire.Policy{}) || j.batch.Namespace != "" {
		t.Errorf("policy kept %+v", policy)
	}
	if len(j.ops) != 0 || len(j.index) != 0 || len(j.policies) != 1 || len(j.results) != 1 || j.results[0].Code != wire.Invalid {
		t.Errorf("job kept %+v", j)
	}
}

// TestOneLogLinePerFailure: a store that fails a thousand batches is one event.
func TestOneLogLinePerFailure(t *testing.T) {
	b := start(t, answering(store.Reply{Err: store.ErrUnavailable}))
	for range 20 {
		b.send(testPolicy(), testOp(wire.Claim, 1))
	}
	if n := strings.Count(b.logs.String(), "store unavailable"); n != 1 {
		t.Errorf("%d lines", n)
	}
	b.health.answered() // too soon after the failure
	b.health.lastFailure.Store(time.Now().Add(-quietAfter - time.Second).UnixNano())
	b.health.answered()
	b.health.answered()
	if n := strings.Count(b.logs.String(), "available again"); n != 1 {
		t.Errorf("%d lines of recovery", n)
	}
}

func TestMaxInFlight(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	b := start(t, &stub{do: func(ctx context.Context, ops []store.Operation) []store.Reply {
		close(entered)
		<-release
		return answering(store.Reply{Code: wire.OK}).do(ctx, ops)
	}}, func(c *Config) { c.MaxInFlight = 1 })
	first := make(chan []wire.Result, 1)
	go func() { first <- b.send(testPolicy(), testOp(wire.Claim, 1)) }()
	await(t, entered)
	resp, body := b.post(encode(t, &wire.Batch{Namespace: "edge"}))
	if resp.StatusCode != 503 || !strings.Contains(string(body), "max_in_flight is 1") {
		t.Errorf("status %d: %s", resp.StatusCode, body)
	}
	close(release)
	expect(t, await(t, first), wire.OK)
}
