package clusterfault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// single runs one server, and a store over it.
func single(t *testing.T, options ...string) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := rediscluster.StartSingle(ctx, rediscluster.Config{Dir: t.TempDir(), Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r := &rig{T: t, Cluster: c}
	r.store = r.open(redis.Config{Addresses: c.Addresses()})
	return r
}

// story claims a key, finishes it and repeats it, and returns the first answer
// that is not the one expected.
func (r *rig) story(s *redis.Store, replicas int64) error {
	name, owner, p := newName(7), newOwner(), policyOf(replicas)
	for _, step := range []struct {
		kind  wire.Kind
		owner []byte
		want  wire.Code
	}{
		{wire.Claim, owner, wire.Created},
		{wire.Claim, newOwner(), wire.InFlight},
		{wire.Renew, owner, wire.OK},
		{wire.Executed, owner, wire.OK},
		{wire.Complete, owner, wire.OK},
		{wire.Claim, newOwner(), wire.Replayed},
		{wire.Unknown, newOwner(), wire.Stale},
		{wire.Release, owner, wire.OK},
	} {
		op := r.claim(name, step.owner, p, time.Second)
		op.Kind, op.Status = step.kind, 201
		if step.kind == wire.Complete {
			op.Result = []byte("result")
		}
		if step.kind == wire.Renew {
			record := do(s, r.claim(name, owner, p, time.Second))
			op.Fence = record.Fence
		}
		reply := do(s, op)
		if reply.Err != nil {
			return reply.Err
		}
		if reply.Code != step.want {
			return fmt.Errorf("operation %d: code %d, want %d", step.kind, reply.Code, step.want)
		}
	}
	return nil
}

// awayThenBack expects unavailable while a fault lasts, by the deadline, and
// answers after it.
func (r *rig) awayThenBack(begin, end func()) {
	r.Helper()
	name, owner := newName(3), newOwner()
	if reply := r.one(r.claim(name, owner, policyOf(0), time.Second)); reply.Code != wire.Created {
		r.Fatalf("claim: %+v", reply)
	}
	begin()
	at := time.Now()
	reply := r.one(r.claim(newName(3), newOwner(), policyOf(0), budget))
	if took := time.Since(at); !errors.Is(reply.Err, store.ErrUnavailable) || took > budget+grace {
		r.Errorf("claim during the fault: %+v after %v, want unavailable within %v", reply, took, budget)
	}
	end()
	r.eventually("an answer after the fault", func() bool {
		reply := r.one(r.claim(name, newOwner(), policyOf(0), budget))
		if reply.Err == nil && reply.Code != wire.InFlight {
			r.Fatalf("claim after the fault: %+v, want in-flight", reply)
		}
		return reply.Err == nil
	})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	r := single(t)
	r.awayThenBack(
		func() { r.command(r.Nodes[0], "REPLICAOF", "127.0.0.1", "1") },
		func() { r.command(r.Nodes[0], "REPLICAOF", "NO", "ONE") },
	)
}

// A server that is still reading its data answers LOADING.
func TestLoading(t *testing.T) {
	t.Parallel()
	r := single(t, "--rdbcompression", "no")
	n := r.Nodes[0]
	for i := range 400 {
		r.command(n, "SET", fmt.Sprintf("filler%d", i), strings.Repeat("x", 4096))
	}
	r.awayThenBack(func() {
		r.command(n, "SAVE")
		n.Kill()
		if err := n.Restart(t.Context(), "--key-load-delay", "5000", "--loading-process-events-interval-bytes", "1024"); err != nil {
			t.Fatal(err)
		}
		if info := r.command(n, "INFO", "persistence"); !strings.Contains(info, "\nloading:1") {
			t.Fatal("the server is not loading: the test does not see the fault")
		}
	}, func() {})
}

func TestSingleRestarted(t *testing.T) {
	t.Parallel()
	r := single(t, "--appendonly", "yes")
	r.awayThenBack(r.Nodes[0].Kill, func() {
		if err := r.Nodes[0].Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

// One server has nobody to acknowledge: a rule that wants a replica is told so.
func TestSingleHasNoReplica(t *testing.T) {
	t.Parallel()
	r := single(t)
	if err := r.story(r.store, 0); err != nil {
		t.Error(err)
	}
	if err := r.story(r.store, 1); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("replicas 1: %v, want unavailable", err)
	}
}
