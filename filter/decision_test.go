package filter

import (
	"testing"
	"time"
)

// Every covered request is told of once.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(g *rig)
		want []Decision
	}{
		{"created", func(g *rig) {
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, upstream(201), true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
		}, []Decision{{Rule: "orders", Code: CodeCreated, Status: 0}}},
		{"created, recorded after the reply", func(g *rig) {
			s := g.open("POST", "/after", "k", true)
			g.answerAll()
			g.respond(s, upstream(201), false)
			g.respondBody(s, "x", true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
		}, []Decision{{Rule: "after", Code: CodeCreated, Status: 0}}},
		{"key missing", func(g *rig) { g.finish(g.open("POST", "/orders", "", true), Trail{}) },
			[]Decision{{Rule: "orders", Code: CodeKeyMissing, Status: 400}}},
		{"never forwarded", func(g *rig) {
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1, Flags: flagUF})
		}, []Decision{{Rule: "orders", Code: CodeReleased, Status: 0}}},
		{"unprotected", func(g *rig) {
			s := g.open("POST", "/forward", "k", true)
			g.fail(0)
			g.fail(0)
			g.respond(s, upstream(429), true)
			g.finish(s, Trail{Attempts: 1})
		}, []Decision{{Rule: "forward", Code: CodeUnprotected, Status: 0}}},
		{"client gone while the claim is in the air", func(g *rig) {
			g.finish(g.open("POST", "/orders", "k", true), Trail{})
		}, []Decision{{Rule: "orders", Code: CodeGone, Status: 0}}},
		{"client gone after forwarding", func(g *rig) {
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
		}, []Decision{{Rule: "orders", Code: CodeGone, Status: 0}}},
		{"replayed", func(g *rig) {
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, upstream(201), true)
			g.answerAll()
			g.open("POST", "/orders", "k", true)
		}, []Decision{{Rule: "orders", Code: CodeCreated, Status: 0}, {Rule: "orders", Code: CodeReplayed, Status: 201}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			c.run(g)
			if len(g.decisions) != len(c.want) {
				t.Fatalf("%+v, want %+v", g.decisions, c.want)
			}
			for i, d := range g.decisions {
				if d != c.want[i] {
					t.Errorf("%+v, want %+v", d, c.want[i])
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		d    Decision
		want bool
	}{
		{Decision{Rule: "r", Code: CodeKeyReused, Status: 422}, true},
		{Decision{Rule: "r", Code: CodeReplayed, Status: 500}, false}, // upstream's own answer
		{Decision{Rule: "r", Code: CodeCreated, Status: 0}, false},
		{Decision{Rule: "r", Code: CodeIssued, Status: 201}, false},
	} {
		if got := c.d.Refused(); got != c.want {
			t.Errorf("%+v: %t", c.d, got)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	var l Lines
	now := int64(time.Hour)
	written := 0
	for range 3 * maxLines {
		if ok, _ := l.Take(now); ok {
			written++
		}
	}
	if written != maxLines {
		t.Errorf("%d lines in a second, want %d", written, maxLines)
	}
	now += int64(time.Second)
	if ok, suppressed := l.Take(now); !ok || suppressed != 2*maxLines {
		t.Errorf("next second: %t, %d suppressed", ok, suppressed)
	}
	if _, suppressed := l.Take(now); suppressed != 0 {
		t.Errorf("told again: %d", suppressed)
	}
}
