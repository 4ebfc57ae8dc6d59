package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

func TestUpgrades(t *testing.T) {
	for _, c := range []struct {
		connection, upgrade string
		want                bool
	}{
		{"upgrade", "websocket", true}, {"keep-alive, Upgrade", "x", true}, {"keep-alive", "websocket", false},
		{"upgrade", "", false}, {"", "websocket", false}, {"upgraded", "websocket", false},
	} {
		var h headers
		if c.connection != "" {
			h.lines = append(h.lines, wire.HeaderLine{Name: "connection", Value: c.connection})
		}
		if c.upgrade != "" {
			h.lines = append(h.lines, wire.HeaderLine{Name: "upgrade", Value: c.upgrade})
		}
		if got := upgrades(h); got != c.want {
			t.Errorf("connection %q, upgrade %q: %v", c.connection, c.upgrade, got)
		}
	}
}

// A stream that changes its protocol waits for the end of nothing, and is never
// run again.
func TestUpgradeDoesNotWait(t *testing.T) {
	ask := []wire.HeaderLine{{Name: "connection", Value: "Upgrade"}, {Name: "upgrade", Value: "websocket"}}
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", false, ask...)
	g.answerAll()
	if s.resumed != 1 {
		t.Fatal("the request waits for the end of its stream")
	}
	g.respond(s, upstream(101), false)
	if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Kind != wire.Executed {
		t.Fatalf("flights %+v", g.flights)
	}
	g.answerAll()
	if s.pausedResp {
		t.Fatal("the answer waits for the end of its stream")
	}
	if g.body(s, "ping", false) != Continue || g.respondBody(s, "pong", false) != Continue {
		t.Error("the stream does not pass")
	}
	again := g.open("POST", "/orders", "k", false, ask...)
	g.answerAll()
	if len(again.replies) != 1 || again.replies[0].Status != 409 {
		t.Errorf("a repeat: %+v", again.replies)
	}
}
