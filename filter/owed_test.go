package filter

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// owing is a rig whose worker has let a request through while the store was away,
// and has tried to complete it in vain.
func owing(t *testing.T) *rig {
	t.Helper()
	g := newRig(t, true)
	s := g.open("POST", "/forward", "k", true)
	g.fail(0)
	g.fail(0)
	g.respond(s, upstream(201), false)
	g.respondBody(s, "first", true)
	for range 3 {
		for len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(300 * time.Millisecond)
	}
	for len(g.flights) > 0 {
		g.fail(0)
	}
	g.finish(s, Trail{Attempts: 1})
	if s.resumed != 1 || g.w.Pending() != 1 || len(g.w.owed) != 1 {
		t.Fatalf("resumed %d times, %d pending, %d owed", s.resumed, g.w.Pending(), len(g.w.owed))
	}
	return g
}

// kinds are those of the operations under way.
func (g *rig) kinds() (k []wire.Kind) {
	for _, f := range g.flights {
		for _, op := range f.batch.Ops {
			k = append(k, op.Kind)
		}
	}
	return k
}

// The first thing that the bridge hears when it is back is what ran meanwhile, and
// not the claim of a repeat, which would run.
func TestClaimGoesBehindWhatIsOwed(t *testing.T) {
	g := owing(t)
	s := g.open("POST", "/forward", "k", true)
	if k := g.kinds(); len(k) != 1 || k[0] != wire.Complete {
		t.Fatalf("under way: %v", k)
	}
	g.answer(0, false)
	if k := g.kinds(); len(k) != 1 || k[0] != wire.Claim {
		t.Fatalf("under way behind it: %v", k)
	}
	g.answer(0, false)
	if len(s.replies) != 1 || s.replies[0].header(HeaderStatus) != string(CodeReplayed) || string(s.replies[0].Body) != "first" {
		t.Fatalf("resumed %d times, %+v", s.resumed, s.replies)
	}
	if len(g.w.owed) != 0 || len(g.w.followers) != 0 || g.w.Pending() != 0 {
		t.Errorf("left: %d owed, %d claims behind, %d pending", len(g.w.owed), len(g.w.followers), g.w.Pending())
	}
}

// Another key waits for nothing.
func TestOtherClaimsGoAhead(t *testing.T) {
	g := owing(t)
	g.open("POST", "/forward", "other", true)
	if k := g.kinds(); len(k) != 1 || k[0] != wire.Claim {
		t.Fatalf("under way: %v", k)
	}
}

// While the store is away the repeat goes the way of its rule: as soon as the try
// has failed, within the timeout, and at once where the bridge is known to be away.
func TestClaimBehindWhatIsOwedIsBounded(t *testing.T) {
	g := owing(t)
	s := g.open("POST", "/forward", "k", true)
	g.fail(0)
	if s.resumed != 1 || s.request[HeaderStatus] != string(CodeUnprotected) {
		t.Fatalf("after the try: resumed %d times, %+v", s.resumed, s.replies)
	}

	g = owing(t)
	s = g.open("POST", "/forward", "k", true)
	g.w.b.lanes[laneFast].flights = maxFlights // as if all were stuck
	g.now += int64(g.w.cfg.Bridge.Timeout)
	g.w.Tick(g.now)
	g.perform()
	if s.resumed != 1 || len(g.w.followers) != 0 {
		t.Fatalf("after the timeout: resumed %d times, %+v", s.resumed, s.replies)
	}

	g = owing(t)
	for i := 0; !g.w.b.breaker.open; i++ {
		if i == 2*breakerFailures {
			t.Fatal("the breaker does not open by claims that go behind")
		}
		s = g.open("POST", "/forward", "k", true)
		for len(g.flights) > 0 {
			g.fail(0)
		}
		if s.resumed != 1 {
			t.Fatalf("behind failed try %d: resumed %d times, %+v", i, s.resumed, s.replies)
		}
	}
	if s = g.open("POST", "/forward", "k", true); s.resumed != 1 || len(g.flights) != 0 {
		t.Fatalf("breaker open: resumed %d times, %d flights", s.resumed, len(g.flights))
	}
}

// An operation that takes the place of what is owed leads the claims behind it.
func TestLaterWordLeads(t *testing.T) {
	g := newRig(t, true)
	first := g.open("POST", "/forward", "k", true)
	g.fail(0)
	g.fail(0)
	g.respond(first, upstream(201, wire.HeaderLine{Name: "content-type", Value: "text/event-stream"}), false) // executed
	for len(g.flights) > 0 {
		g.fail(0)
	}
	if len(g.w.owed) != 1 {
		t.Fatalf("%d owed", len(g.w.owed))
	}
	s := g.open("POST", "/forward", "k", true)
	var old *task
	for _, o := range g.w.owed {
		old = o
	}
	later := &task{op: old.op, rule: old.rule, settles: true}
	g.w.owe(later, old)
	if len(g.w.followers) != 1 || g.w.followers[0].behind != later || !later.leads {
		t.Fatalf("%+v", g.w.followers)
	}
	g.w.leads(g.now, later, true)
	if len(g.w.followers) != 0 || s.resumed != 0 {
		t.Errorf("%d claims behind, resumed %d times", len(g.w.followers), s.resumed)
	}
}

// The first try of the completion is under way when the repeat comes: the bridge
// carries out batches side by side, so that the claim could be granted before it.
func TestClaimGoesBehindTheFirstTry(t *testing.T) {
	g := newRig(t, true)
	first := g.open("POST", "/forward", "k", true)
	g.fail(0)
	g.fail(0)
	g.respond(first, upstream(201), false)
	g.respondBody(first, "first", true)
	if k := g.kinds(); len(k) != 1 || k[0] != wire.Complete {
		t.Fatalf("under way: %v", k)
	}
	s := g.open("POST", "/forward", "k", true)
	g.pass(2 * batchPatience)
	if k := g.kinds(); len(k) != 1 {
		t.Fatalf("under way beside its first try: %v", k)
	}
	g.answerAll()
	if first.released != 1 || len(s.replies) != 1 || s.replies[0].header(HeaderStatus) != string(CodeReplayed) {
		t.Fatalf("released %d times; resumed %d times, %+v", first.released, s.resumed, s.replies)
	}
	if len(g.w.owed) != 0 || len(g.w.followers) != 0 {
		t.Errorf("left: %d owed, %d claims behind", len(g.w.owed), len(g.w.followers))
	}
}

// A request that upstream turned away owes the release of its claim, one whose
// outcome is unknown that word, and its repeat, which ran, a completion. Claims go
// behind the completion: after a release alone they would be granted.
func TestClaimGoesBehindTheStrongestWord(t *testing.T) {
	for _, order := range [][]int{{401, 201}, {502, 201}, {201, 401}, {201, 502}} {
		g := newRig(t, true)
		for _, status := range order {
			s := g.open("POST", "/forward", "k", true)
			for len(g.flights) > 0 {
				g.fail(0)
			}
			g.respond(s, upstream(status), true)
			for len(g.flights) > 0 {
				g.fail(0)
			}
			g.finish(s, Trail{Attempts: 1})
			if s.resumed != 1 {
				t.Fatalf("%d: resumed %d times, %+v", status, s.resumed, s.replies)
			}
			g.w.b.breaker = breaker{} // only its store is away
		}
		if g.w.Pending() == 0 {
			t.Fatalf("%v: nothing is owed", order)
		}
		s := g.open("POST", "/forward", "k", true)
		g.answerAll()
		if len(s.replies) != 1 || s.replies[0].header(HeaderStatus) != string(CodeReplayed) {
			t.Fatalf("%v: resumed %d times, %+v", order, s.resumed, s.replies)
		}
		g.settleDown()
		if len(g.w.owed) != 0 || len(g.w.followers) != 0 || g.w.Pending() != 0 {
			t.Errorf("%v: left: %d owed, %d claims behind, %d pending", order, len(g.w.owed), len(g.w.followers), g.w.Pending())
		}
	}
}
