package filter

import (
	"fmt"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// older answers a flight as a bridge of the previous version does, and reports
// whether it serves it.
func (g *rig) older(i int) bool {
	f := g.flights[i]
	g.w.BridgeServes(g.now, fmt.Sprint(wire.PreviousVersion))
	for _, op := range f.batch.Ops {
		if len(op.Fingerprint) > 0 && op.Fingerprint[0] != wire.FingerprintUntagged || op.Kind > wire.Renew {
			g.flights = append(g.flights[:i], g.flights[i+1:]...)
			g.w.CallRefused(g.now, f.id)
			g.perform()
			return false
		}
	}
	g.answer(i, false)
	return true
}

// TestPreviousBridge: a bridge of the previous version refuses one batch, which
// costs its requests nothing, and is served in its version from then on; the
// version rises when no such bridge has answered for a while.
func TestPreviousBridge(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	if g.older(0) {
		t.Fatal("the first batch is not in the current version")
	}
	if len(g.flights) != 1 || s.pausedReq != true || len(s.replies) != 0 {
		t.Fatalf("%d flights, %d replies after the refusal", len(g.flights), len(s.replies))
	}
	if n := g.counts[MetricBridgeError]; n != 0 {
		t.Errorf("%d errors of the bridge", n)
	}
	if !g.older(0) || s.resumed != 1 {
		t.Fatal("not granted in the previous version")
	}
	g.respond(s, upstream(201), true)
	if !g.older(0) || s.released != 1 {
		t.Fatal("not settled in the previous version")
	}
	g.finish(s, Trail{Attempts: 1})
	g.pass(riseAfter - time.Millisecond)
	g.open("POST", "/orders", "other", true)
	if !g.older(0) {
		t.Fatal("the version rose early")
	}
	// A bridge of the current version among those of the previous one changes nothing.
	g.w.BridgeServes(g.now, fmt.Sprint(wire.Version))
	g.open("POST", "/orders", "third", true)
	if !g.older(0) {
		t.Fatal("the version rose at one answer")
	}
	g.pass(riseAfter)
	g.open("POST", "/orders", "fourth", true)
	if fp := g.flights[0].batch.Ops[0].Fingerprint; fp[0] != wire.FingerprintVersion {
		t.Errorf("fingerprint of version %d after all old bridges are gone", fp[0])
	}
}

// TestPreviousBridgeWaits: who waits claims again and again in place of a long poll,
// and is answered with the result.
func TestPreviousBridgeWaits(t *testing.T) {
	g := newRig(t, true)
	first := g.open("POST", "/wait", "k", true)
	g.older(0)
	g.older(0)
	waits := g.open("POST", "/wait", "k", true)
	g.older(0)
	g.pass(firstPause + tickWaiting)
	if g.polls() != 0 || len(g.flights) != 1 {
		t.Fatalf("%d polls, %d flights: want a claim", g.polls(), len(g.flights))
	}
	if op := g.flights[0].batch.Ops[0]; op.Kind != wire.Claim || !op.Again {
		t.Errorf("%+v", op)
	}
	g.older(0)
	g.respond(first, upstream(201), true)
	for range 100 {
		for len(g.flights) > 0 {
			g.older(0)
		}
		if len(waits.replies) > 0 {
			break
		}
		g.pass(tickWaiting)
	}
	wantAll(t, []*seen{waits}, CodeReplayed)
}

// TestPreviousBridgeCannot: what the previous version cannot say is not sent. A
// lookup is told that it is unavailable, a rule with previous scopes does as it says
// of that, and what settles a claim is kept until it can be said.
func TestPreviousBridgeCannot(t *testing.T) {
	cfg, err := rules.Parse([]byte(`{
 "namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "issue": {"path": "/idempotency-keys"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s",
  "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"},
 "rules": [
  {"name": "moved", "match": {"path": {"prefix": "/moved"}}, "previous_scopes": ["before"]},
  {"name": "plain", "match": {"path": {"prefix": "/plain"}}}
 ]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := rigWith(t, cfg)
	s := g.open("POST", "/moved", "k", true)
	g.answerAll()
	g.w.BridgeServes(g.now, fmt.Sprint(wire.PreviousVersion))
	looks := g.open("GET", "/idempotency-keys/k?scope=plain", "", true)
	if len(looks.replies) != 1 || looks.replies[0].Status != 503 || len(g.flights) != 0 {
		t.Errorf("lookup: %d replies, %d flights", len(looks.replies), len(g.flights))
	}
	if r := g.repeat("/moved", "other", ""); r == nil || r.Status != 503 {
		t.Errorf("a rule with previous scopes: %+v", r)
	}
	g.respond(s, upstream(201), true)
	g.pass(time.Second)
	if len(g.flights) != 0 || g.w.Pending() == 0 {
		t.Errorf("%d flights, %d operations wait", len(g.flights), g.w.Pending())
	}
	for end := g.now + int64(riseAfter+2*maxBackoff); g.w.Pending() > 0 && g.now < end; g.pass(tickWaiting) {
		g.answerAll()
	}
	if r := g.records[recordKey(s.core)]; r == nil || r.state != "C" {
		t.Errorf("the completion is lost: %+v", r)
	}
}

// TestOtherRefusal: a bridge that refuses a batch for anything else has failed.
func TestOtherRefusal(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/orders", "k", true)
	for len(g.flights) > 0 {
		f := g.flights[0]
		g.flights = g.flights[1:]
		g.w.BridgeServes(g.now, fmt.Sprint(wire.Version))
		g.w.CallRefused(g.now, f.id)
		g.perform()
	}
	if len(s.replies) != 1 || s.replies[0].Status != 503 || g.counts[MetricBridgeError] == 0 {
		t.Errorf("%+v", s.replies)
	}
}
