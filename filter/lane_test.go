package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// claiming counts the claims under way.
func (g *rig) claiming() (n int) {
	for i := range g.flights {
		for j := range g.flights[i].batch.Ops {
			if g.flights[i].batch.Ops[j].Kind == wire.Claim {
				n++
			}
		}
	}
	return n
}

// openBreaker loses callouts until the worker stops asking.
func openBreaker(t *testing.T, g *rig) {
	t.Helper()
	for i := 0; !g.w.b.breaker.open; i++ {
		if i > breakerFailures {
			t.Fatalf("not open after the claims of %d requests", i)
		}
		g.open("POST", "/plain", fmt.Sprint("lost", i), true)
		for len(g.flights) > 0 && !g.w.b.breaker.open {
			g.fail(0)
		}
	}
	if g.counts[MetricBreakerOpened] != 1 {
		t.Errorf("counted %d times", g.counts[MetricBreakerOpened])
	}
}

// drain loses everything under way.
func (g *rig) drain() {
	for len(g.flights) > 0 {
		g.fail(0)
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
	if n := g.claiming(); n != 0 {
		t.Errorf("%d claims under way while the breaker is open", n)
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
	g.drain()
	g.now += int64(breakerInterval)
	probe := g.open("POST", "/plain", "probe", true)
	if g.number("probe") < 0 {
		t.Fatal("no probe")
	}
	other := g.open("POST", "/durable", "other", true)
	if g.number("other") >= 0 || len(other.replies) != 1 {
		t.Fatalf("a claim left beside the probe, %d replies", len(other.replies))
	}
	g.fail(g.number("probe"))
	if len(probe.replies) != 1 || g.claiming() != 0 || !g.w.b.breaker.open {
		t.Fatalf("the probe failed: %d replies, %d claims, open %t", len(probe.replies), g.claiming(), g.w.b.breaker.open)
	}
	g.drain()
	g.now += int64(breakerInterval)
	probe = g.open("POST", "/plain", "again", true)
	g.answer(g.number("again"), false)
	if probe.resumed != 1 || g.w.b.breaker.open {
		t.Fatalf("answered probe: resumed %d times, open %t", probe.resumed, g.w.b.breaker.open)
	}
}

// Once the bridge is back, what waits to be acknowledged does not wait for its
// own next try.
func TestBreakerBackHurries(t *testing.T) {
	g := lanesRig(t, "forward")
	s := g.open("POST", "/plain", "k", true)
	for g.claiming() > 0 {
		g.fail(0)
	}
	g.respond(s, upstream(201), true)
	for range 12 {
		for len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(maxBackoff)
	}
	for len(g.flights) > 0 {
		g.fail(0)
	}
	if len(g.w.waiting) != 1 || time.Duration(g.w.waiting[0].due-g.now) < time.Second {
		t.Fatalf("%d operations wait", len(g.w.waiting))
	}
	g.w.b.breaker.failures = 1
	g.open("POST", "/plain", "other", true)
	g.answer(g.number("other"), false)
	g.answerAll()
	if r := g.records[recordKey(s.core)]; r == nil || r.state != "C" {
		t.Errorf("record %+v", r)
	}
}

// An operation that the bridge cannot digest refuses nobody.
func TestSettlingFailuresDoNotOpenTheBreaker(t *testing.T) {
	g := lanesRig(t, "reject")
	s := g.open("POST", "/plain", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), true)
	for range 3 * breakerFailures {
		for len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(maxBackoff)
	}
	if g.w.b.breaker.open {
		t.Error("open, and no claim has failed")
	}
}
