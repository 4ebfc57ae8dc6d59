package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestStreamedAnswers: what comes piece by piece is not held, and the store knows
// of the execution before the first piece; what tells its length is no stream, but
// for events.
func TestStreamedAnswers(t *testing.T) {
	typed := func(v string) wire.HeaderLine { return line("content-type", v) }
	for _, c := range []struct {
		name   string
		lines  []wire.HeaderLine
		passes bool
	}{
		{"events", []wire.HeaderLine{typed("Text/Event-Stream;charset=utf-8")}, true},
		{"events with a length", []wire.HeaderLine{typed("text/event-stream"), line("content-length", "5")}, true},
		{"lines of JSON", []wire.HeaderLine{typed("application/X-NDJSON ; charset=utf-8")}, true},
		{"lines of JSON with a length", []wire.HeaderLine{line("content-length", "5"), typed("application/x-ndjson")}, false},
		{"pictures", []wire.HeaderLine{typed("multipart/x-mixed-replace; boundary=b")}, true},
		{"Connect", []wire.HeaderLine{typed("application/connect+proto")}, true},
		{"its own word", []wire.HeaderLine{typed("application/json"), line("x-accel-buffering", "No")}, true},
		{"its own word, with a length", []wire.HeaderLine{line("x-accel-buffering", "no"), line("content-length", "5")}, false},
		{"another word", []wire.HeaderLine{line("x-accel-buffering", "yes")}, false},
		{"JSON", []wire.HeaderLine{typed("application/json")}, false},
		{"a type that begins alike", []wire.HeaderLine{typed("application/x-ndjsonp")}, false},
		{"no type", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, upstream(200, c.lines...), false)
			if !s.pausedResp || s.released != 0 {
				t.Fatal("headers left before EXECUTED was acknowledged")
			}
			if told := len(g.flights) == 1 && g.flights[0].batch.Ops[0].Kind == wire.Executed && g.flights[0].batch.Ops[0].NoResult; told != c.passes {
				t.Fatalf("told of the execution: %t", told)
			}
			g.answerAll()
			if a := g.respondBody(s, "piece", false); (a == Continue) != c.passes || (s.released == 1) != c.passes {
				t.Errorf("piece: %v, released %d", a, s.released)
			}
			g.respondBody(s, "", true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
			want := CodeReplayed
			if c.passes {
				want = CodeResponseNotKept
			}
			if r := g.repeat("/orders", "k", ""); r.header(HeaderStatus) != string(want) {
				t.Errorf("repeat: %s, want %s", r.header(HeaderStatus), want)
			}
		})
	}
}
