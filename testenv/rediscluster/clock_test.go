package rediscluster_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// A server's clock goes where it is set, and only that server's.
func TestClock(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clock, err := rediscluster.NewClock(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := rediscluster.StartSingle(ctx, rediscluster.Config{
		Dir: t.TempDir(), Env: func(int) []string { return clock.Env() },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, want := range []time.Duration{0, -10 * time.Minute, 90 * time.Second} {
		if err := clock.Set(want); err != nil {
			t.Fatal(err)
		}
		answer, err := c.Nodes[0].Do(ctx, "TIME")
		if err != nil {
			t.Fatal(err)
		}
		seconds, _, _ := strings.Cut(answer, "\n")
		s, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if off := time.Until(time.Unix(s, 0)) - want; off.Abs() > 5*time.Second {
			t.Errorf("clock set by %v is off by %v more", want, off)
		}
	}
}
