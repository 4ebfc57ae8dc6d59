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

// within a test no bucket regains a whole token: one in 1000 s.
func slow(q *quota, have float64) {
	q.keys = bucket{rate: .001, most: 100, have: have}
	q.bytes = bucket{rate: .001, most: 1 << 20, have: have}
}

func withQuota(q Quota) func(*Config) { return func(c *Config) { c.Quotas = append(c.Quotas, q) } }

func claimOf(key int) wire.Operation {
	op := testOp(wire.Claim, byte(key))
	op.Key = fmt.Sprint("key-", key)
	return op
}

// TestQuotaOfNewKeys: over the quota no claim reaches the store; repeats of keys
// that have a record, and takeovers, cost nothing.
func TestQuotaOfNewKeys(t *testing.T) {
	b := start(t, embedded(t), withQuota(Quota{Namespace: "edge", NewKeys: 1}))
	slow(b.quotas["edge"], 3)
	p := testPolicy()
	expect(t, b.send(p, claimOf(1), claimOf(2)), wire.Created, wire.Created)
	for range 5 {
		expect(t, b.send(p, testOpOf(wire.Claim, 9, "key-1")), wire.InFlight)
	}
	got := b.send(p, claimOf(3), claimOf(4), testOpOf(wire.Complete, 1, "key-1"))
	expect(t, got, wire.Created, wire.OverQuota, wire.OK)
	if got[1].RetryAfterMS < 999_000 || got[1].RetryAfterMS > 1_000_001 {
		t.Errorf("retry after %d ms, want the time of one token", got[1].RetryAfterMS)
	}
	// Repeats cannot be told apart now.
	expect(t, b.send(p, testOpOf(wire.Claim, 9, "key-1")), wire.OverQuota)
	// Another namespace has no quota.
	expect(t, b.sendBatch(&wire.Batch{Namespace: "other", Policies: []wire.Policy{p}, Ops: []wire.Operation{claimOf(5)}}), wire.Created)
	b.quotas["edge"].keys.give(1)
	expect(t, b.send(p, testOpOf(wire.Claim, 9, "key-1")), wire.Replayed)
	expect(t, b.send(p, claimOf(6)), wire.Created)
	_, metrics := b.get("/metrics")
	if want := `oncewall_bridge_over_quota_total{namespace="edge",quota="new_keys"} 2`; !strings.Contains(metrics, want) {
		t.Errorf("no %s", want)
	}
	if n := strings.Count(b.logs.String(), "quota used up"); n != 1 {
		t.Errorf("%d log lines, want 1: %s", n, b.logs)
	}
}

func testOpOf(kind wire.Kind, owner byte, key string) wire.Operation {
	op := testOp(kind, owner)
	op.Key = key
	return op
}

// TestQuotaOfIssuedKeys: issuing makes the record, and the claim is free.
func TestQuotaOfIssuedKeys(t *testing.T) {
	b := start(t, embedded(t), withQuota(Quota{Namespace: AnyNamespace, NewKeys: 1}))
	slow(b.quotas[AnyNamespace], 1)
	p := testPolicy()
	p.Issued = true
	got := b.send(p, testOp(wire.Issue, 0), testOp(wire.Issue, 0))
	expect(t, got, wire.Issued, wire.OverQuota)
	expect(t, b.send(p, testOpOf(wire.Claim, 1, got[0].Key)), wire.Created)
}

// TestQuotaOfATakeover: the key that is granted again has its record already.
func TestQuotaOfATakeover(t *testing.T) {
	for _, again := range []store.Reply{{Code: wire.Created, Attempt: 2, Takeover: true}, {Code: wire.Created, Attempt: 2}} {
		b := start(t, answering(again), withQuota(Quota{Namespace: "edge", NewKeys: 1}))
		slow(b.quotas["edge"], 1)
		for range 3 {
			expect(t, b.send(testPolicy(), claimOf(1)), wire.Created)
		}
	}
}

// TestQuotaOfALostAnswer: a claim whose effect is not known may have made a
// record, and stays counted.
func TestQuotaOfALostAnswer(t *testing.T) {
	b := start(t, answering(store.Reply{Err: store.ErrUnavailable}), withQuota(Quota{Namespace: "edge", NewKeys: 1}))
	slow(b.quotas["edge"], 2)
	expect(t, b.send(testPolicy(), claimOf(1), claimOf(2), claimOf(3)), wire.Unavailable, wire.Unavailable, wire.OverQuota)
}

// TestQuotaOfResults: what is over a quota of bytes is recorded as executed
// without its result, and the completion is acknowledged.
func TestQuotaOfResults(t *testing.T) {
	for name, tc := range map[string]struct {
		quota Quota
		have  float64
		label string
		first wire.Code // what a repeat of the first completion is told
	}{
		"enough":    {Quota{"edge", 0, 1 << 20, 1 << 20}, 1 << 20, "", wire.Replayed},
		"debt":      {Quota{"edge", 0, 1 << 20, 0}, 1, "result_bytes", wire.Replayed},
		"used up":   {Quota{"edge", 0, 1 << 20, 0}, -1, "result_bytes", wire.ResponseNotKept},
		"too large": {Quota{"edge", 0, 0, int64(len(testResult()) - 1)}, 0, "max_result", wire.ResponseNotKept},
		"just fits": {Quota{"edge", 0, 0, int64(len(testResult()))}, 0, "", wire.Replayed},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, embedded(t), withQuota(tc.quota))
			slow(b.quotas["edge"], tc.have)
			p := testPolicy()
			expect(t, b.send(p, claimOf(1), claimOf(2)), wire.Created, wire.Created)
			expect(t, b.send(p, testOpOf(wire.Complete, 1, "key-1")), wire.OK)
			expect(t, b.send(p, testOpOf(wire.Complete, 2, "key-2")), wire.OK)
			second := wire.ResponseNotKept
			if tc.label == "" {
				second = wire.Replayed
			}
			got := b.send(p, testOpOf(wire.Claim, 9, "key-1"), testOpOf(wire.Claim, 9, "key-2"))
			expect(t, got, tc.first, second)
			if got[0].Status != 201 {
				t.Errorf("status %d", got[0].Status)
			}
			_, metrics := b.get("/metrics")
			if tc.label != "" && !strings.Contains(metrics, `quota="`+tc.label+`"}`) {
				t.Errorf("%s is not counted", tc.label)
			}
		})
	}
}

// TestQuotaOfARepeatedCompletion: the store was away, the completion is sent
// again, and its bytes count once.
func TestQuotaOfARepeatedCompletion(t *testing.T) {
	replies := []store.Reply{{Err: store.ErrUnavailable}, {Code: wire.OK}}
	var results []int
	st := &stub{do: func(_ context.Context, ops []store.Operation) []store.Reply {
		r := replies[0]
		replies = replies[1:]
		results = append(results, len(ops[0].Result))
		return []store.Reply{r}
	}}
	b := start(t, st, withQuota(Quota{Namespace: "edge", ResultBytes: 1}))
	slow(b.quotas["edge"], 1)
	expect(t, b.send(testPolicy(), testOp(wire.Complete, 1)), wire.Unavailable)
	expect(t, b.send(testPolicy(), testOp(wire.Complete, 1)), wire.OK)
	if len(results) != 2 || results[0] == 0 || results[1] != results[0] {
		t.Errorf("results of %d bytes", results)
	}
}

func TestBucket(t *testing.T) {
	b := newBucket(2) // holds 20
	now := time.Unix(1000, 0)
	for i := range 20 {
		if _, ok := b.take(now, 1, 1); !ok {
			t.Fatalf("empty after %d of 20", i)
		}
	}
	if wait, ok := b.take(now, 1, 1); ok || wait != 500*time.Millisecond {
		t.Errorf("%t, wait %s; want half a second", ok, wait)
	}
	if _, ok := b.take(now.Add(500*time.Millisecond), 1, 1); !ok {
		t.Error("nothing after half a second")
	}
	if _, ok := b.take(now, 1, 1); ok {
		t.Error("a clock that went back filled it")
	}
	now = now.Add(time.Hour)
	if _, ok := b.take(now, 0, 1000); !ok {
		t.Error("more than it holds is never let through")
	}
	if wait, ok := b.take(now, 0, 1); ok || wait != 490*time.Second {
		t.Errorf("%t, wait %s; want the time of the debt", ok, wait)
	}
	b.give(1e9)
	if b.have != 20 {
		t.Errorf("holds %v, want 20 at most", b.have)
	}
}

func TestTwoQuotasOfOneNamespace(t *testing.T) {
	q := Quota{Namespace: "edge", NewKeys: 1}
	if _, err := New(Config{Store: answering(store.Reply{}), Keys: testRing(t), Quotas: []Quota{q, q}}); err == nil {
		t.Error("accepted")
	}
}
