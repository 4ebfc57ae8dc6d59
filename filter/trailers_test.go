package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

func sumTrailers() []wire.HeaderLine { return []wire.HeaderLine{{Name: "x-sum", Value: "1"}} }

// ownTrailers has every line that is removed from headers, and two that are not.
func ownTrailers() (lines []wire.HeaderLine) {
	for _, name := range ownResponseHeaders {
		lines = append(lines, wire.HeaderLine{Name: name, Value: "no-store"})
	}
	return append(lines, wire.HeaderLine{Name: "idempotency-custom", Value: "c"}, wire.HeaderLine{Name: "grpc-status", Value: "0"})
}

// What is removed from upstream's headers is removed from its trailers, however the
// answer goes, and decides nothing there. Answers that are not the rule's business
// keep theirs, and nobody reads them.
func TestTrailersAreStripped(t *testing.T) {
	for _, c := range []struct {
		path, body string
		away       bool
	}{{"/orders", "held", false}, {"/after", "passes", false}, {"/orders", string(make([]byte, 2000)), false}, {"/forward", "unprotected", true}} {
		g := newRig(t, true)
		s := g.open("POST", c.path, "k", true)
		if c.away {
			g.fail(0)
			g.fail(0)
		} else {
			g.answerAll()
		}
		g.respond(s, upstream(200), false)
		g.respondBody(s, c.body, false)
		s.core.ResponseTrailers(g.now, ownTrailers)
		g.perform()
		g.answerAll()
		if len(s.trailers) != len(ownResponseHeaders) || s.trailers[len(s.trailers)-1] != HeaderProof {
			t.Errorf("%s %.20q: removed %v", c.path, c.body, s.trailers)
		}
		for _, r := range g.records {
			if r.state != "E" || r.status != 200 {
				t.Errorf("%s %.20q: %+v", c.path, c.body, r)
			}
		}
		if s.response[HeaderStatus] == "" || s.pausedResp {
			t.Errorf("%s %.20q: %v, paused %v", c.path, c.body, s.response, s.pausedResp)
		}
	}
	unread := func() []wire.HeaderLine { t.Error("trailers that nobody strips are read"); return nil }
	g := observeRig(t, true)
	s := g.open("POST", "/seen", "k", true)
	g.answerAll()
	g.respond(s, upstream(200), false)
	s.core.ResponseTrailers(g.now, unread)
	g = newRig(t, true)
	s = g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, false)
	s.core.ResponseTrailers(g.now, unread)
}
