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
		return s
	}
	fence := uint64((epoch + now) / 1000)
	w := worker("secret")
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
	other := worker("another")
	if came(other, stream(other, "k"), "edge", f, mac).comesBack(now) {
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
		if got := w.outcome(rules.DefaultOutcome(503)); got != want {
			t.Errorf("%q on a 503: outcome %d, want %d", code, got, want)
		}
	}
	for i := range refusals {
		if i == CodeCreated || i == CodeReplayed || i == CodeUnprotected || i == CodeIssued {
			t.Errorf("%s is no refusal", i)
		}
	}
}
