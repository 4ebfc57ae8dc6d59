package redis_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// A long result travels apart from what stands beside it in the batch, and comes
// back whole, also from a node that has forgotten the scripts.
func TestLargeResult(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	s := open(t, c, redis.Config{})
	for _, size := range []int{64 << 10, 64<<10 + 1, 1 << 20} {
		large, small := claim(name(9, size), 5*time.Second), claim(name(9, size+1), 5*time.Second)
		result := bytes.Repeat([]byte{byte(size)}, size)
		s.Do(t.Context(), []store.Operation{large})
		large.Kind, large.Status, large.Result = wire.Complete, 201, result
		for _, n := range c.Nodes {
			command(t, n, "SCRIPT", "FLUSH")
		}
		if r := s.Do(t.Context(), []store.Operation{large, small}); r[0].Code != wire.OK || r[1].Code != wire.Created {
			t.Fatalf("%d bytes: complete %d, claim beside it %d", size, r[0].Code, r[1].Code)
		}
		for _, n := range c.Nodes {
			command(t, n, "SCRIPT", "FLUSH")
		}
		again, beside := claim(name(9, size), 5*time.Second), claim(name(9, size+2), 5*time.Second)
		again.Owner = []byte("another")
		r := s.Do(t.Context(), []store.Operation{again, beside})
		if r[0].Code != wire.Replayed || !bytes.Equal(r[0].Result, result) || r[1].Code != wire.Created {
			t.Fatalf("%d bytes: code %d with %d bytes, claim beside it %d", size, r[0].Code, len(r[0].Result), r[1].Code)
		}
	}
}

// Commands counts what operations cost: one each, and no more for a batch.
func TestCommands(t *testing.T) {
	s := open(t, start(t, rediscluster.StartSingle), redis.Config{})
	s.Do(t.Context(), []store.Operation{claim(name(1), time.Second)}) // the script is sent
	before := s.Commands()
	s.Do(t.Context(), []store.Operation{claim(name(2), time.Second), claim(name(3), time.Second)})
	if n := s.Commands() - before; n != 2 {
		t.Errorf("%d commands for 2 claims", n)
	}
}
