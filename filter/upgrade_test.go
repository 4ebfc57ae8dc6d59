package filter

import (
	"strings"
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

// A body that is declared beside an upgrade is compared by nobody: Envoy hands it over
// as what follows the request, whose end never comes.
func TestUpgradeWithBody(t *testing.T) {
	ask := func(length string) []wire.HeaderLine {
		return []wire.HeaderLine{{Name: "connection", Value: "Upgrade"}, {Name: "upgrade", Value: "other"}, {Name: "content-length", Value: length}}
	}
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", false, ask("2")...)
	if len(s.replies) != 1 || s.replies[0].Status != 413 || len(g.flights) != 0 || !strings.Contains(string(s.replies[0].Body), upgradeBody) {
		t.Errorf("replies %+v, %d flights", s.replies, len(g.flights))
	}
	if g.body(s, "{}", false) != Discard {
		t.Error("the body passes")
	}
	if s := g.open("POST", "/orders", "k", false, ask("0")...); len(s.replies) != 0 || len(g.flights) != 1 {
		t.Errorf("an empty body: replies %+v, %d flights", s.replies, len(g.flights))
	}
	// Where bodies are not compared there is nothing to miss.
	g = newRig(t, false)
	if s := g.open("POST", "/orders", "k", false, ask("2")...); len(s.replies) != 0 || len(g.flights) != 1 {
		t.Errorf("not compared: replies %+v, %d flights", s.replies, len(g.flights))
	}
	g = observeRig(t, true)
	s = g.open("POST", "/seen", "k", false, ask("2")...)
	if code := g.lastCode(t); code != "would-too-large" || len(g.flights) != 0 {
		t.Errorf("observed: told as %q, %d flights", code, len(g.flights))
	}
	g.body(s, "{}", false)
	s.untouched(t)
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
