package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestOldestEnvoy runs the main path on the oldest Envoy that is tested.
func TestOldestEnvoy(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "../../build/envoy.sh", "1.36.2")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := start(t, stack.Options{Envoy: strings.TrimSpace(string(out)), Concurrency: 2, Debug: true})
	c := door(t, s)
	order := story.Post("/orders", "old-1")
	first := c.Send(t.Context(), order)
	wantKind(t, "first", first, "201 created")
	retry := c.Send(t.Context(), order)
	wantKind(t, "retry", retry, "201 replayed")
	if string(first.Body) != string(retry.Body) {
		t.Errorf("%s\n%s", first, retry)
	}
	wantKind(t, "another body", c.Send(t.Context(), order.Body("{}")), "422 key-reused")
	wantKind(t, "no key", c.Send(t.Context(), story.Post("/orders", "")), "400 key-missing")
	wantRuns(t, s, "old-1", 1)

	got := story.Count(c.SendAll(t.Context(), 20, story.Post("/orders", "old-2").With("x-shop-delay", "300ms"))...)
	if got["201 created"] != 1 || got["409 in-flight"]+got["201 replayed"] != 19 {
		t.Errorf("20 at once: %s", got)
	}
	wantRuns(t, s, "old-2", 1)

	upload := story.Post("/uploads", "old-3")
	if a := c.Send(t.Context(), upload.With("x-shop-fault", "half")); a.Err == nil && a.Status < 500 {
		t.Errorf("half an answer: %s", a)
	}
	wantKind(t, "its retry", c.Send(t.Context(), upload), "409 outcome-unknown")
	wantRuns(t, s, "old-3", 1)

	large := story.Post("/orders", "old-4").With("x-shop-body-bytes", "3000000")
	if a := c.Send(t.Context(), large); a.Kind() != "201 created" || len(a.Body) != 3000000 {
		t.Errorf("a large answer: %d bytes of %s", len(a.Body), a)
	}
	wantKind(t, "its retry", c.Send(t.Context(), large), "409 response-not-kept")
	// Long enough for several garbage collections in each worker: Go's runtime
	// then asks the host for things that it asks for at no other time.
	for i := range 6000 {
		a := c.Send(t.Context(), story.Post("/orders", fmt.Sprint("old-", i%50)).Body("{}").As("gc"))
		if a.Status != 201 {
			t.Fatalf("request %d: %s", i, a)
		}
	}
	wantKind(t, "a trap", c.Send(t.Context(), order.With("x-oncewall-debug", "trap")), "500 misconfigured")
	wantKind(t, "after the trap", c.Send(t.Context(), order), "201 replayed")
}
