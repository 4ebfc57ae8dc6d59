package soak

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var (
	requests = flag.Int("requests", 12_000, "requests to send; make soak sends a million")
	growth   = flag.Float64("growth", 0.5, "by how much the VM's memory may grow after the first tenth, as a fraction")
)

// TestSoak fails if anything hangs, panics or is left, or if the VM's memory grows.
// The short form's bound is loose: its first tenth is too short to have met the
// most that garbage collection lets stand.
func TestSoak(t *testing.T) {
	o := Options{Requests: *requests, Connections: 1024, Away: 500 * time.Millisecond, Progress: t.Logf}
	if *requests >= 100_000 {
		o.Away = 3 * time.Second
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
	if g := r.Growth(); g > *growth {
		t.Errorf("the VM's memory grew by %.1f%%, at most %.1f%% are allowed", 100*g, 100**growth)
	}
	for _, kind := range []string{"201 created", "201 replayed", "422 key-reused", "400 key-invalid"} {
		if r.Kinds[kind] == 0 {
			t.Errorf("no answer was %s", kind)
		}
	}
}
