package filter

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oncewall/oncewall/filter/wire"
)

// actor is one client's request in a random schedule.
type actor struct {
	*seen
	left     int  // chunks of the request body still to come
	answered bool // response headers came
	rest     int  // chunks of the response body still to come
	complete bool
}

// TestSchedules plays random schedules: requests for few keys, bodies in
// chunks, answers of the bridge in any order, lost before or after their
// effect, clients that go, upstreams that answer in every way. The rig checks
// that each effect is legal, and that a request is forwarded only by the owner of
// a live claim; here it is checked that nothing hangs and nothing is left.
func TestSchedules(t *testing.T) {
	for _, flag := range []bool{true, false} {
		name := map[bool]string{true: "with allow_on_headers_stop_iteration", false: "without"}[flag]
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { schedule(t, flag) })
		})
	}
}

func schedule(t *rapid.T, flag bool) {
	g := newRig(t, flag)
	var actors []*actor
	paths := []string{"/orders", "/forward", "/after", "/wait", "/checkout"}
	pick := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch pick(6, "what") {
		case 0:
			a := &actor{left: pick(3, "chunks")}
			a.seen = g.open("POST", paths[pick(len(paths), "path")], []string{"k1", "k2"}[pick(2, "key")], a.left == 0)
			actors = append(actors, a)
		case 1, 2:
			if len(actors) > 0 {
				g.advance(t, actors[pick(len(actors), "who")], flag)
			}
		case 3:
			if n := len(g.flights); n > 0 {
				switch i := pick(n, "flight"); pick(4, "how") {
				case 0:
					g.fail(i)
				case 1:
					g.answer(i, true)
				default:
					g.answer(i, false)
				}
			}
		case 4:
			g.pass(time.Duration(rapid.IntRange(1, 300).Draw(t, "ms")) * time.Millisecond)
		case 5:
			if len(actors) > 0 {
				if a := actors[pick(len(actors), "who")]; !a.done && pick(3, "goes") == 0 {
					g.finish(a.seen, a.trail())
				}
			}
		}
	}
	g.runOut(actors, flag)
	for i, a := range actors {
		if !a.done && (a.pausedReq || a.pausedResp) {
			t.Fatalf("stream %d hangs in state %d (request %v, response %v)", i, a.core.state, a.pausedReq, a.pausedResp)
		}
		if !a.done {
			g.finish(a.seen, a.trail())
		}
	}
	g.runOut(actors, flag)
	if p := g.w.Pending(); p != 0 || g.w.captured != 0 || g.w.pendingBytes != 0 {
		t.Fatalf("left behind: %d operations with %d bytes, %d captured bytes", p, g.w.pendingBytes, g.w.captured)
	}
	g.noneHeld()
}

// runOut ends every body and lets everything come to its end.
func (g *rig) runOut(actors []*actor, flag bool) {
	for range 12 {
		g.settleDown()
		for _, a := range actors {
			a.finishBodies(g, flag)
		}
	}
	g.settleDown()
}

func (a *actor) trail() Trail {
	if a.resumed > 0 {
		return Trail{Attempts: 1}
	}
	return Trail{}
}

// takesBody reports whether Envoy would hand over a chunk of the request body.
func (a *actor) takesBody(flag bool) bool {
	return !a.done && a.left > 0 && len(a.replies) == 0 && (flag || !a.pausedReq)
}

func (a *actor) takesResponseBody(flag bool) bool {
	return !a.done && a.answered && !a.complete && (flag || !a.pausedResp)
}

func (a *actor) finishBodies(g *rig, flag bool) {
	for a.takesBody(flag) {
		a.left--
		g.body(a.seen, "x", a.left == 0)
	}
	if !a.done && a.resumed > 0 && !a.answered && a.left == 0 {
		a.answered, a.complete = true, true
		g.respond(a.seen, upstream(200), true)
	}
	for a.takesResponseBody(flag) {
		a.rest--
		a.complete = a.rest <= 0
		g.respondBody(a.seen, "y", a.complete)
	}
}

// advance gives a stream the next event that Envoy could give it.
func (g *rig) advance(t *rapid.T, a *actor, flag bool) {
	pick := func(n int, label string) int { return rapid.IntRange(0, n-1).Draw(t, label) }
	switch {
	case a.done:
	case a.takesBody(flag):
		a.left--
		g.body(a.seen, "x", a.left == 0)
	case a.resumed > 0 && !a.answered && a.left == 0:
		a.answered = true
		statuses := []int{200, 201, 404, 429, 500, 503}
		h := upstream(statuses[pick(len(statuses), "status")])
		if pick(5, "made") == 0 {
			h = headers{status: 503, trail: Trail{Attempts: pick(2, "attempts"), Flags: flagUF}}
		}
		a.rest = pick(4, "rest")
		a.complete = a.rest == 0
		g.respond(a.seen, h, a.complete)
	case a.takesResponseBody(flag):
		a.rest--
		n := []int{1, 600}[pick(2, "size")]
		a.complete = a.rest <= 0 && pick(6, "trailers") != 0
		if a.rest <= 0 && !a.complete {
			a.complete = true
			if a.core.ResponseTrailers(g.now, sumTrailers) != Continue {
				a.pausedResp = a.pausedResp || a.released == 0
			}
			g.perform()
			return
		}
		g.respondBody(a.seen, string(make([]byte, n)), a.complete)
	}
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
