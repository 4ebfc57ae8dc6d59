package filter

import (
	"strconv"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// came is a request for a key with what it says of a gateway before.
func came(w *Worker, s *Stream, namespace, fence, mac string) *Stream {
	s.readProof(headers{lines: []wire.HeaderLine{line(HeaderGateway, namespace), line(HeaderFence, fence),
		line(HeaderAttempt, "1"), line(HeaderProof, mac)}})
	return s
}

// TestProof: only a gateway of the namespace, with its secret, for this key and
// not long ago.
func TestProof(t *testing.T) {
	const now = int64(time.Hour)
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	worker := func(secret string) *Worker {
		w := NewWorker(parseConfig(t, true), [16]byte{1})
		w.SetSecret(secret)
		w.SetClock(0, epoch)
		return w
	}
	stream := func(w *Worker, key string) *Stream {
		s := w.Open(1, w.Match("POST", "/orders"), "POST", "/orders")
		s.principal, s.key = "ada", key
		s.fingerprint = w.headerFingerprint("POST", "/orders")
		return s
	}
	other := func(s *Stream, fingerprint []byte) *Stream {
		s.fingerprint = fingerprint
		return s
	}
	fence := uint64((epoch + now) / 1000)
	w := worker("secret")
	body := wire.AppendPart(w.headerFingerprint("POST", "/orders"), wire.PartBody, wire.AlgorithmFixed, [wire.DigestBytes]byte{1})
	mac := stream(w, "k").prove(fence)
	f := strconv.FormatUint(fence, 10)
	old := fence - uint64((time.Hour).Microseconds())
	for _, c := range []struct {
		name string
		w    *Worker
		s    *Stream
		want bool
	}{
		{"a loop", w, came(w, stream(w, "k"), "edge", f, mac), true},
		{"another key", w, came(w, stream(w, "l"), "edge", f, mac), false},
		{"another method", w, came(w, other(stream(w, "k"), w.headerFingerprint("PUT", "/orders")), "edge", f, mac), false},
		{"another target", w, came(w, other(stream(w, "k"), w.headerFingerprint("POST", "/orders?x")), "edge", f, mac), false},
		{"another body", w, came(w, other(stream(w, "k"), body), "edge", f, mac), false},
		{"another fence", w, came(w, stream(w, "k"), "edge", strconv.FormatUint(fence+1, 10), mac), false},
		{"another namespace", w, came(w, stream(w, "k"), "inner", f, mac), false},
		{"no proof", w, came(w, stream(w, "k"), "edge", f, ""), false},
		{"a guess", w, came(w, stream(w, "k"), "edge", f, "00112233445566778899aabbccddeeff"), false},
		{"long ago", w, came(w, stream(w, "k"), "edge", strconv.FormatUint(old, 10), stream(w, "k").prove(old)), false},
		{"no number", w, came(w, stream(w, "k"), "edge", "-1", mac), false},
	} {
		if got := c.s.comesBack(now); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
	strange := worker("another")
	if came(strange, stream(strange, "k"), "edge", f, mac).comesBack(now) {
		t.Error("believed under another secret")
	}
	none := worker("")
	if came(none, stream(none, "k"), "edge", f, mac).comesBack(now) {
		t.Error("believed without a secret")
	}
}

// TestAnotherGatewaysWord: its refusals free the key, and only what it cannot
// vouch for is unknown.
func TestAnotherGatewaysWord(t *testing.T) {
	for code, want := range map[Code]rules.Outcome{
		CodeInFlight: rules.OutcomeRelease, CodeKeyReused: rules.OutcomeRelease, CodeResponseNotKept: rules.OutcomeRelease,
		CodeUnavailable: rules.OutcomeRelease, CodeOutcomeUnknown: rules.OutcomeUnknown, CodeMisconfigured: rules.OutcomeUnknown,
		CodeReplayed: rules.OutcomeResult, CodeCreated: rules.OutcomeUnknown, "": rules.OutcomeUnknown, "nonsense": rules.OutcomeUnknown,
	} {
		var w upstreamWord
		w.hear(line(HeaderStatus, string(code)))
		if got := w.outcome(503, rules.DefaultOutcome(503)); got != want {
			t.Errorf("%q on a 503: outcome %d, want %d", code, got, want)
		}
	}
	for i := range refusals {
		for _, status := range []int{200, 201, 302, 399} {
			if w := (upstreamWord{gateway: i}); w.outcome(status, rules.OutcomeResult) != rules.OutcomeResult {
				t.Errorf("%s on a %d is believed", i, status)
			}
		}
		if i == CodeCreated || i == CodeReplayed || i == CodeUnprotected || i == CodeIssued {
			t.Errorf("%s is no refusal", i)
		}
	}
}

// TestAnotherGatewaysWordOnSuccess: an answer that is no refusal is a result,
// whatever it says of a refusal, and the client is told no other.
func TestAnotherGatewaysWordOnSuccess(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(s, upstream(201, wire.HeaderLine{Name: HeaderStatus, Value: string(CodeReleased)}), true)
	if got := g.flights[0].batch.Ops[0].Kind; got != wire.Complete {
		t.Errorf("operation %d", got)
	}
	g.answerAll()
	if got := s.response[HeaderStatus]; got != string(CodeCreated) {
		t.Errorf("the client is told %q", got)
	}
}

// TestAnotherGatewaysWordToGRPC: a refusal of a gRPC request has the status 200,
// and says in grpc-status that it is one.
func TestAnotherGatewaysWordToGRPC(t *testing.T) {
	for _, c := range []struct {
		request, status string
		want            wire.Kind
	}{
		{"application/grpc", "10", wire.Release},
		{"application/grpc+proto", "0", wire.Executed},
		{"application/grpc", "", wire.Executed},
		{"application/json", "10", wire.Complete},
	} {
		g := newRig(t, true)
		s := g.open("POST", "/orders", "k", true, line("content-type", c.request))
		g.answerAll()
		lines := []wire.HeaderLine{line(HeaderStatus, string(CodeInFlight))}
		if c.status != "" {
			lines = append(lines, line("grpc-status", c.status))
		}
		g.respond(s, upstream(200, lines...), true)
		if got := g.flights[0].batch.Ops[0].Kind; got != c.want {
			t.Errorf("%s, grpc-status %q: operation %d, want %d", c.request, c.status, got, c.want)
		}
	}
}

// TestProofOfAFinishedKey: who has got hold of a proof runs nothing with it once
// the key is finished, under the same body or another, whatever worker he meets.
func TestProofOfAFinishedKey(t *testing.T) {
	cfg := parseConfig(t, true)
	with := func() *rig {
		g := rigWith(t, cfg)
		g.w.SetSecret("secret")
		return g
	}
	one, two := with(), with()
	send := func(g *rig, body string, lines ...wire.HeaderLine) *seen {
		s := g.open("POST", "/orders", "k", false, lines...)
		g.body(s, body, true)
		g.answerAll()
		return s
	}
	first := send(one, `{"n":1}`)
	again := []wire.HeaderLine{line(HeaderGateway, "edge"), line(HeaderFence, first.request[HeaderFence]),
		line(HeaderAttempt, "1"), line(HeaderProof, first.request[HeaderProof])}
	if s := send(one, `{"n":1}`, again...); s.core.state != statePassing || s.request[HeaderProof] == "" {
		t.Fatalf("a loop does not pass: %q", s.code())
	}
	one.respond(first, upstream(201), true)
	one.answerAll()
	two.records = one.records
	for _, c := range []struct {
		g          *rig
		body, want string
	}{
		{one, `{"n":1}`, string(CodeReplayed)}, {one, `{"n":2}`, string(CodeKeyReused)}, {two, `{"n":2}`, string(CodeKeyReused)},
	} {
		if s := send(c.g, c.body, again...); s.core.state != stateReplied || s.code() != c.want {
			t.Errorf("%s: %q in state %d, want %q", c.body, s.code(), s.core.state, c.want)
		}
	}
}
