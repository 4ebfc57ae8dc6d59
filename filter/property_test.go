package filter

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestSchedules plays random schedules over every kind of rule: nothing hangs, and
// nothing is left.
func TestSchedules(t *testing.T) {
	for _, flag := range []bool{true, false} {
		name := map[bool]string{true: "with allow_on_headers_stop_iteration", false: "without"}[flag]
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { schedule(t, flag) })
		})
	}
}

func schedule(t *rapid.T, flag bool) {
	p := &play{rig: newRig(t, flag), t: t, flag: flag, keys: []string{"k1", "k2"},
		paths: []string{"/orders", "/forward", "/after", "/wait", "/checkout"}}
	p.run(nil)
	p.end()
	p.noneHeld()
}

// TestBatching checks the shape of traffic: an idle worker sends at once, what
// comes meanwhile leaves together, and no batch exceeds its bounds.
func TestBatching(t *testing.T) {
	g := newRig(t, true)
	g.open("POST", "/orders", "first", true)
	for range 300 {
		g.open("POST", "/orders", "k", true)
	}
	if len(g.flights) != 1 || len(g.flights[0].batch.Ops) != 1 {
		t.Fatalf("%d flights", len(g.flights))
	}
	g.answer(0, false)
	if len(g.flights) != 1 || len(g.flights[0].batch.Ops) != wire.MaxOperations {
		t.Fatalf("%d flights, %d operations in the first", len(g.flights), len(g.flights[0].batch.Ops))
	}
	g.pass(batchPatience + tickBusy)
	if len(g.flights) != 2 || len(g.flights[1].batch.Ops) != 44 {
		t.Fatalf("after %v of waiting: %d flights", batchPatience, len(g.flights))
	}
	g.answerAll()
	if n := g.counts[MetricInFlight]; n != 299 {
		t.Fatalf("%d in flight, want 299", n)
	}
}
