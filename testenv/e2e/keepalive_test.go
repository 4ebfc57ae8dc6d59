package e2e

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestDuplicatesKeepTheirConnection: a local reply before the request's body
// has arrived would make Envoy close an HTTP/1.1 connection, and every duplicate
// would cost a new one.
func TestDuplicatesKeepTheirConnection(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	key := w.Key("keep")
	// Larger than what a client writes together with the headers.
	order := story.Post("/orders", key).Body(`{"note":"` + strings.Repeat("x", 32<<10) + `"}`)
	wantKind(t, "the first request", c.Send(t.Context(), order), "201 created")
	for i := range 1000 {
		if a := c.Send(t.Context(), order); a.Kind() != "201 replayed" {
			t.Fatalf("duplicate %d: %s", i, a)
		}
	}
	// A 400 is left out: Envoy closes an HTTP/1.1 connection after each one that
	// it or a filter sends.
	for range 20 {
		wantKind(t, "refused after a look at the record", c.Send(t.Context(), order.Body(strings.Repeat("y", 32<<10))), "422 key-reused")
		wantKind(t, "refused at once", c.Send(t.Context(), order.As("")), "401 principal-missing")
	}
	if n := c.Dials(); n != 1 {
		t.Errorf("%d connections for all, want 1", n)
	}
	wantRuns(t, w.Town, key, 1)
}
