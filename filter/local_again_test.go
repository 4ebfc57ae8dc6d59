package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// The bridge knows of a finished key, and is away for another worker still, or again.
// What the table knows holds: the key has run here.
func TestLocalKnowsWhatTheBridgeWasTold(t *testing.T) {
	for status, want := range map[int]Code{201: CodeResponseNotKept, 502: CodeOutcomeUnknown} {
		m := newShared()
		one, two := localRig(t, m, holds), localRig(t, m, holds)
		s := one.alone("k")
		one.respond(s, upstream(status), true)
		one.answerAll()
		if e := one.w.local.find(s.core.record); s.code() != string(CodeUnprotected) || e == nil || !e.told {
			t.Fatalf("%d: %q, %+v", status, s.code(), e)
		}
		if got := two.alone("k").code(); got != string(want) {
			t.Errorf("%d: a repeat while the bridge is away: %q", status, got)
		}
		again := two.open("POST", "/local", "k", true)
		two.records = one.records
		two.answerAll()
		if got := again.code(); status == 201 && got != string(CodeReplayed) {
			t.Errorf("%d: a repeat when it can be asked: %q", status, got)
		}
	}
}

// A claim is in the air while another worker, for which the bridge is away, lets a
// request with its key through. It may be granted: it is given back.
func TestLocalClaimOvertakesAGrant(t *testing.T) {
	m := newShared()
	one, two := localRig(t, m, holds), localRig(t, m, holds)
	late := two.open("POST", "/local", "k", true)
	if first := one.alone("k"); first.code() != string(CodeUnprotected) {
		t.Fatalf("first: %q", first.code())
	}
	two.answer(0, false)
	if late.resumed != 0 || late.code() != string(CodeInFlight) {
		t.Fatalf("resumed %d times, %q", late.resumed, late.code())
	}
	if k := two.kinds(); len(k) != 1 || k[0] != wire.Release {
		t.Errorf("under way: %v", k)
	}
	two.settleDown()
	if two.w.Pending() != 0 {
		t.Errorf("%d pending", two.w.Pending())
	}
}
