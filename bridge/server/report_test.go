package server

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// ledger is a store that keeps counts as one should, and loses answers on demand.
type ledger struct {
	stub
	mu        sync.Mutex
	counts    map[string]int64
	numbers   map[string]int64
	lose      int // answers to lose
	additions int
}

func (l *ledger) AddTallies(_ context.Context, t store.Tallies) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.additions++
	if l.numbers[t.Writer] < t.Number {
		l.numbers[t.Writer] = t.Number
		for _, c := range t.List {
			l.counts[fmt.Sprintf("%s/%s %s", c.Namespace, c.Scope, c.Class)] += c.N
		}
	}
	if l.lose > 0 {
		l.lose--
		return store.ErrUnavailable
	}
	return nil
}

func (l *ledger) Tallies(context.Context, int64, int64) ([]store.Tally, error) { return nil, nil }

func newLedger(do func([]store.Operation) []store.Reply) *ledger {
	l := &ledger{counts: map[string]int64{}, numbers: map[string]int64{}}
	l.do = func(_ context.Context, ops []store.Operation) []store.Reply { return do(ops) }
	return l
}

func (l *ledger) want(t *testing.T, b *bridge, want map[string]int64) {
	t.Helper()
	if _, _, err := b.Report(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !maps.Equal(l.counts, want) {
		t.Errorf("got %v\nwant %v", l.counts, want)
	}
}

func each(r store.Reply) func([]store.Operation) []store.Reply {
	return func(ops []store.Operation) []store.Reply {
		replies := make([]store.Reply, len(ops))
		for i := range replies {
			replies[i] = r
		}
		return replies
	}
}

// TestReportCounts: each claim's answer is counted once, as what it is; so is what
// the filter has answered by itself. What is no claim is not counted.
func TestReportCounts(t *testing.T) {
	var reply store.Reply
	l := newLedger(func(ops []store.Operation) []store.Reply { return each(reply)(ops) })
	b := start(t, l)
	send := func(r store.Reply, edit ...func(*wire.Operation)) {
		t.Helper()
		reply = r
		op := testOp(wire.Claim, 1)
		for _, f := range edit {
			f(&op)
		}
		b.send(testPolicy(), op)
	}
	send(store.Reply{Code: wire.Created, Attempt: 1})
	send(store.Reply{Code: wire.Created, Attempt: 2}) // taken over: no first request
	send(store.Reply{Code: wire.InFlight})
	send(store.Reply{Code: wire.InFlight}, func(op *wire.Operation) { op.Again = true })
	send(store.Reply{Code: wire.Replayed, Withheld: true}) // it is asked for once more
	send(store.Reply{Code: wire.KeyUsed, Age: time.Second})
	send(store.Reply{Code: wire.KeyUsed, Age: time.Minute})
	send(store.Reply{Code: wire.KeyUsed, Age: time.Minute}, func(op *wire.Operation) { op.Retried = true })
	send(store.Reply{Code: wire.KeyReused})
	send(store.Reply{Code: wire.OK}, func(op *wire.Operation) { *op = testOp(wire.Renew, 1) })
	b.sendBatch(&wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Tallies: []wire.Tally{
		{Scope: "payments", Class: wire.ClientRetry, N: 40},
		{Scope: "orders", Class: wire.Reused, N: 2},
		{Scope: "orders", Class: wire.SuspectedNew, N: 2}, // not the filter's to say
		{Scope: "orders", Class: 99, N: 2},
		{Scope: "", Class: wire.Reused, N: 2},
		{Scope: strings.Repeat("x", wire.MaxScopeBytes+1), Class: wire.Reused, N: 2},
	}})
	if l.additions != 0 {
		t.Errorf("%d additions before anybody asked", l.additions)
	}
	l.lose = 2
	if _, _, err := b.Report(t.Context(), time.Now()); err == nil {
		t.Error("no error though nothing was stored")
	}
	if _, _, err := b.Report(t.Context(), time.Now()); err == nil {
		t.Error("no error though nothing was stored")
	}
	l.want(t, b, map[string]int64{
		"edge/payments first": 1, "edge/payments double-click": 2, "edge/payments client-retry": 41,
		"edge/payments gateway-retry": 1, "edge/payments key-reused": 1, "edge/orders key-reused": 2,
	})
}

// TestReportSuspects: a second key of the same principal for the same thing, a
// moment later.
func TestReportSuspects(t *testing.T) {
	l := newLedger(each(store.Reply{Code: wire.Created, Attempt: 1}))
	var now time.Time
	b := start(t, l, func(c *Config) { c.Now = func() time.Time { return now } })
	began := time.Now()
	for _, c := range []struct {
		at             time.Duration
		key, principal string
		body           byte
	}{
		{0, "a", "p", 1},
		{0, "a", "p", 1}, // released, and granted again
		{0, "b", "p", 2},
		{0, "c", "q", 1},
		{time.Minute, "d", "p", 1},       // suspected
		{2 * time.Minute, "e", "p", 1},   // suspected: a minute after d
		{5 * time.Minute, "f", "p", 1},   // too late
		{12 * time.Minute, "g", "p", 1},  // too late by two generations
		{12 * time.Minute, "h", "p", 99}, // without a body
		{12 * time.Minute, "i", "p", 99},
	} {
		now = began.Add(c.at)
		op := testOp(wire.Claim, 1)
		op.Key, op.Principal, op.Fingerprint = c.key, c.principal, testFingerprint(c.body)
		if c.body == 99 {
			op.Fingerprint = wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartMethod, wire.AlgorithmFixed, [32]byte{9})
		}
		b.send(testPolicy(), op)
	}
	l.want(t, b, map[string]int64{"edge/payments first": 10, "edge/payments suspected-new-key": 2})
}

func TestSketchIsBounded(t *testing.T) {
	s := newSketch()
	now := time.Now()
	for i := range 3 * sketchSize {
		op := testOp(wire.Claim, 1)
		op.Principal = fmt.Sprint(i)
		if s.another(now, "edge", &op) {
			t.Fatal("suspected")
		}
	}
	if n := len(s.now) + len(s.before); n > 2*sketchSize {
		t.Errorf("%d keys are remembered, want at most %d", n, 2*sketchSize)
	}
}

// TestReportIsBounded: whoever may send batches cannot make it grow without end.
func TestReportIsBounded(t *testing.T) {
	l := newLedger(each(store.Reply{Code: wire.KeyReused}))
	b := start(t, l)
	for n := 0; n < maxCounts+wire.MaxTallies; n += wire.MaxTallies {
		var tallies []wire.Tally
		for i := range wire.MaxTallies {
			tallies = append(tallies, wire.Tally{Scope: fmt.Sprint(n + i), Class: wire.Reused, N: 1})
		}
		b.sendBatch(&wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Tallies: tallies})
	}
	if n := len(b.report.counts); n > maxCounts+1 {
		t.Errorf("%d counts, want at most %d", n, maxCounts+1)
	}
	if _, _, err := b.Report(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := l.counts["/ key-reused"]; got != wire.MaxTallies {
		t.Errorf("%d without a name, want %d", got, wire.MaxTallies)
	}
}

// TestReportAtTheEnd: a bridge that ends in order leaves its counts behind.
func TestReportAtTheEnd(t *testing.T) {
	l := newLedger(each(store.Reply{Code: wire.KeyReused}))
	b := start(t, l)
	b.send(testPolicy(), testOp(wire.Claim, 1))
	b.client.CloseIdleConnections()
	b.stop()
	<-b.done
	if got := l.counts["edge/payments key-reused"]; got != 1 {
		t.Errorf("%v", l.counts)
	}
}
