package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// lanesRig has a plain rule, whose results may be large, and one with replicas.
func lanesRig(t *testing.T, unavailable string) *rig {
	cfg, err := rules.Parse(fmt.Appendf(nil, `{
 "namespace": "edge",
 "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s",
  "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "%s", "record": {"max_body": "256KiB"}},
 "rules": [
  {"name": "plain", "match": {"path": {"prefix": "/plain"}}},
  {"name": "durable", "match": {"path": {"prefix": "/durable"}}, "durability": {"replicas": 1}}
 ]}`, unavailable))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

// number is the flight that holds an operation on the key; -1: none does.
func (g *rig) number(key string) int {
	for i := range g.flights {
		for j := range g.flights[i].batch.Ops {
			if g.flights[i].batch.Ops[j].Key == key {
				return i
			}
		}
	}
	return -1
}

func TestDurableClaimHoldsUpNothing(t *testing.T) {
	g := lanesRig(t, "reject")
	g.open("POST", "/durable", "slow", true)
	fast := g.open("POST", "/plain", "fast", true)
	i := g.number("fast")
	if i < 0 || len(g.flights[i].batch.Ops) != 1 {
		t.Fatalf("the plain claim waits for the durable one: %d flights", len(g.flights))
	}
	g.answer(i, false)
	if fast.resumed != 1 {
		t.Error("the plain claim was granted and not forwarded")
	}
	// Another durable claim waits for the one under way.
	g.open("POST", "/durable", "next", true)
	if g.number("next") >= 0 {
		t.Error("an operation did not wait for the batch of its lane")
	}
	g.answer(g.number("slow"), false)
	if g.number("next") < 0 {
		t.Error("the lane's queue did not leave when its batch returned")
	}
}

func TestLargeResultHoldsUpNothing(t *testing.T) {
	g := lanesRig(t, "reject")
	s := g.open("POST", "/plain", "large", true)
	g.answerAll()
	g.respond(s, upstream(201), false)
	g.respondBody(s, strings.Repeat("x", 100<<10), true)
	if g.number("large") < 0 {
		t.Fatal("the completion did not leave")
	}
	g.open("POST", "/plain", "fresh", true)
	if i := g.number("fresh"); i < 0 || i == g.number("large") {
		t.Errorf("a claim waits for a large completion, or rides with it (flight %d)", i)
	}

	// A small one costs no callout of its own.
	g = lanesRig(t, "reject")
	s = g.open("POST", "/plain", "small", true)
	g.answerAll()
	g.open("POST", "/plain", "first", true)
	g.respond(s, upstream(201), true)
	g.open("POST", "/plain", "second", true)
	g.answer(g.number("first"), false)
	if i := g.number("small"); i < 0 || i != g.number("second") {
		t.Errorf("a small completion does not ride with claims: flights %d and %d", i, g.number("second"))
	}
}

// Claims that fetch large results travel a few at a time, and no other claim
// waits for them.
func TestFetchesAreSpread(t *testing.T) {
	g := lanesRig(t, "reject")
	for i := range maxBatchFetches + 4 {
		g.open("POST", "/plain", fmt.Sprint("k", i), true)
	}
	withhold := func(i int) {
		f := g.flights[i]
		g.flights = append(g.flights[:i], g.flights[i+1:]...)
		results := make([]wire.Result, len(f.batch.Ops))
		for j := range results {
			results[j] = wire.Result{Code: wire.Replayed, Withheld: true}
		}
		b, err := wire.AppendAnswer(nil, &wire.Answer{Results: results})
		if err != nil {
			t.Fatal(err)
		}
		g.w.CallAnswered(g.now, f.id, b)
		g.perform()
	}
	withhold(g.number("k0")) // its fetch leaves at once
	withhold(g.number("k1")) // the fetches of all others queue
	g.answer(g.number("k0"), false)
	fetches := g.flights[g.number("k1")].batch.Ops
	if len(fetches) != maxBatchFetches || !fetches[0].Fetch {
		t.Errorf("%d fetches in a batch, want %d", len(fetches), maxBatchFetches)
	}
	g.open("POST", "/plain", "fresh", true)
	if g.number("fresh") < 0 {
		t.Error("a claim waits for fetches")
	}
}

// openBreaker loses callouts until the worker stops asking.
func openBreaker(t *testing.T, g *rig) {
	t.Helper()
	for i := 0; !g.w.b.breaker.open; i++ {
		if i > breakerFailures {
			t.Fatalf("not open after %d callouts", i)
		}
		g.open("POST", "/plain", fmt.Sprint("lost", i), true)
		for len(g.flights) > 0 && !g.w.b.breaker.open {
			g.fail(0)
		}
	}
	if got := g.counts[MetricBridgeError]; got != breakerFailures {
		t.Fatalf("open after %d callouts, want %d", got, breakerFailures)
	}
	if g.counts[MetricBreakerOpened] != 1 {
		t.Errorf("counted %d times", g.counts[MetricBreakerOpened])
	}
}

func TestBreakerRefusesAtOnce(t *testing.T) {
	g := lanesRig(t, "reject")
	openBreaker(t, g)
	pending := g.w.Pending()
	for i := range 100 {
		s := g.open("POST", "/plain", fmt.Sprint("k", i), true)
		if len(s.replies) != 1 || s.replies[0].Status != 503 {
			t.Fatalf("request %d: %+v", i, s.replies)
		}
	}
	if len(g.flights) != 0 {
		t.Errorf("%d callouts while the breaker is open", len(g.flights))
	}
	// No claim of these was ever sent: there is nothing to release.
	if got := g.w.Pending(); got != pending {
		t.Errorf("%d operations wait, %d before", got, pending)
	}

	g = lanesRig(t, "forward")
	openBreaker(t, g)
	s := g.open("POST", "/plain", "k", true)
	if s.resumed != 1 || s.request[HeaderStatus] != string(CodeUnprotected) {
		t.Errorf("resumed %d times, marked %q", s.resumed, s.request[HeaderStatus])
	}
}

func TestBreakerProbesWithOneBatch(t *testing.T) {
	g := lanesRig(t, "reject")
	openBreaker(t, g)
	g.now += int64(breakerInterval)
	probe := g.open("POST", "/plain", "probe", true)
	if len(g.flights) != 1 {
		t.Fatalf("%d callouts, want the probe", len(g.flights))
	}
	other := g.open("POST", "/durable", "other", true)
	if len(g.flights) != 1 || len(other.replies) != 1 {
		t.Fatalf("%d callouts beside the probe, %d replies", len(g.flights)-1, len(other.replies))
	}
	g.fail(0)
	if len(probe.replies) != 1 || len(g.flights) != 0 {
		t.Fatalf("the probe failed: %d replies, %d callouts", len(probe.replies), len(g.flights))
	}
	if !g.w.b.breaker.open {
		t.Fatal("closed by a probe that failed")
	}
	g.now += int64(breakerInterval)
	probe = g.open("POST", "/plain", "again", true)
	g.answer(0, false)
	if probe.resumed != 1 || g.w.b.breaker.open {
		t.Fatalf("answered probe: resumed %d times, open %t", probe.resumed, g.w.b.breaker.open)
	}
	// What the outage left behind is told to the bridge.
	for end := g.now + 2*int64(maxBackoff); g.now < end; {
		g.settleDown()
	}
	if n := g.w.Pending(); n != 0 {
		t.Errorf("%d operations are still not acknowledged", n)
	}
}

// A held answer does not wait for a bridge that is known to be away.
func TestBreakerLetsAnswersGo(t *testing.T) {
	g := lanesRig(t, "reject")
	s := g.open("POST", "/plain", "k", true)
	g.answerAll()
	openBreaker(t, g)
	g.respond(s, upstream(201), true)
	if s.released != 1 || s.response[HeaderRecorded] != "pending" {
		t.Fatalf("released %d times, recorded %q", s.released, s.response[HeaderRecorded])
	}
	for end := g.now + 2*int64(maxBackoff); g.now < end; {
		g.settleDown()
	}
	if r := g.records[recordKey(s.core)]; r == nil || r.state != "C" {
		t.Errorf("record %+v", r)
	}
}
