package filter

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// The tests here look inside. What clients and upstream see of the main path is
// told by the stories of testenv/scenario, natively, in the harness and in Envoy.

// first lets a request run to its recorded answer.
func (g *rig) first(path, key, body, answer string) *seen {
	g.t.Helper()
	s := g.open("POST", path, key, false)
	g.body(s, body, true)
	g.answerAll()
	if s.resumed != 1 {
		g.t.Fatalf("first request not forwarded: %+v", s.replies)
	}
	g.respond(s, upstream(201, wire.HeaderLine{Name: "x-a", Value: "1"}, wire.HeaderLine{Name: "x-a", Value: "2"}), false)
	g.respondBody(s, answer, true)
	g.answerAll()
	g.finish(s, Trail{Attempts: 1})
	return s
}

func (g *rig) repeat(path, key, body string) *LocalReply {
	g.t.Helper()
	s := g.open("POST", path, key, false)
	g.body(s, body, true)
	g.answerAll()
	if len(s.replies) != 1 {
		g.t.Fatalf("%d replies, resumed %d", len(s.replies), s.resumed)
	}
	g.finish(s, Trail{})
	return s.replies[0]
}

func (r *LocalReply) header(name string) string {
	for _, h := range r.Headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

func TestFirstThenReplay(t *testing.T) {
	g := newRig(t, true)
	s := g.first("/orders", "k", `{"a":1}`, "done")
	if s.released != 1 || s.response[HeaderStatus] != "created" || s.response[HeaderRecorded] != "" {
		t.Fatalf("first: %+v", s)
	}
	if s.request[headerMaxRetries] != "0" || s.request[headerUpstreamTimeout] != "5000" || s.request[HeaderGateway] != "edge" {
		t.Fatalf("upstream headers: %v", s.request)
	}
	calls := g.counts[MetricCallout]
	g.now += int64(2 * time.Second)
	r := g.repeat("/orders", "k", `{ "a": 1.0 }`)
	if r.Status != 201 || string(r.Body) != "done" || r.header(HeaderReplayed) != "true" || r.header(HeaderAge) != "2" {
		t.Fatalf("replay: %+v %s", r, r.Body)
	}
	if r.Headers[0] != [2]string{"x-a", "1"} || r.Headers[1] != [2]string{"x-a", "2"} {
		t.Fatalf("header lines: %v", r.Headers)
	}
	if g.counts[MetricCallout] != calls || g.counts[MetricReplayedLocally] != 1 {
		t.Fatal("a finished key cost a callout")
	}
	if r := g.repeat("/orders", "k", `{"a":2}`); r.Status != 422 || !bytes.Contains(r.Body, []byte(`"parts":["body"]`)) {
		t.Fatalf("reused: %d %s", r.Status, r.Body)
	}
	g.now += int64(cacheLife)
	if r := g.repeat("/orders", "k", `{"a":1}`); r.Status != 201 || g.counts[MetricCallout] == calls {
		t.Fatalf("after %v the worker still answers by itself (%d)", cacheLife, r.Status)
	}
}

func TestBridgeAway(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.fail(0)
	if len(s.replies) != 0 || len(g.flights) != 1 {
		t.Fatal("the claim was not tried again")
	}
	g.fail(0)
	if len(s.replies) != 1 || s.replies[0].Status != 503 || s.replies[0].header("retry-after") == "" {
		t.Fatalf("reject: %+v", s.replies)
	}
	// What the claim may have been granted is given back until acknowledged.
	g.pass(time.Second)
	for i := 0; i < 100 && len(g.flights) == 0; i++ {
		g.pass(tickWaiting)
	}
	if g.w.Pending() != 1 || len(g.flights) == 0 || g.flights[0].batch.Ops[0].Kind != wire.Release {
		t.Fatal("no release is under way")
	}
	g.answerAll()
	if g.w.Pending() != 0 {
		t.Fatal("the release is still pending after its acknowledgement")
	}

	f := g.open("POST", "/forward", "k", true)
	g.fail(0)
	g.fail(0)
	if f.resumed != 1 || f.request[HeaderStatus] != "unprotected" || f.request[HeaderFence] != "" {
		t.Fatalf("forward: %+v", f)
	}
	g.respond(f, upstream(201), true)
	op := g.flights[0].batch.Ops[0]
	if op.Kind != wire.Complete || !op.Unprotected || op.Fence != 0 {
		t.Fatalf("completion of an unprotected request: %+v", op)
	}
	g.fail(0)
	g.fail(0)
	if f.released != 1 || f.response[HeaderStatus] != "unprotected" || f.response[HeaderRecorded] != "pending" {
		t.Fatalf("its answer: %+v", f.response)
	}
	g.finish(f, Trail{Attempts: 1})
	g.settleDown()
	if g.w.Pending() != 0 || g.counts[MetricUnprotected] != 1 {
		t.Fatal("the completion was lost")
	}
}

// A grant that too few replicas held is given back by the bridge, and the second
// try of the same owner is told stale. The rule decides as if the store had been
// away.
func TestGrantGivenBack(t *testing.T) {
	g := newRig(t, true)
	for path, forwarded := range map[string]int{"/orders": 0, "/forward": 1} {
		s := g.open("POST", path, "k", true)
		op := g.flights[0].batch.Ops[0]
		id := op.Scope + "\x00" + op.Principal + "\x00" + op.Key
		g.fail(0)
		g.records[id] = &record{state: "R", owner: string(op.Owner)}
		g.answer(0, false)
		if s.resumed != forwarded || len(s.replies) != 1-forwarded {
			t.Errorf("%s: forwarded %d times, %d replies", path, s.resumed, len(s.replies))
		}
		g.settleDown()
	}
}

// Each case is one way for a forwarded request to end.
func TestOutcomes(t *testing.T) {
	envoyMade := func(status int, trail Trail) headers { return headers{status: status, trail: trail} }
	word := func(status int, w string) headers {
		return upstream(status, wire.HeaderLine{Name: HeaderOutcome, Value: w})
	}
	cases := []struct {
		name string
		h    headers
		kind wire.Kind
		code Code
	}{
		{"2xx is a result", upstream(200), wire.Complete, CodeCreated},
		{"4xx is a result", upstream(404), wire.Complete, CodeCreated},
		{"500 is a result", upstream(500), wire.Complete, CodeCreated},
		{"401 releases", upstream(401), wire.Release, CodeCreated},
		{"429 releases", upstream(429), wire.Release, CodeCreated},
		{"503 of a proxy is unknown", upstream(503), wire.Unknown, CodeCreated},
		{"504 of a proxy is unknown", upstream(504), wire.Unknown, CodeCreated},
		{"503 that upstream calls final", word(503, "final"), wire.Complete, CodeCreated},
		{"409 that upstream calls not executed", word(409, "not-executed"), wire.Release, CodeCreated},
		{"200 that upstream does not want stored", word(200, "no-store"), wire.Executed, CodeCreated},
		{"connection refused", envoyMade(503, Trail{Attempts: 1, Flags: flagUF}), wire.Release, CodeReleased},
		{"no healthy host", envoyMade(503, Trail{Attempts: 1, Flags: flagUH}), wire.Release, CodeReleased},
		{"refused by a later filter", envoyMade(429, Trail{Attempts: 0, Flags: 0x800}), wire.Release, CodeReleased},
		{"stream refused by an h2 upstream", envoyMade(503, Trail{Attempts: 1, Flags: 0x10, Refused: true}), wire.Release, CodeReleased},
		{"stream refused after a retry", envoyMade(503, Trail{Attempts: 2, Flags: 0x10, Refused: true}), wire.Unknown, CodeOutcomeUnknown},
		{"no connection to be had", envoyMade(503, Trail{Attempts: 1, Flags: flagUO, Overflow: true}), wire.Release, CodeReleased},
		{"refused, no retry left", envoyMade(503, Trail{Attempts: 1, Flags: flagUF | flagURX}), wire.Release, CodeReleased},
		{"refused, no budget for a retry", envoyMade(503, Trail{Attempts: 1, Flags: flagUF | flagUO}), wire.Release, CodeReleased},
		{"stream refused, no budget for a retry", envoyMade(503, Trail{Attempts: 1, Flags: flagUR | flagUO, Refused: true}), wire.Release, CodeReleased},
		// Envoy tells a retry that it had no budget for by the flag of a full cluster.
		{"closed, no budget for a retry", envoyMade(503, Trail{Attempts: 1, Flags: 0x40 | flagUO}), wire.Unknown, CodeOutcomeUnknown},
		{"timeout, no budget for a retry", envoyMade(504, Trail{Attempts: 1, Flags: 0x4 | flagUO}), wire.Unknown, CodeOutcomeUnknown},
		{"answered on the way back, no budget for a hedge", envoyMade(500, Trail{Attempts: 1, Flags: flagUO}), wire.Unknown, CodeOutcomeUnknown},
		{"idle, no budget for a hedge", envoyMade(504, Trail{Attempts: 1, Flags: 0x10000 | flagUO}), wire.Unknown, CodeOutcomeUnknown},
		{"reset where attempts are not counted", envoyMade(503, Trail{Flags: 0x40}), wire.Unknown, CodeOutcomeUnknown},
		{"answered on the way back", envoyMade(500, Trail{Attempts: 1}), wire.Unknown, CodeOutcomeUnknown},
		{"refused on a third attempt", envoyMade(503, Trail{Attempts: 3, Flags: flagUF}), wire.Unknown, CodeOutcomeUnknown},
		{"upstream timeout", envoyMade(504, Trail{Attempts: 1, Flags: 0x4}), wire.Unknown, CodeOutcomeUnknown},
		{"upstream reset", envoyMade(503, Trail{Attempts: 1, Flags: 0x40}), wire.Unknown, CodeOutcomeUnknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/orders", "k", true)
			g.answerAll()
			g.respond(s, c.h, true)
			if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Kind != c.kind {
				t.Fatalf("flights: %+v", g.flights)
			}
			g.answerAll()
			if s.pausedResp || s.response[HeaderStatus] != string(c.code) {
				t.Fatalf("paused %v, %s %q, want %q", s.pausedResp, HeaderStatus, s.response[HeaderStatus], c.code)
			}
		})
	}
}

func TestStreamEnds(t *testing.T) {
	ends := []struct {
		name  string
		until func(g *rig, s *seen)
		trail Trail
		kind  wire.Kind
	}{
		{"while the claim is in the air", func(*rig, *seen) {}, Trail{}, wire.Release},
		{"forwarded, no answer", func(g *rig, s *seen) { g.answerAll() }, Trail{Attempts: 1, Flags: 0x4000}, wire.Unknown},
		{"gone while no budget was left for a hedge", func(g *rig, s *seen) { g.answerAll() }, Trail{Attempts: 1, Flags: 0x4000 | flagUO}, wire.Unknown},
		{"forwarded, never sent", func(g *rig, s *seen) { g.answerAll() }, Trail{Attempts: 0, Flags: 0x4000}, wire.Release},
		{"in the middle of the body", func(g *rig, s *seen) {
			g.answerAll()
			g.respond(s, upstream(200), false)
			g.respondBody(s, "half", false)
		}, Trail{Attempts: 1, Flags: 0}, wire.Unknown},
	}
	for _, c := range ends {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			s := g.open("POST", "/orders", "k", true)
			c.until(g, s)
			g.finish(s, c.trail)
			g.pass(10 * time.Millisecond)
			var kinds []wire.Kind
			for _, f := range g.flights {
				for _, op := range f.batch.Ops {
					kinds = append(kinds, op.Kind)
				}
			}
			if len(kinds) == 0 || kinds[len(kinds)-1] != c.kind {
				t.Fatalf("operations %v, want the last to be %v", kinds, c.kind)
			}
			if g.w.captured != 0 {
				t.Fatalf("%d captured bytes are still counted", g.w.captured)
			}
		})
	}
}

func TestLargeResponsePasses(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, upstream(200), false)
	g.respondBody(s, strings.Repeat("x", 1000), false)
	if a := g.respondBody(s, strings.Repeat("x", 25), false); a != Hold || len(g.flights) != 1 {
		t.Fatalf("over max_body: %v, %d flights", a, len(g.flights))
	}
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Executed || !op.NoResult {
		t.Fatalf("%+v", op)
	}
	if s.released != 0 {
		t.Fatal("a byte left before EXECUTED was acknowledged")
	}
	g.answerAll()
	if s.released != 1 || g.respondBody(s, "more", true) != Continue {
		t.Fatal("the rest does not pass")
	}
	g.finish(s, Trail{Attempts: 1, Flags: 0})
	if r := g.repeat("/orders", "k", ""); r.Status != 409 || !bytes.Contains(r.Body, []byte(`"original_status":200`)) {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
}

// A refusal waits for a small body, so that the connection is kept, and not for
// a large one.
func TestRefusalWaitsForBody(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "", false)
	if len(s.replies) != 0 {
		t.Fatal("answered before the body")
	}
	if a := g.body(s, "x", true); a != Discard || len(s.replies) != 1 {
		t.Fatalf("%v %d", a, len(s.replies))
	}
	s = g.open("POST", "/orders", "", false)
	g.body(s, strings.Repeat("x", maxDiscard+1), false)
	if len(s.replies) != 1 {
		t.Fatal("reads on without bound")
	}
}

func TestLeaseTooShortToForward(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	// The grant says that 5 s are left; upstream may take 5 s.
	f := g.flights[0]
	g.flights = nil
	b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{{Code: wire.Created, Fence: 7, Attempt: 1, LeaseMS: 5000}}})
	g.w.CallAnswered(g.now, f.id, b)
	g.perform()
	if s.resumed != 0 || len(s.replies) != 1 || s.replies[0].Status != 503 {
		t.Fatalf("%+v", s)
	}
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Release || op.Fence != 7 {
		t.Fatalf("%+v", op)
	}
}

func TestWithoutHeaderStop(t *testing.T) {
	g := newRig(t, false)
	s := g.open("POST", "/orders", "k", false)
	g.answerAll()
	if s.resumed != 1 || g.body(s, "x", true) != Continue {
		t.Fatal("not forwarded by its headers")
	}
	g.respond(s, upstream(201), false)
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Executed || op.NoResult {
		t.Fatalf("EXECUTED comes before the reply: %+v", op)
	}
	g.answerAll()
	if s.released != 1 {
		t.Fatal("not resumed")
	}
	g.respondBody(s, "body", true)
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Complete {
		t.Fatalf("%+v", op)
	}
	g.answerAll()
	g.finish(s, Trail{Attempts: 1, Flags: 0})
	if r := g.repeat("/orders", "k", ""); string(r.Body) != "body" {
		t.Fatalf("%s", r.Body)
	}
}

// What only a gateway may say never passes from a client to upstream.
func TestClientCopiesAreRemoved(t *testing.T) {
	g := newRig(t, true)
	var lines []wire.HeaderLine
	for _, h := range slices.Concat(ownRequestHeaders, retryRequestHeaders, []string{"x-envoy-upstream-stream-duration-ms"}) {
		lines = append(lines, wire.HeaderLine{Name: h, Value: "9"})
	}
	s := g.open("POST", "/orders", "k", true, lines...)
	for _, l := range lines {
		if !s.removed[l.Name] {
			t.Errorf("%s was not removed", l.Name)
		}
	}
	if len(lines) < 11 {
		t.Fatalf("only %d headers looked at", len(lines))
	}
}

// A result that the bridge withholds is asked for again. Its key is known to be
// finished, so that under unavailable: forward the request is not forwarded even
// if the store is away by then.
func TestWithheldResult(t *testing.T) {
	result, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: []byte("large")})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(g *rig, r wire.Result) {
		f := g.flights[0]
		g.flights = g.flights[1:]
		b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
		if err != nil {
			t.Fatal(err)
		}
		g.w.CallAnswered(g.now, f.id, b)
		g.perform()
	}
	withheld := wire.Result{Code: wire.Replayed, Withheld: true}

	g := newRig(t, true)
	s := g.open("POST", "/forward", "k", true)
	tell(g, withheld)
	if len(g.flights) != 1 || !g.flights[0].batch.Ops[0].Fetch {
		t.Fatalf("not asked for: %+v", g.flights)
	}
	tell(g, wire.Result{Code: wire.Replayed, Status: 201, Result: result})
	if len(s.replies) != 1 || string(s.replies[0].Body) != "large" {
		t.Fatalf("%+v", s.replies)
	}

	g = newRig(t, true)
	s = g.open("POST", "/forward", "k", true)
	tell(g, withheld)
	g.fail(0)
	g.fail(0)
	if s.resumed != 0 || len(s.replies) != 1 || s.replies[0].Status != 503 {
		t.Fatalf("store away: forwarded %d times, %+v", s.resumed, s.replies)
	}

	g = newRig(t, true)
	s = g.open("POST", "/forward", "k", true)
	for range maxFetches + 1 {
		tell(g, withheld)
	}
	if len(s.replies) != 1 || s.replies[0].Status != 503 || len(g.flights) != 0 {
		t.Fatalf("asked %d times: %+v, %d flights", maxFetches, s.replies, len(g.flights))
	}
}

// Envoy answers a gRPC request by trailers alone, which would turn a recorded
// 201 into a 200 without its body.
func TestGRPCIsNotReplayed(t *testing.T) {
	grpc := wire.HeaderLine{Name: "content-type", Value: "Application/GRPC+proto"}
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true, grpc)
	g.answerAll()
	g.respond(s, upstream(200), false)
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Executed || !op.NoResult {
		t.Fatalf("%+v", op)
	}
	g.answerAll()
	again := g.open("POST", "/orders", "k", true, grpc)
	if len(again.replies) != 1 || again.replies[0].GRPC != 6 || again.replies[0].header(HeaderStatus) != "response-not-kept" {
		t.Fatalf("%+v", again.replies)
	}
	// The first was not gRPC, the repeat is.
	g.first("/orders", "plain", "", "body")
	again = g.open("POST", "/orders", "plain", true, grpc)
	if len(again.replies) != 1 || again.replies[0].header(HeaderReplayed) != "" {
		t.Fatalf("%+v", again.replies)
	}
}

// A completion whose first acknowledgement was lost took effect at a time that
// the worker does not know: it must not outlive its record in the worker's
// memory.
func TestRepeatedCompletionIsNotRemembered(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), true)
	g.answer(0, true)
	g.answerAll()
	g.finish(s, Trail{Attempts: 1})
	calls := g.counts[MetricCallout]
	if r := g.repeat("/orders", "k", ""); r.header(HeaderReplayed) != "true" || g.counts[MetricCallout] == calls {
		t.Fatalf("answered from memory: %+v", r)
	}
}

// A result that the bridge refuses for its size is given up, not sent for ever.
func TestResultTooLargeForTheBridge(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), false)
	g.respondBody(s, "body", true)
	f := g.flights[0]
	g.flights = nil
	g.w.CallTooLarge(g.now, f.id)
	g.perform()
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Executed || !op.NoResult || op.Result != nil {
		t.Fatalf("%+v", op)
	}
	g.answerAll()
	if s.released != 1 || g.w.Pending() != 0 || g.w.pendingBytes != 0 {
		t.Fatalf("released %d, %d pending with %d bytes", s.released, g.w.Pending(), g.w.pendingBytes)
	}
}
