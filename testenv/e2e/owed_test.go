package e2e

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestRepeatWhenTheBridgeIsBack repeats requests that ran unprotected as soon as the
// bridge serves again: it must learn of them before it grants their keys anew.
func TestRepeatWhenTheBridgeIsBack(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	c := door(t, s)
	bridge := stack.BridgePart(0)
	if err := s.Kill(bridge); err != nil {
		t.Fatal(err)
	}
	small := story.Post("/uploads", "owed")
	large := story.Post("/uploads", "owed-large").With("x-shop-body-bytes", "200000")
	for _, r := range []story.Request{small, large} {
		wantKind(t, "the bridge is away", c.Send(t.Context(), r), "201 unprotected")
	}
	if err := s.StartPart(t.Context(), bridge); err != nil {
		t.Fatal(err)
	}
	for what, r := range map[string]story.Request{"owed": small, "owed-large": large} {
		// Envoy may still hold the bridge for unhealthy.
		a := retryWhile(t, c, r, "201 unprotected", 30*time.Second)
		wantKind(t, what, a, "201 replayed")
	}
}
