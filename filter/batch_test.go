package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestBatchHasItsLeastBudget: a claim that has waited leaves less time than one that
// has just come, and their batch is answered as one.
func TestBatchHasItsLeastBudget(t *testing.T) {
	g := newRig(t, true)
	g.open("POST", "/orders", "first", true)
	g.open("POST", "/orders", "waited", true)
	g.now += int64(150 * time.Millisecond) // of 200
	g.open("POST", "/orders", "fresh", true)
	i := g.number("fresh")
	if i < 0 || i != g.number("waited") {
		t.Fatalf("flights %d and %d", i, g.number("waited"))
	}
	for _, op := range g.flights[i].batch.Ops {
		if op.BudgetMS != 50 {
			t.Errorf("%s: %d ms, want 50", op.Key, op.BudgetMS)
		}
	}
}

// TestBatchBytes: large completions leave in batches of their own, since the bridge
// refuses what is larger than its bound.
func TestBatchBytes(t *testing.T) {
	g := lanesRig(t, "reject")
	var all []*seen
	for _, key := range []string{"a", "b", "c"} {
		all = append(all, g.open("POST", "/plain", key, true))
		g.answerAll()
	}
	for _, s := range all {
		g.respond(s, upstream(201), false)
		g.respondBody(s, strings.Repeat("x", wire.MaxBatchBytes*2/3), true)
	}
	for range all {
		if len(g.flights) != 1 || len(g.flights[0].batch.Ops) != 1 {
			t.Fatalf("%d batches, %d operations in the first", len(g.flights), len(g.kinds()))
		}
		g.answer(0, false)
	}
}

// TestBreakerCounts: so many failures in a row open it, no fewer, and any answer
// begins anew.
func TestBreakerCounts(t *testing.T) {
	for _, last := range []string{"nothing", "an answer", "a refusal for its size"} {
		g := lanesRig(t, "forward") // which leaves nothing to release
		claim := func() int {
			if g.claiming() == 0 {
				g.open("POST", "/plain", fmt.Sprint(len(g.streams)), true)
			}
			return 0
		}
		for range breakerFailures - 1 {
			g.fail(claim())
		}
		if g.w.b.breaker.open {
			t.Fatalf("open after %d failures", breakerFailures-1)
		}
		switch i := claim(); last {
		case "nothing":
			g.fail(i)
		case "an answer":
			g.answer(i, false)
		default:
			g.tooLarge(i)
		}
		if open := g.w.b.breaker.open; open != (last == "nothing") {
			t.Errorf("after %s: open %v", last, open)
		}
	}
}

// TestReplacedOperationIsNotRepeated: a completion says all that the word before it
// said, and that must not follow it.
func TestReplacedOperationIsNotRepeated(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/after", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), false)
	if k := g.kinds(); !slices.Equal(k, []wire.Kind{wire.Executed}) {
		t.Fatalf("%v", k)
	}
	g.respondBody(s, "x", true) // queues the completion
	g.fail(0)
	if k := g.kinds(); !slices.Equal(k, []wire.Kind{wire.Complete}) {
		t.Errorf("%v, with %d pending", k, g.w.Pending())
	}
	g.answerAll()
	if n := g.w.Pending(); n != 0 {
		t.Errorf("%d pending", n)
	}
}

// TestHeldAnswerLeavesAStuckLane: where no batch may leave because every one is
// stuck, an answer waits no longer than for an acknowledgement.
func TestHeldAnswerLeavesAStuckLane(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	for i := range maxFlights {
		g.now += int64(batchPatience)
		g.open("POST", "/orders", fmt.Sprint(i), true)
		g.w.Tick(g.now + int64(batchPatience))
		g.perform()
	}
	g.respond(s, upstream(201), true)
	if len(g.flights) != maxFlights || s.released != 0 {
		t.Fatalf("%d batches under way, released %d times", len(g.flights), s.released)
	}
	g.now += int64(200 * time.Millisecond)
	g.w.Tick(g.now)
	g.perform()
	if s.released != 1 || s.response[HeaderRecorded] != "pending" {
		t.Errorf("released %d times, recorded %q", s.released, s.response[HeaderRecorded])
	}
}
