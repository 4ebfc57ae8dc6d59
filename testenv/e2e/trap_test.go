package e2e

import (
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestTrap makes the filter panic. The request is refused, never let through,
// and nothing else suffers.
func TestTrap(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	for range 10 { // more than once on each worker
		key := w.Key("trap")
		order := story.Post("/orders", key)
		trapped := c.Send(t.Context(), order.With("x-oncewall-debug", "trap"))
		wantKind(t, "the trapped request", trapped, "500 misconfigured")
		wantRuns(t, w.Town, key, 0)
		wantKind(t, "the next one", c.Send(t.Context(), order), "201 created")
		wantKind(t, "its retry", c.Send(t.Context(), order), "201 replayed")
	}
}
