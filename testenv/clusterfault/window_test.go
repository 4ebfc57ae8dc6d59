package clusterfault

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// A master dies after it has acknowledged a claim and before its replica has it.
// Without replicas the key is granted a second time: this is what a rule accepts
// that states none. With replicas the claim was never granted.
func TestKilledBetweenAcknowledgementAndReplication(t *testing.T) {
	for _, test := range []struct {
		name     string
		replicas int64
		grants   int
	}{
		{"without replicas", 0, 2},
		{"replicas 1", 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := start(t, rediscluster.Config{})
			r.healthy()
			master := r.master(0)
			replica := r.replica(master)
			name := newName(r.bucket(0))
			grants := 0
			claims := func() (ok bool) {
				reply := r.one(r.claim(name, newOwner(), policyOf(test.replicas), budget))
				if reply.Err == nil && reply.Code == wire.Created {
					grants++
				}
				return reply.Err == nil
			}
			// The replica hangs, and its link is cut, so that nothing waits for it in
			// a socket.
			if err := replica.Pause(); err != nil {
				t.Fatal(err)
			}
			r.command(master, "CLIENT", "KILL", "TYPE", "replica")
			if first := claims(); first != (test.replicas == 0) {
				t.Fatalf("claim answered: %v", first)
			}
			master.Kill()
			if err := replica.Resume(); err != nil {
				t.Fatal(err)
			}
			r.eventually("the replica has taken over", func() bool {
				return r.one(r.claim(newName(r.bucket(0)), newOwner(), policyOf(0), budget)).Err == nil
			})
			// The old master comes back as a replica, for the rule that wants one.
			if err := master.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.eventually("an answer", claims)
			if grants != test.grants {
				t.Errorf("%d grants, want %d", grants, test.grants)
			}
		})
	}
}

// While a replica hangs, a claim that wants it is answered by its deadline, and
// what was granted in vain is given back: another owner gets the key as soon as
// the replica follows again.
func TestTooFewReplicas(t *testing.T) {
	t.Parallel()
	r := start(t, rediscluster.Config{NodeTimeout: time.Minute})
	r.healthy()
	bucket := r.bucket(1)
	replica := r.replica(r.master(1))
	finished, first := newName(bucket), newOwner()
	finish := func(budget time.Duration) wire.Code {
		op := r.claim(finished, first, policyOf(1), budget)
		op.Kind, op.Status, op.Result = wire.Complete, 201, []byte("result")
		reply := r.one(op)
		if reply.Err != nil {
			return wire.Unavailable
		}
		return reply.Code
	}
	if reply := r.one(r.claim(finished, first, policyOf(1), time.Second)); reply.Code != wire.Created {
		t.Fatalf("claim: %+v", reply)
	}
	if err := replica.Pause(); err != nil {
		t.Fatal(err)
	}
	defer replica.Resume()

	name, owner := newName(bucket), newOwner()
	begin := time.Now()
	if reply := r.one(r.claim(name, owner, policyOf(1), budget)); reply.Err == nil {
		t.Fatalf("claim: %+v, want unavailable", reply)
	}
	if took := time.Since(begin); took < budget/2 || took > budget+grace {
		t.Errorf("unavailable after %v, want within %v", took, budget)
	}
	if st := r.command(r.master(1), "HGET", record(name), "st"); st != "R" {
		t.Errorf("state %q, want R: given back", st)
	}
	if code := finish(budget); code != wire.Unavailable {
		t.Errorf("complete: code %d, want unavailable", code)
	}
	// The record says that it has run. Until a replica says so too a repeat is
	// sent away, not told that the store is away: some rules forward then.
	if reply := r.one(r.claim(finished, newOwner(), policyOf(1), budget)); reply.Code != wire.InFlight || reply.RetryAfter == 0 {
		t.Errorf("claim of a finished key: %+v, want in-flight", reply)
	}
	// A caller whose rule wants no replica meets a record that does.
	if reply := r.one(r.claim(finished, newOwner(), policyOf(0), budget)); reply.Code != wire.InFlight {
		t.Errorf("the same under a rule without replicas: %+v, want in-flight", reply)
	}
	begin = time.Now()
	if reply := r.one(r.claim(newName(bucket), newOwner(), policyOf(0), budget)); reply.Code != wire.Created {
		t.Errorf("claim that wants no replica: %+v, want created", reply)
	}
	if took := time.Since(begin); took > budget/2 {
		t.Errorf("it took %v beside those that wait", took)
	}
	if err := replica.Resume(); err != nil {
		t.Fatal(err)
	}
	r.eventually("complete is acknowledged", func() bool { return finish(budget) == wire.OK })
	if reply := r.one(r.claim(finished, newOwner(), policyOf(1), time.Second)); reply.Code != wire.Replayed {
		t.Errorf("repeat: %+v, want replayed", reply)
	}
	if reply := r.one(r.claim(name, newOwner(), policyOf(1), time.Second)); reply.Code != wire.Created || reply.Takeover {
		t.Errorf("claim of the key given back: %+v, want created", reply)
	}
}

// A grant is not undone once its owner has heard of it by another way: its first
// try hung, its second was granted, and only then the first is given up.
func TestUndoSparesAnOwnerWhoAskedAgain(t *testing.T) {
	t.Parallel()
	r := start(t, rediscluster.Config{NodeTimeout: time.Minute})
	r.healthy()
	replica := r.replica(r.master(1))
	if err := replica.Pause(); err != nil {
		t.Fatal(err)
	}
	defer replica.Resume()
	name, owner := newName(r.bucket(1)), newOwner()
	first := make(chan error, 1)
	go func() { first <- r.one(r.claim(name, owner, policyOf(1), 2*budget)).Err }()
	r.eventually("the first try is granted", func() bool {
		return r.command(r.master(1), "HGET", record(name), "st") == "P"
	})
	if reply := r.one(r.claim(name, owner, policyOf(1), budget)); reply.Err == nil {
		t.Fatalf("second try: %+v, want unavailable", reply)
	}
	if err := <-first; err == nil {
		t.Fatal("first try was acknowledged, want unavailable")
	}
	if st := r.command(r.master(1), "HGET", record(name), "st"); st != "P" {
		t.Errorf("state %q, want P: the owner asked again", st)
	}
}
