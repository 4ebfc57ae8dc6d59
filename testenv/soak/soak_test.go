package soak

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var requests = flag.Int("requests", 12_000, "requests to send; make soak sends a million")

// TestSoak fails if anything hangs, panics or is left, or if the VM's memory grows:
// by 5% at most from the first tenth of a long run on. The first tenths of the
// short form are too short to fill the memory of finished keys, so that it compares
// the last ones, with room for what garbage collection lets stand.
func TestSoak(t *testing.T) {
	o := Options{Requests: *requests, Connections: 1024, Away: 500 * time.Millisecond, Progress: t.Logf}
	since, limit := 6, 0.25
	if *requests >= 100_000 {
		o.Away = 3 * time.Second
	}
	if *requests >= 1_000_000 {
		since, limit = 0, 0.05
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.Write(&b)
	t.Log("\n" + b.String())
	if r.Panics != 0 {
		t.Errorf("%d panics", r.Panics)
	}
	if g := r.Growth(since); g > limit {
		t.Errorf("the VM's memory grew by %.1f%%, at most %.0f%% are allowed", 100*g, 100*limit)
	}
	for _, kind := range []string{"201 created", "201 replayed", "422 key-reused", "400 key-invalid"} {
		if r.Kinds[kind] == 0 {
			t.Errorf("no answer was %s", kind)
		}
	}
}
