package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestProbe: payments whose end nobody told are asked about when their lease is
// over, by whichever bridge is there.
func TestProbe(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.json")
	write(t, rules, shopRules(t, `{"action": "probe", "lease": "30s"}`, `{"action": "probe", "lease": "8s"}`))
	s := start(t, stack.Options{Store: stack.Cluster, Bridges: 2, Rules: rules})
	shop := story.Shop{Addr: s.Shop()}
	payment := func(key string) story.Request { return story.Post("/payments", key).With("prefer", "wait=0") }
	arrived := func(t *testing.T, key string) {
		t.Helper()
		eventually(t, "the payment's arrival", 20*time.Second, func() bool {
			x, err := shop.Executions(t.Context(), key)
			return err == nil && x.Count == 1
		})
	}
	// abandon sends a payment, and leaves when the shop has it.
	abandon := func(t *testing.T, key, delay string) {
		t.Helper()
		c := client(t, s.Gateway(0), story.HTTP1)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		left := make(chan story.Answer, 1)
		go func() { left <- c.Send(ctx, payment(key).With("x-shop-delay", delay)) }()
		arrived(t, key)
		leave()
		wantKind(t, "the client that left", <-left, story.Lost)
	}
	// settled repeats a payment until it is no longer under way or unknown.
	settled := func(t *testing.T, key string) story.Answer {
		t.Helper()
		c := door(t, s)
		var last story.Answer
		eventually(t, "the end of "+key, time.Minute, func() bool {
			last = c.Send(t.Context(), payment(key))
			k := last.Kind()
			return k != "409 in-flight" && k != "409 outcome-unknown" && k != "503 unavailable"
		})
		return last
	}

	t.Run("a client leaves after forwarding", func(t *testing.T) {
		abandon(t, "left", "1s")
		wantKind(t, "while its lease runs", retryWhile(t, door(t, s), payment("left"), "409 in-flight", 5*time.Second), "409 outcome-unknown")
		wantKind(t, "after the probe", settled(t, "left"), "201 replayed")
		wantRuns(t, s, "left", 1)
	})
	t.Run("nothing was executed: the next retry runs", func(t *testing.T) {
		c := door(t, s)
		if a := c.Send(t.Context(), payment("never").With("x-shop-fault", "close-before")); a.Kind() == "201 created" {
			t.Fatalf("%s", a)
		}
		wantKind(t, "after the probe", settled(t, "never"), "201 created")
		wantKind(t, "its retry", c.Send(t.Context(), payment("never")), "201 replayed")
		wantRuns(t, s, "never", 1)
	})
	t.Run("what is still asleep in the backend is refused by the promise", func(t *testing.T) {
		abandon(t, "asleep", "15s")
		wantKind(t, "after the probe", settled(t, "asleep"), "201 created")
		eventually(t, "both have ended", 30*time.Second, func() bool {
			x, err := shop.Executions(t.Context(), "asleep")
			return err == nil && x.Count == 2 && x.Requests[0].Effect != "" && x.Requests[1].Effect != ""
		})
		if x, err := shop.Executions(t.Context(), "asleep"); err != nil || x.Effects != 1 || x.Requests[0].Effect != "stale-fence" {
			t.Errorf("%+v, %v", x, err)
		}
	})
	t.Run("Envoy is killed in the middle", func(t *testing.T) {
		c := client(t, s.Gateway(0), story.HTTP1)
		lost := make(chan story.Answer, 1)
		go func() { lost <- c.Send(t.Context(), payment("killed").With("x-shop-delay", "2s")) }()
		arrived(t, "killed")
		if err := s.Kill("gateway"); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "its client", <-lost, story.Lost)
		if err := s.StartPart(t.Context(), "gateway"); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "after the probe", settled(t, "killed"), "201 replayed")
		wantRuns(t, s, "killed", 1)
	})
	t.Run("a bridge is killed while it asks", func(t *testing.T) {
		const n = 12
		key := func(i int) string { return fmt.Sprint("bridge-", i) }
		for i := range n {
			abandon(t, key(i), "100ms")
		}
		// The first of them is resolved: the others are being asked about.
		settled(t, key(0))
		if err := s.Kill("bridge"); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			wantKind(t, "after the probe", settled(t, key(i)), "201 replayed")
			wantRuns(t, s, key(i), 1)
		}
		if err := s.StartPart(t.Context(), "bridge"); err != nil {
			t.Fatal(err)
		}
	})
}
