package redis_test

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
)

func embedded(t *testing.T, c redis.EmbeddedConfig) *redis.EmbeddedStore {
	t.Helper()
	s, err := redis.Embedded(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// The embedded Redis looks at every key when it ends lives. Records must not
// make each other slow: this took 12ms an operation when every command did so.
func TestEmbeddedManyRecords(t *testing.T) {
	s := embedded(t, redis.EmbeddedConfig{})
	const batch, bound = 500, 5 * time.Millisecond
	var took time.Duration
	for serial := 0; serial < 6000; serial += batch {
		ops := make([]store.Operation, batch)
		for i := range ops {
			ops[i] = claim(name(i, serial+i), 30*time.Second)
		}
		begin := time.Now()
		if r := s.Do(t.Context(), ops)[batch-1]; r.Code != wire.Created {
			t.Fatalf("%+v", r)
		}
		took = time.Since(begin) / batch
	}
	if took > bound {
		t.Errorf("%v for each operation, want less than %v", took, bound)
	}
}

// On the wall clock lives end by themselves.
func TestEmbeddedLivesEnd(t *testing.T) {
	s := embedded(t, redis.EmbeddedConfig{})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	op := claim(name(0), 5*time.Second)
	op.Policy = &wire.Policy{TTLMS: 1, LeaseMS: 1, Recovery: wire.Hold}
	s.Do(t.Context(), []store.Operation{op})
	c := s.Client()
	eventually(t, "the record is gone", func() bool {
		n, err := c.Do(t.Context(), c.B().Exists().Key(record(op.Name)).Build()).AsInt64()
		return err == nil && n == 0
	})
}

// Fences carry the store's clock, so an offset shows in them.
func TestEmbeddedClockOffset(t *testing.T) {
	s := embedded(t, redis.EmbeddedConfig{ClockOffset: -24 * time.Hour})
	r := s.Do(t.Context(), []store.Operation{claim(name(0), 5*time.Second)})[0]
	behind := time.Since(time.UnixMicro(int64(r.Fence)))
	if behind < 24*time.Hour || behind > 24*time.Hour+time.Minute {
		t.Errorf("the clock is %v behind, want 24h", behind)
	}
	s.Advance(24 * time.Hour)
	r = s.Do(t.Context(), []store.Operation{claim(name(1), 5*time.Second)})[0]
	if behind := time.Since(time.UnixMicro(int64(r.Fence))); behind > time.Minute {
		t.Errorf("the clock is %v behind, want none", behind)
	}
}
