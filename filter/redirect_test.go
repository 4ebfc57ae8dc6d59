package filter

import (
	"testing"
	"time"
)

// redirected forwards a request for a key and has Envoy end its stream to
// continue it elsewhere.
func redirected(t *testing.T) (g *rig, s *seen, token string) {
	t.Helper()
	g = newRig(t, true)
	s = g.open("POST", "/orders", "k", true)
	g.answerAll()
	if s.resumed != 1 {
		t.Fatal("the request was not forwarded")
	}
	s.core.Done(g.now, func() Trail { return Trail{Attempts: 1, Redirected: true} })
	for _, e := range g.w.Effects() {
		switch e.Kind {
		case HandOn:
			token = e.Value
		case Decide, Call:
			t.Fatalf("effect %d at the end of a stream that goes on", e.Kind)
		case SetTick:
			g.tick = time.Duration(e.TickMS) * time.Millisecond
		}
	}
	if token == "" || !g.w.Handed() {
		t.Fatal("no claim was left for the stream that continues")
	}
	s.request, s.resumed = map[string]string{}, 0
	return g, s, token
}

// continued is redirected, with the stream that continues.
func continued(t *testing.T) (*rig, *seen) {
	t.Helper()
	g, s, token := redirected(t)
	again, a := g.w.Continue(g.now, 99, token)
	if again == nil || again.ID != 99 || a != Continue {
		t.Fatalf("got %+v and action %d", again, a)
	}
	g.perform()
	if s.request[headerMaxRetries] != "0" || s.request[headerUpstreamTimeout] != "5000" {
		t.Errorf("request headers %v: the router has taken those of the first stream", s.request)
	}
	if other, _ := g.w.Continue(g.now, 100, token); other != nil || g.w.Handed() {
		t.Error("the claim can be taken twice")
	}
	return g, s
}

func stateOf(g *rig, s *seen) string { return g.records[recordKey(s.core)].state }

// TestRedirect: one claim covers all that an internal redirect makes of a
// request, and what came after the first answer of upstream is not taken for a
// request that never ran.
func TestRedirect(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(g *rig, s *seen)
		want string
	}{
		{"answered", func(g *rig, s *seen) { g.respond(s, upstream(201), true) }, "C"},
		{"not executed, by the status of the second place", func(g *rig, s *seen) { g.respond(s, upstream(429), true) }, "U"},
		{"not executed, by its word", func(g *rig, s *seen) {
			g.respond(s, upstream(429, line(HeaderOutcome, "not-executed")), true)
		}, "R"},
		{"second place not reached", func(g *rig, s *seen) {
			g.respond(s, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
		}, "U"},
		{"cut before the second place", func(g *rig, s *seen) { g.finish(s, Trail{}) }, "U"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := continued(t)
			c.end(g, s)
			g.settleDown()
			if got := stateOf(g, s); got != c.want {
				t.Errorf("record %s, want %s", got, c.want)
			}
			if n := len(g.decisions); n != 1 {
				t.Errorf("%d decisions, want 1: %v", n, g.decisions)
			}
		})
	}
}

// TestRedirectNobodyContinues: something before the filter answers in its place,
// or nothing comes at all.
func TestRedirectNobodyContinues(t *testing.T) {
	for name, end := range map[string]func(g *rig, token string){
		"answered before the filter": func(g *rig, token string) { g.w.Abandon(g.now, token); g.perform() },
		"nothing comes":              func(g *rig, _ string) { g.settleDown(); g.pass(11 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			g, s, token := redirected(t)
			s.done = true
			end(g, token)
			g.settleDown()
			if got := stateOf(g, s); got != "U" || g.w.Handed() {
				t.Errorf("record %s, handed %t; want U and false", got, g.w.Handed())
			}
			if n := len(g.decisions); n != 1 || g.decisions[0].Code != CodeGone {
				t.Errorf("decisions %v, want gone", g.decisions)
			}
		})
	}
}

// TestRedirectTooLate: what is left of the lease does not cover the second place.
func TestRedirectTooLate(t *testing.T) {
	g, s, token := redirected(t)
	s.core.lease = g.now + int64(time.Second)
	_, a := g.w.Continue(g.now, 99, token)
	g.perform()
	g.settleDown()
	if a != Pause || len(s.replies) != 1 || s.replies[0].Status != 409 || stateOf(g, s) != "U" {
		t.Errorf("action %d, replies %v, record %s", a, s.replies, stateOf(g, s))
	}
}
