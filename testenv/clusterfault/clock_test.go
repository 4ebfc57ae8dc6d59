package clusterfault

import (
	"testing"
	"time"

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
