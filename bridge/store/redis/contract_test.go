package redis_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/bridge/store/storetest"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

func TestEmbedded(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		var now atomic.Int64
		now.Store(time.Now().UnixMicro())
		s, err := redis.Embedded(redis.EmbeddedConfig{Clock: func() time.Time { return time.UnixMicro(now.Load()) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		h := harness(t, s, s.Client())
		h.Exact, h.Short = true, time.Minute
		h.Pass = func(d time.Duration) { now.Add(d.Microseconds()); s.Advance(0) }
		h.SetBack = func(d time.Duration) { h.Pass(-d) }
		return h
	})
}

func TestSingle(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.StartSingle)
	storetest.Run(t, func(t *testing.T) *storetest.Harness { return server(t, c, redis.Config{Mode: redis.Single}) })
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	storetest.Run(t, func(t *testing.T) *storetest.Harness { return server(t, c, redis.Config{}) })
}

// The same where every answer waits for a replica.
func TestClusterReplicas(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		h := server(t, c, redis.Config{})
		h.Replicas = 1
		return h
	})
}

// start runs real servers for one test.
func start(t *testing.T, f func(context.Context, rediscluster.Config) (*rediscluster.Cluster, error)) *rediscluster.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := f(ctx, rediscluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// open opens a store over c and closes it with the test.
func open(t *testing.T, c *rediscluster.Cluster, config redis.Config) *redis.Store {
	t.Helper()
	config.Addresses = c.Addresses()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := redis.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func server(t *testing.T, c *rediscluster.Cluster, config redis.Config) *storetest.Harness {
	s := open(t, c, config)
	h := harness(t, s, s.Client())
	h.Short = 150 * time.Millisecond
	h.Pass = func(d time.Duration) { <-time.After(d + 2*time.Millisecond) }
	h.Full = func() func() {
		set := func(limit string) {
			for _, n := range c.Nodes {
				if _, err := n.Do(t.Context(), "CONFIG", "SET", "maxmemory", limit); err != nil {
					t.Fatal(err)
				}
			}
		}
		set("1")
		return func() { set("0") }
	}
	return h
}

// harness reaches the keys of a record beside the store.
func harness(t *testing.T, s store.Store, c rueidis.Client) *storetest.Harness {
	del := func(keys ...string) {
		if err := c.Do(context.Background(), c.B().Del().Key(keys...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	score := func(n store.Name) (float64, error) {
		return c.Do(context.Background(), c.B().Zscore().Key(index(n)).Member(hex.EncodeToString(n[:])).Build()).AsFloat64()
	}
	unindex := func(n store.Name) {
		if err := c.Do(context.Background(), c.B().Zrem().Key(index(n)).Member(hex.EncodeToString(n[:])).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	return &storetest.Harness{
		Store: check(t, s, c), Watcher: s.(store.Watcher), Skew: redis.DefaultClockSkew,
		Indexed: func(n store.Name) (int64, bool) {
			us, err := score(n)
			if err != nil && !rueidis.IsRedisNil(err) {
				t.Fatal(err)
			}
			return int64(us), err == nil
		},
		Lose:       func(n store.Name) { del(record(n), record(n)+":r"); unindex(n) },
		LoseRecord: func(n store.Name) { del(record(n)) },
		LoseResult: func(n store.Name) { del(record(n) + ":r") },
		LoseIndex:  unindex,
	}
}

// The names of keys, spelt out a second time: they are a contract with every
// record that is stored already.
func tag(n store.Name) string    { return fmt.Sprintf("ow:{b%d}:", int(n[0])*4+int(n[1]>>6)) }
func record(n store.Name) string { return tag(n) + strings.ToLower(hex.EncodeToString(n[:])) }
func index(n store.Name) string  { return tag(n) + "idx" }
