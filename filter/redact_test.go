package filter

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// redactingRig has the rule orders leave /card/number and /pin out of records.
func redactingRig(t *testing.T, when string) *rig {
	t.Helper()
	text := fmt.Sprintf(rigConfig, true, "json", "json", "json", "json", "json", "json")
	text = strings.Replace(text, `"record": {"max_body": "1KiB"}`,
		`"record": {"max_body": "1KiB", "when": "`+when+`", "redact": ["/card/number", "/pin"]}`, 1)
	cfg, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

// order answers an order with body and returns what the bridge was told.
func (g *rig) order(body string, lines ...wire.HeaderLine) *record {
	g.t.Helper()
	s := g.open("POST", "/orders", "k", false)
	g.body(s, `{}`, true)
	g.answerAll()
	g.respond(s, upstream(201, lines...), body == "")
	if body != "" {
		g.respondBody(s, body, true)
	}
	g.answerAll()
	if s.response[HeaderStatus] != "created" || s.response[HeaderRecorded] != "" || s.response[HeaderRedacted] != "" {
		g.t.Fatalf("the first answer: %v", s.response)
	}
	g.finish(s, Trail{Attempts: 1})
	if g.w.captured != 0 {
		g.t.Fatalf("%d bytes are still held", g.w.captured)
	}
	for _, r := range g.records {
		return r
	}
	return nil
}

func TestRedacted(t *testing.T) {
	for _, when := range []string{"before_reply", "after_reply"} {
		g := redactingRig(t, when)
		kept := g.order(`{"id":7,"card":{"number":"4711","brand":"x"},"pin":42}`, wire.HeaderLine{Name: "x-a", Value: "1"},
			wire.HeaderLine{Name: "etag", Value: `"e"`}, wire.HeaderLine{Name: "content-digest", Value: "d"}, wire.HeaderLine{Name: HeaderRedacted, Value: "forged"})
		if kept.state != "C" || bytes.Contains(kept.result, []byte("4711")) || bytes.Contains(kept.result, []byte("42")) || bytes.Contains(kept.result, []byte("forged")) {
			t.Fatalf("%s: kept %q %q", when, kept.state, kept.result)
		}
		// From the worker's memory, then from the bridge.
		for _, from := range []string{"memory", "bridge"} {
			r := g.repeat("/orders", "k", `{}`)
			if r.Status != 201 || string(r.Body) != `{"id":7,"card":{"number":null,"brand":"x"},"pin":null}` ||
				r.header(HeaderRedacted) != "true" || r.header("x-a") != "1" || r.header("etag") != "" || r.header("content-digest") != "" {
				t.Errorf("%s, from %s: %+v %s", when, from, r, r.Body)
			}
			g.now += int64(cacheLife + time.Second)
		}
	}
}

// TestNothingToRedact: an answer without these members is kept as it is, and one
// without a body too.
func TestNothingToRedact(t *testing.T) {
	for _, body := range []string{`{"id":7}`, `[1]`, ``} {
		g := redactingRig(t, "before_reply")
		g.order(body, wire.HeaderLine{Name: "etag", Value: `"e"`}, wire.HeaderLine{Name: HeaderRedacted, Value: "forged"})
		r := g.repeat("/orders", "k", `{}`)
		if r.Status != 201 || string(r.Body) != body || r.header(HeaderRedacted) != "" || r.header("etag") != `"e"` {
			t.Errorf("%q: %+v %s", body, r, r.Body)
		}
	}
}

// TestCannotBeRedacted: where it is not known what to take out, nothing is kept.
func TestCannotBeRedacted(t *testing.T) {
	for _, body := range []string{`pin=42`, "\x1f\x8b\x08", `{"pin":42,"pin":43}`, `{"PIN":42}`, `{"pin":42`} {
		for _, when := range []string{"before_reply", "after_reply"} {
			g := redactingRig(t, when)
			if kept := g.order(body); kept.state != "E" || kept.result != nil {
				t.Errorf("%q, %s: kept %q %q", body, when, kept.state, kept.result)
			}
			if r := g.repeat("/orders", "k", `{}`); r.Status != 409 || r.header(HeaderStatus) != string(CodeResponseNotKept) {
				t.Errorf("%q, %s: %+v %s", body, when, r, r.Body)
			}
			if g.counts[MetricDropped] != 1 {
				t.Errorf("%q, %s: dropped %d", body, when, g.counts[MetricDropped])
			}
		}
	}
}

// TestRedactedLineMustFit: the mark is one line more.
func TestRedactedLineMustFit(t *testing.T) {
	lines := make([]wire.HeaderLine, maxRecordedLines)
	for i := range lines {
		lines[i] = wire.HeaderLine{Name: "x-a", Value: "1"}
	}
	if kept := redactingRig(t, "before_reply").order(`{"pin":1}`, lines...); kept.state != "E" {
		t.Errorf("kept with %d lines and one more: %s", len(lines), kept.state)
	}
	if kept := redactingRig(t, "before_reply").order(`{"pin":1}`, lines[1:]...); kept.state != "C" {
		t.Errorf("not kept with %d lines: %s", len(lines), kept.state)
	}
}
