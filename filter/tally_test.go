package filter

import (
	"reflect"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// tallies takes the tallies of the first batch under way, by class.
func (g *rig) tallies() map[wire.Class]uint32 {
	got := map[wire.Class]uint32{}
	for _, t := range g.flights[0].batch.Tallies {
		if t.Scope != "orders" || int(t.Policy) >= len(g.flights[0].batch.Policies) {
			g.t.Fatalf("%+v", t)
		}
		got[t.Class] += t.N
	}
	return got
}

// TestTallies: repeats from memory are counted by what they look like, and told with
// the next batch, once.
func TestTallies(t *testing.T) {
	g := newRig(t, true)
	g.first("/orders", "k", "{}", "done")
	attempts := func(n string) wire.HeaderLine { return wire.HeaderLine{Name: headerAttempts, Value: n} }
	again := func(body string, extra ...wire.HeaderLine) {
		t.Helper()
		s := g.open("POST", "/orders", "k", false, extra...)
		g.body(s, body, true)
		if len(s.replies) != 1 || len(g.flights) != 0 {
			t.Fatal("not answered from memory")
		}
	}
	again("{}")
	again("{}", attempts("1"))
	again(`{"other":1}`)
	again("{}", attempts("2"))
	again("{}", attempts("x"))
	g.pass(3 * time.Second)
	again("{}")
	again("{}", attempts("17"))
	want := map[wire.Class]uint32{wire.DoubleClick: 3, wire.ClientRetry: 1, wire.GatewayRetry: 2, wire.Reused: 1}
	g.open("POST", "/after", "x", true)
	g.pass(0)
	if len(g.flights) == 0 {
		g.body(g.open("POST", "/after", "y", false), "{}", true)
	}
	if got := g.tallies(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// The batch is lost: the next one tells it again.
	g.fail(0)
	if got := g.tallies(); !reflect.DeepEqual(got, want) {
		t.Errorf("after a loss: got %v, want %v", got, want)
	}
	g.answerAll()
	g.open("POST", "/orders", "z", true)
	if got := g.tallies(); len(got) != 0 {
		t.Errorf("told twice: %v", got)
	}
}

// TestRetriedClaim: a claim says that a proxy in front sends it again.
func TestRetriedClaim(t *testing.T) {
	g := newRig(t, true)
	for value, want := range map[string]bool{"": false, "1": false, "2": true, "0": false, "10": true, "2 ": false, "99999999999": false} {
		s := g.open("POST", "/orders", "k"+value, true, wire.HeaderLine{Name: headerAttempts, Value: value})
		if got := g.flights[0].batch.Ops[0].Retried; got != want {
			t.Errorf("%q: %v", value, got)
		}
		g.answerAll()
		g.finish(s, Trail{Attempts: 1})
		g.answerAll()
	}
}

// Counting costs a request that is answered from memory nothing.
func TestTallyAllocates(t *testing.T) {
	g := newRig(t, true)
	r := g.w.Match("POST", "/orders")
	g.w.tally(r, wire.ClientRetry)
	if n := testing.AllocsPerRun(100, func() { g.w.tally(r, wire.ClientRetry) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
