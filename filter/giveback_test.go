package filter

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// A claim whose answer was lost may have been granted: whatever ends its request
// without a run ends the claim too.
func TestUnheardGrantIsGivenBack(t *testing.T) {
	refused := headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}
	for _, c := range []struct {
		name, path string
		end        func(g *rig, s *seen)
		released   bool
	}{
		{"nothing was sent", "/forward", func(g *rig, s *seen) { g.respond(s, refused, true) }, true},
		{"nothing was sent, and the client is gone", "/forward", func(g *rig, s *seen) { g.finish(s, Trail{}) }, true},
		{"upstream says that it did not run", "/forward", func(g *rig, s *seen) { g.respond(s, upstream(429), true) }, true},
		{"it may have run", "/forward", func(g *rig, s *seen) { g.finish(s, Trail{Attempts: 1}) }, false},
		{"it ran", "/forward", func(g *rig, s *seen) { g.respond(s, upstream(201), true) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", c.path, "k", true)
			g.answer(0, true)
			g.fail(0)
			if s.request[HeaderStatus] != string(CodeUnprotected) {
				t.Fatalf("request headers %v", s.request)
			}
			c.end(g, s)
			if s.pausedResp != !c.released && !s.done {
				t.Errorf("the answer waits for the store: %v", s.pausedResp)
			}
			g.settleDown()
			if r := g.records[recordKey(s.core)]; r.state == "R" != c.released || r.state == "P" {
				t.Errorf("the record is in state %s", r.state)
			}
		})
	}
	t.Run("refused by another bridge", func(t *testing.T) {
		g := newRig(t, true)
		s := g.open("POST", "/orders", "k", true)
		g.answer(0, true)
		g.oddly(0, wire.Result{Code: wire.OverQuota, RetryAfterMS: 1000})
		if len(s.replies) != 1 || s.replies[0].Status != 429 {
			t.Fatalf("replies %+v", s.replies)
		}
		g.settleDown()
		if r := g.records[recordKey(s.core)]; r.state != "R" {
			t.Errorf("the record is in state %s", r.state)
		}
	})
	t.Run("never heard of it", func(t *testing.T) {
		g := newRig(t, true)
		for range breakerFailures {
			g.open("POST", "/orders", "others", true)
			g.fail(0)
			g.fail(0)
		}
		g.flights = nil
		s := g.open("POST", "/forward", "k", true) // the breaker is open: no claim left
		before := g.counts[MetricReleased]
		g.respond(s, refused, true)
		if g.pass(time.Second); g.counts[MetricReleased] != before {
			t.Error("a claim that was never sent was given back")
		}
	})
}

// While the bridge is known to be away an unprotected answer goes out at once,
// and is recorded when the bridge is back.
func TestUnprotectedAnswerWaitsForNobody(t *testing.T) {
	for _, body := range []string{"", "done"} {
		g := newRig(t, true)
		for range breakerFailures {
			g.open("POST", "/orders", "others", true)
			g.fail(0)
			g.fail(0)
		}
		s := g.open("POST", "/forward", "k", true)
		if s.resumed != 1 {
			t.Fatalf("not forwarded: %+v", s.replies)
		}
		g.respond(s, upstream(201), body == "")
		if body != "" {
			g.respondBody(s, body, true)
		}
		if s.pausedResp || s.response[HeaderRecorded] != "pending" || s.response[HeaderStatus] != string(CodeUnprotected) {
			t.Errorf("%q: waits %v, headers %v", body, s.pausedResp, s.response)
		}
		g.settleDown()
		if r := g.records[recordKey(s.core)]; r == nil || r.state != "C" {
			t.Errorf("%q: the record is %+v", body, r)
		}
	}
}
