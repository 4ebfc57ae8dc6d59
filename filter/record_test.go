package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestRecordedLinesAreBounded: Envoy would send none of a replay's lines if there were
// more than it takes.
func TestRecordedLinesAreBounded(t *testing.T) {
	lines := func(n, size int) []wire.HeaderLine {
		out := make([]wire.HeaderLine, n)
		for i := range out {
			out[i] = wire.HeaderLine{Name: "x", Value: strings.Repeat("v", size-1)}
		}
		return out
	}
	for _, c := range []struct {
		n, size int
		kept    bool
	}{
		{maxRecordedLines, 2, true}, {maxRecordedLines + 1, 2, false},
		{64, maxRecordedHeaderBytes / 64, true}, {1, maxRecordedHeaderBytes + 1, false},
	} {
		if got := recordable(lines(c.n, c.size)) != nil; got != c.kept {
			t.Errorf("%d lines of %d bytes: kept %v", c.n, c.size, got)
		}
	}
}

// TestRefusedWordIsPending: an operation that the bridge refuses is not recorded, and
// the client is told so.
func TestRefusedWordIsPending(t *testing.T) {
	for code, want := range map[wire.Code]string{wire.OK: "", wire.Stale: "superseded", wire.Invalid: "pending"} {
		g := newRig(t, true)
		s := g.open("POST", "/orders", "k", true)
		g.answerAll()
		g.respond(s, upstream(201), true)
		f := g.flights[0]
		g.flights = nil
		b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{{Code: code}}})
		if err != nil {
			t.Fatal(err)
		}
		g.w.CallAnswered(g.now, f.id, b)
		g.perform()
		if s.released != 1 || s.response[HeaderRecorded] != want {
			t.Errorf("code %d: released %d times, recorded %q", code, s.released, s.response[HeaderRecorded])
		}
	}
}

// TestTrailersAfterTheReply: an answer that passes while it is captured, and turns out
// to have trailers, is told as one that is not kept.
func TestTrailersAfterTheReply(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/after", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), false)
	g.answerAll()
	g.respondBody(s, "x", false)
	s.core.ResponseTrailers(g.now, sumTrailers)
	g.perform()
	if len(g.flights) != 1 || g.w.captured != 0 {
		t.Fatalf("%d batches, %d bytes captured", len(g.flights), g.w.captured)
	}
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Executed || !op.NoResult {
		t.Errorf("%+v", op)
	}
}
