package redis_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// index member without record | sweep | out of the index. What is unresolved
// stays in.
func TestSweep(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	s := open(t, c, redis.Config{})
	const bucket, lost, live = 5, 700, 30
	var ops []store.Operation
	for i := range lost + live {
		ops = append(ops, claim(name(bucket, i), 5*time.Second))
	}
	for _, r := range s.Do(t.Context(), ops) {
		if r.Code != wire.Created {
			t.Fatalf("claim: %+v", r)
		}
	}
	client := s.Client()
	for i := range lost {
		if err := client.Do(t.Context(), client.B().Del().Key(record(name(bucket, i))).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
	left := func() int64 {
		n, err := client.Do(t.Context(), client.B().Zcard().Key(index(name(bucket))).Build()).AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := left(); n != lost+live {
		t.Fatalf("%d members before, want %d", n, lost+live)
	}
	if n, err := s.Sweep(t.Context(), bucket); n != lost || err != nil {
		t.Errorf("took out %d, %v; want %d", n, err, lost)
	}
	if n := left(); n != live {
		t.Errorf("%d members after, want %d", n, live)
	}
	// A final record is no business of the index either.
	op := claim(name(bucket, lost), 5*time.Second)
	op.Kind, op.Status = wire.Executed, 201
	s.Do(t.Context(), []store.Operation{op})
	member := record(name(bucket, lost))[len(tag(name(bucket))):]
	add := client.B().Zadd().Key(index(name(bucket))).ScoreMember().ScoreMember(1, member).Build()
	if err := client.Do(t.Context(), add).Error(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context(), bucket); n != 1 || err != nil {
		t.Errorf("took out %d, %v; want 1", n, err)
	}
	for _, b := range []int{-1, redis.Buckets} {
		if _, err := s.Sweep(t.Context(), b); err == nil {
			t.Errorf("bucket %s: no error", strconv.Itoa(b))
		}
	}
}
