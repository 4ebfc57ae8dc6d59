package filter

import (
	"slices"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// TestLeaseCountsFromTheSend: the bridge measured the lease when it granted it,
// which was no earlier than the claim left. What the answer took is gone.
func TestLeaseCountsFromTheSend(t *testing.T) {
	const spare, took = 50 * time.Millisecond, 60 * time.Millisecond
	for _, late := range []bool{false, true} {
		g := newRig(t, true)
		s := g.open("POST", "/orders", "k", true)
		g.records[recordKey(s.core)] = &record{state: "P", owner: string(s.core.owner), fence: 7}
		g.now += int64(spare)
		if late {
			g.now += int64(took - spare)
		}
		lease := s.core.rule.needs + spare
		g.oddly(0, wire.Result{Code: wire.Created, Fence: 7, Attempt: 1, LeaseMS: lease.Milliseconds()})
		if late != (s.resumed == 0) || late != slices.Equal(g.kinds(), []wire.Kind{wire.Release}) {
			t.Errorf("late %v: resumed %d times, then %v", late, s.resumed, g.kinds())
		}
	}
}

// TestRefusalAfterAGrant: answers that a claim gets although a try of it may have
// been granted release it.
func TestRefusalAfterAGrant(t *testing.T) {
	for name, c := range map[string]struct {
		lost bool
		code wire.Code
	}{
		"lapsed": {false, wire.Lapsed}, "stale": {false, wire.Stale},
		"over quota at the second try": {true, wire.OverQuota}, "refused at the second try": {true, wire.Invalid},
	} {
		g := newRig(t, true)
		s := g.open("POST", "/orders", "k", true)
		if c.lost {
			g.answer(0, true)
		}
		g.oddly(0, wire.Result{Code: c.code})
		if !slices.Equal(g.kinds(), []wire.Kind{wire.Release}) || len(s.replies) != 1 || s.resumed != 0 {
			t.Errorf("%s: %v, %d replies", name, g.kinds(), len(s.replies))
		}
	}
}

// TestEnvoyAnswersDuringTheClaim: the claim may be granted later, to nobody.
func TestEnvoyAnswersDuringTheClaim(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	g.overtaken(s)
	g.answerAll()
	if r := g.records[recordKey(s.core)]; r == nil || r.state != "R" {
		t.Errorf("%+v", r)
	}
}

// TestRenewalIsNotTriedTwice: the next one comes soon enough.
func TestRenewalIsNotTriedTwice(t *testing.T) {
	g := newRig(t, true)
	g.open("POST", "/orders", "k", true)
	g.answerAll()
	for len(g.flights) == 0 {
		g.pass(tickLive)
	}
	if k := g.kinds(); len(k) != 1 || k[0] != wire.Renew {
		t.Fatalf("%v", k)
	}
	g.fail(0)
	if k := g.kinds(); len(k) != 0 {
		t.Errorf("%v", k)
	}
}
