package redis_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

var policy = &wire.Policy{Generation: "g", TTLMS: 3_600_000, LeaseMS: 60_000, MaxAttempts: 3, Recovery: wire.Hold}

// name is a record in bucket b, another for each serial.
func name(b int, serial ...int) (n store.Name) {
	binary.BigEndian.PutUint16(n[:], uint16(b<<6))
	for _, s := range serial {
		binary.BigEndian.PutUint64(n[24:], uint64(s))
	}
	return n
}

func claim(n store.Name, budget time.Duration) store.Operation {
	return store.Operation{
		Kind: wire.Claim, Name: n, Owner: []byte("owner of " + string(n[:2])), Policy: policy,
		Deadline: time.Now().Add(budget),
	}
}

// everywhere claims a key in every bucket, so on every master.
func everywhere(s *redis.Store, serial int, budget time.Duration) (answered, unavailable int, took time.Duration) {
	var ops []store.Operation
	for b := range redis.Buckets {
		ops = append(ops, claim(name(b, serial), budget))
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	for _, r := range s.Do(ctx, ops) {
		if errors.Is(r.Err, store.ErrUnavailable) {
			unavailable++
		} else if r.Code == wire.Created {
			answered++
		}
	}
	return answered, unavailable, time.Since(begin)
}

func TestNoScript(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	s := open(t, c, redis.Config{})
	for serial := range 2 {
		for _, n := range c.Nodes {
			command(t, n, "SCRIPT", "FLUSH")
		}
		if ok, _, _ := everywhere(s, serial, 10*time.Second); ok != redis.Buckets {
			t.Errorf("%d of %d answered after the scripts were forgotten", ok, redis.Buckets)
		}
	}
}

// A node that hangs delays nobody but its own keys, however often it is asked.
func TestHungNode(t *testing.T) {
	c := start(t, func(ctx context.Context, config rediscluster.Config) (*rediscluster.Cluster, error) {
		config.NodeTimeout = time.Minute // no failover: it only hangs
		return rediscluster.Start(ctx, config)
	})
	s := open(t, c, redis.Config{})
	if ok, _, _ := everywhere(s, 0, 10*time.Second); ok != redis.Buckets {
		t.Fatalf("%d of %d answered", ok, redis.Buckets)
	}
	if err := c.Nodes[1].Pause(); err != nil {
		t.Fatal(err)
	}
	const budget = 300 * time.Millisecond
	for serial := 1; serial <= 5; serial++ {
		ok, away, took := everywhere(s, serial, budget)
		if ok+away != redis.Buckets || ok < redis.Buckets/2 || away < redis.Buckets/4 {
			t.Errorf("round %d: %d answered, %d unavailable", serial, ok, away)
		}
		if took > budget+150*time.Millisecond {
			t.Errorf("round %d: took %v, want %v", serial, took, budget)
		}
	}
	// Far more pipelines than the connection's queue holds.
	for serial := 6; serial < 600; serial++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		s.Do(ctx, []store.Operation{claim(name(500, serial), time.Millisecond)})
		cancel()
	}
	if ok, _, took := everywhere(s, 600, budget); ok < redis.Buckets/2 || took > budget+150*time.Millisecond {
		t.Errorf("queue full: %d answered in %v", ok, took)
	}
	if err := c.Nodes[1].Resume(); err != nil {
		t.Fatal(err)
	}
	serial := 601
	eventually(t, "every node answers again", func() bool {
		serial++
		ok, _, _ := everywhere(s, serial, time.Second)
		return ok == redis.Buckets
	})
}

func TestFailover(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	s := open(t, c, redis.Config{})
	if ok, _, _ := everywhere(s, 0, 10*time.Second); ok != redis.Buckets {
		t.Fatalf("%d of %d answered", ok, redis.Buckets)
	}
	c.Nodes[2].Kill()
	ok, away, _ := everywhere(s, 1, 300*time.Millisecond)
	if ok < redis.Buckets/2 || away < redis.Buckets/4 {
		t.Errorf("one master dead: %d answered, %d unavailable", ok, away)
	}
	serial := 1
	eventually(t, "the replica has taken over", func() bool {
		serial++
		ok, _, _ := everywhere(s, serial, time.Second)
		return ok == redis.Buckets
	})
	// The old claims are still the same owners'.
	if ok, _, _ := everywhere(s, 0, 10*time.Second); ok != redis.Buckets {
		t.Errorf("%d of %d claims survived", ok, redis.Buckets)
	}
	eventually(t, "ready", func() bool { return s.Ready(t.Context()) == nil })
}

// A record must stay in Redis' compact form: it is a fraction of the memory.
func TestCompactRecord(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	s := open(t, c, redis.Config{})
	op := claim(name(3), 5*time.Second)
	op.Owner = make([]byte, wire.OwnerBytes)
	op.Fingerprint = make([]byte, wire.MaxFingerprintBytes)
	if r := s.Do(t.Context(), []store.Operation{op})[0]; r.Code != wire.Created {
		t.Fatalf("%+v", r)
	}
	got, err := c.Nodes[0].Do(t.Context(), "OBJECT", "ENCODING", record(op.Name))
	if err != nil || got != "listpack" {
		t.Errorf("encoding %q, %v, want listpack", got, err)
	}
}

func TestVia(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	s, err := redis.Open(t.Context(), redis.Config{
		Addresses: []string{"redis.invalid:6379"},
		Via:       map[string]string{"redis.invalid:6379": c.Nodes[0].Address()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// An error may be logged: it must not say what the operation carried.
func TestErrorsSayNothingOfTheRecord(t *testing.T) {
	c := start(t, rediscluster.StartSingle)
	s := open(t, c, redis.Config{})
	command(t, c.Nodes[0], "CONFIG", "SET", "maxmemory", "1")
	op := claim(name(3), 5*time.Second)
	r := s.Do(t.Context(), []store.Operation{op})[0]
	if !errors.Is(r.Err, store.ErrUnavailable) || !strings.Contains(r.Err.Error(), "OOM") {
		t.Fatalf("%v, want what Redis said", r.Err)
	}
	if strings.Contains(r.Err.Error(), "owner of") || strings.Contains(r.Err.Error(), "ow:{") {
		t.Errorf("%v", r.Err)
	}
}

func BenchmarkClaim(b *testing.B) {
	c, err := rediscluster.StartSingle(b.Context(), rediscluster.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	s, err := redis.Open(b.Context(), redis.Config{Addresses: c.Addresses()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	const batch = 64
	ops := make([]store.Operation, batch)
	b.ReportAllocs()
	serial := 0
	for b.Loop() {
		for i := range ops {
			ops[i] = claim(name(serial%redis.Buckets, serial), time.Second)
			serial++
		}
		ctx, cancel := context.WithTimeout(b.Context(), time.Second)
		if r := s.Do(ctx, ops)[batch-1]; r.Err != nil {
			b.Fatal(r.Err)
		}
		cancel()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(serial), "us/claim")
}
