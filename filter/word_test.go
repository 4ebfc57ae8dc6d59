package filter

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

func TestUpstreamWord(t *testing.T) {
	for _, c := range []struct {
		lines []wire.HeaderLine
		want  upstreamWord
	}{
		{nil, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "final"}}, upstreamWord{said: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: " not-executed "}}, upstreamWord{said: true, says: rules.OutcomeRelease}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "no-store"}}, upstreamWord{said: true, noStore: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "Final"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "maybe"}}, upstreamWord{}},
		// Of two words that contradict each other the one that lets nothing run again.
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "not-executed"}, {Name: HeaderOutcome, Value: "final"}}, upstreamWord{said: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "final"}, {Name: HeaderOutcome, Value: "not-executed"}}, upstreamWord{said: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "no-store"}, {Name: HeaderOutcome, Value: "not-executed"}}, upstreamWord{said: true, noStore: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "no-store"}, {Name: HeaderOutcome, Value: "final"}}, upstreamWord{said: true, noStore: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "not-executed, final"}}, upstreamWord{said: true}},
		{[]wire.HeaderLine{{Name: HeaderOutcome, Value: "not-executed"}, {Name: HeaderOutcome, Value: "maybe"}}, upstreamWord{said: true, says: rules.OutcomeRelease}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "60"}}, upstreamWord{ttl: time.Minute}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "0"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "000"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "1"}}, upstreamWord{ttl: time.Second}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "999999999"}}, upstreamWord{ttl: maxWordTTL}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "9999999999"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "-1"}}, upstreamWord{}},
		// Of two lives the longer.
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "60"}, {Name: HeaderTTL, Value: "1"}}, upstreamWord{ttl: time.Minute}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "1"}, {Name: HeaderTTL, Value: "60"}}, upstreamWord{ttl: time.Minute}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "1, 60"}}, upstreamWord{ttl: time.Minute}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "60,x"}, {Name: HeaderTTL, Value: ","}}, upstreamWord{ttl: time.Minute}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "1.5"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: "+5"}}, upstreamWord{}},
		{[]wire.HeaderLine{{Name: HeaderTTL, Value: ""}}, upstreamWord{}},
	} {
		var got upstreamWord
		for _, l := range c.lines {
			got.hear(l)
		}
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.lines, got, c.want)
		}
	}
}

// Upstream's word on the life of its result travels with the result, and the
// worker's own memory of it ends no later.
func TestUpstreamTTL(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, upstream(201, wire.HeaderLine{Name: HeaderTTL, Value: "2"}, wire.HeaderLine{Name: "x", Value: "y"}), true)
	op := g.flights[0].batch.Ops[0]
	if op.Kind != wire.Complete || op.TTLMS != 2000 {
		t.Fatalf("kind %d, ttl %dms", op.Kind, op.TTLMS)
	}
	r, err := wire.Response{}, error(nil)
	if err = wire.DecodeResponse(op.Result, &r); err != nil || len(r.Headers) != 1 {
		t.Errorf("recorded lines %v, %v", r.Headers, err)
	}
	g.answerAll()
	g.finish(s, Trail{Attempts: 1})
	repeat := func() bool {
		before := g.counts[MetricReplayedLocally]
		g.open("POST", "/orders", "k", true)
		g.answerAll()
		return g.counts[MetricReplayedLocally] > before
	}
	g.now += int64(time.Second)
	if !repeat() {
		t.Error("a repeat within the result's life was not answered from memory")
	}
	g.now += int64(time.Second)
	if repeat() {
		t.Error("a repeat after the result's life was answered from memory")
	}
}

// A rule's lists move statuses; upstream's word decides over them.
func TestRuleOutcomes(t *testing.T) {
	cfg, err := rules.Parse([]byte(`{"namespace": "edge", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true},
 "rules": [{"name": "r", "match": {"path": {"prefix": "/r"}}, "principal": "anonymous", "upstream_timeout": "1s",
  "recovery": {"action": "hold"}, "unavailable": "reject",
  "outcomes": {"result": [503, 429], "release": [409], "unknown": [500]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		word   string
		want   wire.Kind
	}{
		{200, "", wire.Complete}, {503, "", wire.Complete}, {429, "", wire.Complete}, {409, "", wire.Release},
		{500, "", wire.Unknown}, {502, "", wire.Unknown}, {401, "", wire.Release}, {599, "", wire.Complete},
		{500, "final", wire.Complete}, {200, "not-executed", wire.Release}, {409, "no-store", wire.Executed},
	} {
		g := rigWith(t, cfg)
		s := g.open("POST", "/r", "k", true)
		g.answerAll()
		var lines []wire.HeaderLine
		if c.word != "" {
			lines = append(lines, wire.HeaderLine{Name: HeaderOutcome, Value: c.word})
		}
		g.respond(s, upstream(c.status, lines...), true)
		if got := g.flights[0].batch.Ops[0].Kind; got != c.want {
			t.Errorf("%d %q: operation %d, want %d", c.status, c.word, got, c.want)
		}
	}
}
