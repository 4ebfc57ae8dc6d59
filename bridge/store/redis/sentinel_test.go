package redis_test

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

func TestSentinel(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.StartSentinel)
	s, err := redis.Open(t.Context(), redis.Config{
		Addresses: []string{c.Nodes[2].Address()}, SentinelMaster: rediscluster.MasterName,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	claims := func() wire.Code {
		return s.Do(t.Context(), []store.Operation{claim(name(7), time.Second)})[0].Code
	}
	if code := claims(); code != wire.Created {
		t.Fatalf("code %d", code)
	}
	// It must have reached the replica before its master goes.
	command(t, c.Nodes[0], "WAIT", "1", "1000")
	eventually(t, "the claim is on the replica", func() bool {
		keys, err := c.Nodes[1].Do(t.Context(), "EXISTS", record(name(7)))
		return err == nil && keys == "1"
	})
	c.Nodes[0].Kill()
	eventually(t, "the claim is known to the new master", func() bool { return claims() == wire.Created })
	eventually(t, "ready", func() bool { return s.Ready(t.Context()) == nil })
}
