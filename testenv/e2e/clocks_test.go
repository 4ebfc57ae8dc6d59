package e2e

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestTwoBridgesTwoClocks: the clocks of two bridges differ by two minutes, and
// one Envoy asks now this one, now that one. Nobody can tell.
func TestTwoBridgesTwoClocks(t *testing.T) {
	t.Parallel()
	const life = 4 * time.Second
	s := start(t, stack.Options{
		Store: stack.Cluster, Bridges: 2, Concurrency: 2, BridgeClockOffset: 2 * time.Minute, IssueLife: life,
	})
	c := door(t, s)
	for round := range 30 {
		key := "clocks-" + string(rune('a'+round))
		wantOneResult(t, round, c.SendAll(t.Context(), 10, story.Post("/orders", key)))
		wantRuns(t, s, key, 1)
		wantKind(t, "a repeat", c.Send(t.Context(), story.Post("/orders", key)), "201 replayed")
	}
	// Issued keys are good wherever they were issued, once, and end after their life.
	for range 6 {
		key := issue(t, c)
		wantKind(t, "an issued key", c.Send(t.Context(), story.Post("/checkout", key)), "201 created")
		wantKind(t, "the same again", c.Send(t.Context(), story.Post("/checkout", key)), "409 key-used")
		wantRuns(t, s, key, 1)
	}
	var old []string
	for range 6 {
		old = append(old, issue(t, c))
	}
	begin := time.Now()
	eventually(t, "the end of their life", 4*life, func() bool { return time.Since(begin) > life+time.Second })
	for _, key := range old {
		wantKind(t, "a key past its life", c.Send(t.Context(), story.Post("/checkout", key)), "410 key-expired")
		wantRuns(t, s, key, 0)
	}
}

// issue asks for a key of the checkout.
func issue(t *testing.T, c *story.Client) string {
	t.Helper()
	a := c.Send(t.Context(), story.Post("/idempotency-keys", "").Body(`{"scope":"checkout"}`))
	var issued struct{ Key string }
	if err := json.Unmarshal(a.Body, &issued); err != nil || issued.Key == "" {
		t.Fatalf("no key was issued: %s", a)
	}
	return issued.Key
}
