package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// An observed stream that changes its protocol is told as an enforcing rule would
// have it: its claim waits for no end, and nothing of the other protocol is read.
func TestObservedUpgradeDoesNotWait(t *testing.T) {
	ask := []wire.HeaderLine{{Name: "connection", Value: "Upgrade"}, {Name: "upgrade", Value: "websocket"}}
	g := observeRig(t, true)
	s := g.open("POST", "/seen", "k", false, ask...)
	if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Kind != wire.Claim {
		t.Fatal("the claim waits for the end of the stream")
	}
	g.answerAll()
	g.respond(s, upstream(101), false)
	if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Kind != wire.Executed || !g.flights[0].batch.Ops[0].NoResult {
		t.Fatalf("flights %+v", g.flights)
	}
	g.answerAll()
	g.body(s, "ping", false)
	g.respondBody(s, "pong", false)
	if h := g.w.Held(); h.Bodies != 0 {
		t.Errorf("%d bytes of the other protocol are held", h.Bodies)
	}
	if code := g.lastCode(t); code != "would-created" {
		t.Errorf("told as %q", code)
	}
	s.untouched(t)
	again := g.open("POST", "/seen", "k", false, ask...)
	g.answerAll()
	if code := g.lastCode(t); code != "would-response-not-kept" {
		t.Errorf("a repeat is told as %q", code)
	}
	again.untouched(t)
}
