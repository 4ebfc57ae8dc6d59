package clusterfault

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// A replica whose clock is ten minutes behind takes over: for its keys the
// clock is set back. A lease begun in what is now the future starts once more
// and ends; nobody waits ten minutes, and no key is executed twice.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	clock, err := rediscluster.NewClock(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const behind, lease = 10 * time.Minute, 4 * time.Second
	if err := clock.Set(-behind); err != nil {
		t.Fatal(err)
	}
	r := start(t, rediscluster.Config{Env: func(node int) []string {
		if node == 3 { // the replica of the first master
			return clock.Env()
		}
		return nil
	}})
	r.healthy()
	policy := policyOf(1)
	policy.LeaseMS, policy.Recovery = lease.Milliseconds(), wire.Reacquire
	in := func(region int, kind wire.Kind, key string, owner []byte) wire.Result {
		op := wire.Operation{Kind: kind, Key: key, Owner: owner, BudgetMS: 2000}
		if kind == wire.Complete {
			op.Status, op.Result = 201, response()
		}
		var result wire.Result
		r.eventually("an answer", func() bool {
			result = r.bridge.only(policy, op)
			return result.Code != wire.Unavailable
		})
		return result
	}
	want := func(result wire.Result, code wire.Code) wire.Result {
		t.Helper()
		if result.Code != code {
			t.Fatalf("code %d, want %d: %+v", result.Code, code, result)
		}
		return result
	}
	running, finished, owner := newKey(r.bucket(0)), newKey(r.bucket(0)), newOwner()
	first := want(in(0, wire.Claim, running, owner), wire.Created)
	want(in(0, wire.Claim, finished, owner), wire.Created)
	want(in(0, wire.Complete, finished, owner), wire.OK)

	plain := r.load(0)
	old, next := r.master(0), r.Nodes[3]
	var asked time.Time
	r.eventually("the replica is master", func() bool {
		if time.Since(asked) > 6*time.Second && r.master(0) == old {
			r.command(next, "CLUSTER", "FAILOVER")
			asked = time.Now()
		}
		return r.master(0) == next
	})
	plain.flowsEverywhere()

	// Whoever asks now is told to come back within a lease, and then finds it over.
	busy := want(in(0, wire.Claim, running, newOwner()), wire.InFlight)
	if wait := time.Duration(busy.RetryAfterMS) * time.Millisecond; wait <= 0 || wait > lease {
		t.Errorf("retry after %v, want at most the lease, %v", wait, lease)
	}
	var second wire.Result
	r.eventually("the lease ends", func() bool {
		second = in(0, wire.Claim, running, newOwner())
		return second.Code != wire.InFlight
	})
	want(second, wire.Created)
	if second.Attempt != 2 || second.Fence <= first.Fence {
		t.Errorf("taken over as attempt %d with fence %d, want attempt 2 and more than %d", second.Attempt, second.Fence, first.Fence)
	}
	if again := want(in(0, wire.Claim, finished, newOwner()), wire.Replayed); again.Status != 201 {
		t.Errorf("replayed with status %d", again.Status)
	}
	plain.end(0)
}

// Two bridges whose clocks differ by two minutes behave alike: leases, lives and
// fences are Redis's. What a bridge's clock says is the expires_at that a client
// is told for an issued key, and nothing hangs on it.
func TestBridgesWithDifferentClocks(t *testing.T) {
	t.Parallel()
	const ahead, life = 2 * time.Minute, 2 * time.Second
	r := start(t, rediscluster.Config{})
	var bridges [2]*bridge
	for i := range bridges {
		store := r.open(redis.Config{Addresses: r.Addresses()})
		bridges[i] = r.serve(store, func(c *server.Config) {
			c.ClockOffset, c.IssueLife = time.Duration(i)*ahead, life
		})
	}
	r.bridge = bridges[0]
	r.healthy()
	for i := range bridges {
		one, other := bridges[i], bridges[1-i]
		policy := policyOf(0)
		policy.LeaseMS, policy.Recovery = 1000, wire.Reacquire
		op := func(kind wire.Kind, key string, owner []byte) wire.Operation {
			op := wire.Operation{Kind: kind, Key: key, Owner: owner, BudgetMS: 5000}
			if kind == wire.Complete {
				op.Status, op.Result = 201, response()
			}
			return op
		}
		want := func(b *bridge, p *wire.Policy, o wire.Operation, code wire.Code) wire.Result {
			t.Helper()
			result := b.only(p, o)
			if result.Code != code {
				t.Fatalf("bridge %d: operation %d: code %d, want %d: %+v", i, o.Kind, result.Code, code, result)
			}
			return result
		}

		// A claim here holds there, for as long as its lease and no longer.
		key, first, second := newKey(i), newOwner(), newOwner()
		claimed := want(one, policy, op(wire.Claim, key, first), wire.Created)
		busy := want(other, policy, op(wire.Claim, key, second), wire.InFlight)
		if busy.RetryAfterMS <= 0 || busy.RetryAfterMS > 1000 || busy.AgeMS > 1000 {
			t.Errorf("bridge %d: retry after %dms, age %dms, of a lease of 1s", i, busy.RetryAfterMS, busy.AgeMS)
		}
		var taken wire.Result
		r.eventually("the lease ends", func() bool {
			taken = other.only(policy, op(wire.Claim, key, second))
			return taken.Code != wire.InFlight
		})
		if taken.Code != wire.Created || taken.Attempt != 2 || taken.Fence <= claimed.Fence {
			t.Errorf("bridge %d: %+v after fence %d, want a second attempt with a higher one", i, taken, claimed.Fence)
		}
		// Either may finish what the other granted.
		want(one, policy, op(wire.Complete, key, second), wire.OK)
		want(other, policy, op(wire.Claim, key, first), wire.Replayed)
		want(one, policy, op(wire.Claim, key, first), wire.Replayed)

		// A key issued here is good there, once, and ends by Redis's clock.
		issued := policyOf(0)
		issued.Issued, issued.LeaseMS = true, 1000
		begin := time.Now()
		used := want(one, issued, op(wire.Issue, "", nil), wire.Issued)
		late := want(one, issued, op(wire.Issue, "", nil), wire.Issued)
		told := time.UnixMilli(used.ExpiresAtMS).Sub(begin) - time.Duration(i)*ahead
		if told < life-time.Second || told > life+5*time.Second {
			t.Errorf("bridge %d: a key of %v is told to end in %v by its clock", i, life, told)
		}
		want(other, issued, op(wire.Claim, used.Key, first), wire.Created)
		want(one, issued, op(wire.Claim, used.Key, second), wire.InFlight)
		r.eventually("the unused key ends", func() bool { return time.Since(begin) > life+time.Second })
		for _, b := range []*bridge{one, other} {
			want(b, issued, op(wire.Claim, late.Key, newOwner()), wire.KeyExpired)
		}
	}
}
