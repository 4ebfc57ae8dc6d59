package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// eventually polls until ok holds, 20s at most.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within 20s: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func command(t *testing.T, n *rediscluster.Node, args ...string) {
	t.Helper()
	if _, err := n.Do(t.Context(), args...); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	s := open(t, c, redis.Config{Mode: redis.Cluster})
	everywhere(s, 0, 10*time.Second)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, role := range map[int]string{1: "master", 4: "replica"} {
		n := c.Nodes[i]
		command(t, n, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		// A cluster lists a replica only once it has taken in a write.
		eventually(t, role+" that evicts is named with its policy", func() bool {
			err := s.Ready(t.Context())
			return err != nil && strings.Contains(err.Error(), n.Address()) && strings.Contains(err.Error(), "allkeys-lru")
		})
		command(t, n, "CONFIG", "SET", "maxmemory-policy", "noeviction")
	}
	command(t, c.Nodes[0], "CONFIG", "SET", "maxmemory", "1")
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("memory full: %v, want ready", err)
	}
	command(t, c.Nodes[0], "CONFIG", "SET", "min-replicas-to-write", "3")
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), c.Nodes[0].Address()+": not writable") {
		t.Errorf("a master that takes no writes: error %v, want its address", err)
	}
}

func TestReadyReadOnly(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	s := open(t, c, redis.Config{})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	command(t, c.Nodes[0], "REPLICAOF", "127.0.0.1", "1")
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "not writable") {
		t.Errorf("error %v, want not writable", err)
	}
	if r := s.Do(t.Context(), []store.Operation{claim(name(0), time.Second)})[0]; !errors.Is(r.Err, store.ErrUnavailable) {
		t.Errorf("claim: %+v, want ErrUnavailable", r)
	}
}

// Redis and bridge may start in any order.
func TestOpenWhileAway(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	c.Nodes[0].Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	s, err := redis.Open(ctx, redis.Config{Addresses: c.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("ready: %v, want not connected", err)
	}
	if r := s.Do(t.Context(), []store.Operation{claim(name(0), time.Second)})[0]; !errors.Is(r.Err, store.ErrUnavailable) {
		t.Errorf("claim: %+v, want ErrUnavailable", r)
	}
	again, err := rediscluster.StartSingle(t.Context(), rediscluster.Config{Dir: t.TempDir(), Ports: []int{c.Nodes[0].Port}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Close)
	eventually(t, "ready", func() bool { return s.Ready(t.Context()) == nil })
}

// The wrong kind of Redis is said, and not taken for another.
func TestModeMismatch(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	s := open(t, c, redis.Config{Mode: redis.Cluster})
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "cluster support") {
		t.Errorf("ready: %v, want that cluster support is missing", err)
	}
}
