package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// The first try of an observed claim was granted without a word, the second is
// refused as over the quota, or by a code that is not known: the request has gone
// upstream, and its outcome ends the claim.
func TestObservedQuotaAfterLostTry(t *testing.T) {
	for code, would := range map[wire.Code]Code{wire.OverQuota: "would-over-quota", 200: "would-misconfigured"} {
		for state, end := range map[string]func(*rig, *seen){
			"C": func(g *rig, s *seen) { g.respond(s, upstream(201), true) },
			"U": func(g *rig, s *seen) { g.respond(s, upstream(503), true) },
			"R": func(g *rig, s *seen) {
				g.respond(s, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
			},
		} {
			g := observeRig(t, true)
			s := g.open("POST", "/seen", "k", true)
			g.answer(0, true)
			g.say(wire.Result{Code: code})
			if got := g.lastCode(t); got != would {
				t.Errorf("%d: told as %q", code, got)
			}
			end(g, s)
			g.finish(s, Trail{Attempts: 1})
			g.settleDown()
			for _, r := range g.records {
				if r.state != state {
					t.Errorf("%d: the record is %+v, want state %s", code, r, state)
				}
			}
			if len(g.records) != 1 || len(g.decisions) != 1 || g.w.Pending() != 0 {
				t.Errorf("%d: %d records, decisions %v, %d pending", code, len(g.records), g.decisions, g.w.Pending())
			}
			s.untouched(t)
		}
		// No try was lost: it is known that there is no claim.
		g := observeRig(t, true)
		s := g.open("POST", "/seen", "k", true)
		g.say(wire.Result{Code: code})
		g.respond(s, upstream(201), true)
		if len(g.flights) != 0 || g.lastCode(t) != would {
			t.Errorf("%d: %d operations followed, told as %q", code, len(g.flights), g.lastCode(t))
		}
	}
}
