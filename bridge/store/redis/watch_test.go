package redis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/bridge/store/storetest"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

func TestEmbeddedNoPolling(t *testing.T) {
	storetest.NoPolling(t, embedded(t, redis.EmbeddedConfig{}))
}

// On the wall clock a lease that ends is noticed without any word.
func TestEmbeddedLeaseEnds(t *testing.T) {
	s := embedded(t, redis.EmbeddedConfig{})
	op := claim(name(7), 5*time.Second)
	op.Policy = &wire.Policy{TTLMS: 60_000, LeaseMS: 200, MaxAttempts: 3, Recovery: wire.Hold}
	if r := s.Do(t.Context(), []store.Operation{op})[0]; r.Code != wire.Created {
		t.Fatalf("%+v", r)
	}
	if r := watch(t, s, op, 20*time.Second); r.Code != wire.Free {
		t.Fatalf("%+v", r)
	}
}

// watch waits as another request of op's key does.
func watch(t *testing.T, s store.Watcher, op store.Operation, d time.Duration) store.Reply {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	op.Kind = wire.Wait
	return s.Watch(ctx, &op)
}

// waiting starts a watch and returns its answer's channel.
func waiting(t *testing.T, s store.Watcher, op store.Operation, d time.Duration) <-chan store.Reply {
	done := make(chan store.Reply, 1)
	go func() { done <- watch(t, s, op, d) }()
	return done
}

func TestWaitOnCluster(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	first, second := open(t, c, redis.Config{}), open(t, c, redis.Config{})
	t.Run("no polling", func(t *testing.T) { storetest.NoPolling(t, first) })
	t.Run("across bridges", func(t *testing.T) { acrossBridges(t, first, second) })
	t.Run("idle channels are left", func(t *testing.T) {
		eventually(t, "no subscription", func() bool { return second.Subscriptions() == 0 })
		eventually(t, "no subscriber on any node", func() bool {
			for _, n := range c.Nodes {
				info, err := n.Do(t.Context(), "INFO", "stats")
				if err != nil || !strings.Contains(info, "pubsubshard_channels:0") {
					return false
				}
			}
			return true
		})
	})
	t.Run("manual failover while waiting", func(t *testing.T) {
		failoverWhileWaiting(t, c, first, second, func(slot int) {
			replica := replicaOf(t, c, slot)
			if _, err := replica.Do(t.Context(), "CLUSTER", "FAILOVER"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the replica to be master", func() bool { return strings.Contains(myself(t, replica), "myself,master") })
		})
	})
	t.Run("master killed while waiting", func(t *testing.T) {
		failoverWhileWaiting(t, c, first, second, func(slot int) {
			replica := replicaOf(t, c, slot)
			masterOf(t, c, slot).Kill()
			eventually(t, "the replica to be master", func() bool { return strings.Contains(myself(t, replica), "myself,master") })
		})
	})
}

// completion is the last word of a granted claim.
func completion(op store.Operation, granted store.Reply) store.Operation {
	op.Kind, op.Fence, op.Status, op.Result = wire.Complete, granted.Fence, 201, []byte("done")
	return op
}

func acrossBridges(t *testing.T, owner, other *redis.Store) {
	op := claim(name(3), 10*time.Second)
	granted := owner.Do(t.Context(), []store.Operation{op})[0]
	done := waiting(t, other, op, 20*time.Second)
	eventually(t, "the subscription", func() bool { return other.Subscriptions() > 0 })
	began := time.Now()
	if r := owner.Do(t.Context(), []store.Operation{completion(op, granted)})[0]; r.Code != wire.OK {
		t.Fatalf("%+v", r)
	}
	if r := <-done; r.Code != wire.Replayed || string(r.Result) != "done" {
		t.Fatalf("%+v", r)
	}
	t.Logf("woken after %v", time.Since(began))
}

// A replica takes over while a request waits. The waiter must hear of what
// happens on the new master.
func failoverWhileWaiting(t *testing.T, c *rediscluster.Cluster, owner, other *redis.Store, fail func(slot int)) {
	op := claim(name(5, time.Now().Nanosecond()), 20*time.Second)
	op.Policy = &wire.Policy{TTLMS: 600_000, LeaseMS: 600_000, MaxAttempts: 3, Recovery: wire.Hold}
	granted := owner.Do(t.Context(), []store.Operation{op})[0]
	if granted.Code != wire.Created {
		t.Fatalf("%+v", granted)
	}
	done := waiting(t, other, op, 40*time.Second)
	eventually(t, "the subscription", func() bool { return other.Subscriptions() > 0 })
	slot := rediscluster.Slot(record(op.Name))
	// What was claimed a moment ago must outlive the master.
	eventually(t, "the replica to have the claim", func() bool {
		info, err := replicaOf(t, c, slot).Do(t.Context(), "INFO", "replication")
		return err == nil && strings.Contains(info, "master_link_status:up") && granted.Lease > 0
	})
	fail(slot)
	op.Deadline = time.Now().Add(20 * time.Second)
	if r := owner.Do(t.Context(), []store.Operation{completion(op, granted)})[0]; r.Code != wire.OK {
		t.Fatalf("%+v", r)
	}
	began := time.Now()
	if r := <-done; r.Code != wire.Replayed {
		t.Fatalf("%+v", r)
	}
	t.Logf("told %v after the completion", time.Since(began))
}

// replicaOf is the replica of the master that holds slot.
func replicaOf(t *testing.T, c *rediscluster.Cluster, slot int) *rediscluster.Node {
	t.Helper()
	id, err := masterOf(t, c, slot).Do(t.Context(), "CLUSTER", "MYID")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		if own := myself(t, n); strings.Contains(own, "slave "+id) {
			return n
		}
	}
	t.Fatal("no replica")
	return nil
}

func masterOf(t *testing.T, c *rediscluster.Cluster, slot int) *rediscluster.Node {
	t.Helper()
	for _, n := range c.Nodes {
		for _, field := range strings.Fields(myself(t, n)) {
			var from, to int
			if k, _ := fmt.Sscanf(field, "%d-%d", &from, &to); k == 2 && from <= slot && slot <= to {
				return n
			}
		}
	}
	t.Fatal("no master")
	return nil
}

// myself is a node's line about itself; "": it does not answer.
func myself(t *testing.T, n *rediscluster.Node) string {
	nodes, err := n.Do(t.Context(), "CLUSTER", "NODES")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(nodes) {
		if strings.Contains(line, "myself") {
			return line
		}
	}
	return ""
}
