package redis_test

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestLaterRecord: a record of a version that this one does not know is answered
// invalid by every operation, shown as such, left out of every list, and stays as
// it is. One that says 1, and one that says nothing, are served.
func TestLaterRecord(t *testing.T) {
	s, err := redis.Embedded(redis.EmbeddedConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	name := store.Name{7}
	policy := &wire.Policy{TTLMS: 60_000, LeaseMS: 60_000, MaxAttempts: 3, Recovery: wire.Reacquire}
	do := func(kind wire.Kind, owner byte) store.Reply {
		op := store.Operation{Kind: kind, Name: name, Owner: make([]byte, wire.OwnerBytes), Policy: policy, Status: 201,
			Life: time.Minute, Deadline: time.Now().Add(time.Minute)}
		op.Owner[0] = owner
		return s.Do(t.Context(), []store.Operation{op})[0]
	}
	c := s.Client()
	version := func(v string) {
		t.Helper()
		if err := c.Do(t.Context(), c.B().Hset().Key(record(name)).FieldValue().FieldValue("v", v).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	if r := do(wire.Claim, 1); r.Code != wire.Created {
		t.Fatalf("claim: %+v", r)
	}
	version("1")
	if r := do(wire.Claim, 2); r.Code != wire.InFlight {
		t.Fatalf("claim of a record of version 1: %+v", r)
	}
	version("2")
	dump := func() map[string]string {
		m, err := c.Do(t.Context(), c.B().Hgetall().Key(record(name)).Build()).AsStrMap()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := dump()
	s.Advance(90 * time.Second) // the lease is over, and the rule would grant the key again
	for _, kind := range []wire.Kind{wire.Issue, wire.Claim, wire.Executed, wire.Complete, wire.Release, wire.Unknown, wire.Renew, wire.Get} {
		if r := do(kind, 1); r.Err != nil || r.Code != wire.Invalid {
			t.Errorf("kind %d: %+v, want invalid", kind, r)
		}
	}
	if r := s.Peek(t.Context(), &store.Operation{Kind: wire.Wait, Name: name, Policy: policy}); r.Code != wire.Invalid {
		t.Errorf("wait: %+v, want invalid", r)
	}
	if r, err := s.Get(t.Context(), name, true); err != nil || r.State != store.Later {
		t.Errorf("get: %+v, %v", r, err)
	}
	if list, _, err := s.Overdue(t.Context(), "", 10); err != nil || len(list) != 0 {
		t.Errorf("overdue: %+v, %v", list, err)
	}
	if n, err := s.Sweep(t.Context(), int(name[0])*4); n != 0 || err != nil {
		t.Errorf("sweep: %d, %v", n, err)
	}
	if _, err := s.Erase(t.Context(), store.Erasure{Name: name, Forget: true, Force: true}); err == nil {
		t.Error("erased")
	}
	if _, err := s.Resolve(t.Context(), store.Resolution{Name: name, Fence: 1, Action: store.Free, Owner: make([]byte, 24)}); err == nil {
		t.Error("resolved")
	}
	f := store.Finding{Name: name, Owner: make([]byte, 24), Fence: 1, Outcome: store.FoundNothing}
	if _, err := s.Reconcile(t.Context(), f); err == nil {
		t.Error("reconciled")
	}
	after := dump()
	if len(after) != len(before) {
		t.Errorf("the record changed: %v, before %v", after, before)
	}
	for k, v := range before {
		if after[k] != v {
			t.Errorf("field %s changed", k)
		}
	}
}
