package filter

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
)

// waitsAway is a rig with a request in flight, and another that waits for it whose
// claim for its group is in the air. The rule forwards while the store is away.
func waitsAway(t *testing.T) (g *rig, first, waits *seen) {
	t.Helper()
	cfg, err := rules.Parse([]byte(`{
 "namespace": "edge", "bridge": {"cluster": "bridge", "wait_cluster": "wait", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s", "recovery": {"lease": "10s", "action": "hold"}},
 "rules": [{"name": "wait", "match": {"path": {"prefix": "/wait"}}, "unavailable": "forward", "in_flight": {"action": "wait", "max_wait": "1s"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g = rigWith(t, cfg)
	first = g.open("POST", "/wait", "k", true)
	g.answerAll()
	waits = g.open("POST", "/wait", "k", true)
	g.answerClaims()
	g.now = waits.core.waitUntil - int64(100*time.Millisecond)
	g.fail(g.find(true))
	g.pass(firstPause + tickWaiting)
	if first.resumed != 1 || g.claiming() != 1 || g.now >= waits.core.waitUntil {
		t.Fatalf("%d claims under way, %v before the end of the wait", g.claiming(), time.Duration(waits.core.waitUntil-g.now))
	}
	return g, first, waits
}

// TestWaitEndsWhileStoreAway: a claim that comes to nothing when the wait is over
// leaves what is known of the key: another request runs, as long as its lease does.
func TestWaitEndsWhileStoreAway(t *testing.T) {
	g, _, waits := waitsAway(t)
	g.now = waits.core.waitUntil
	g.fail(0)
	g.fail(0)
	if waits.resumed != 0 || waits.code() != string(CodeInFlight) {
		t.Fatalf("%s, forwarded %d times beside the first request", waits.code(), waits.resumed)
	}
}

// TestLeaseEndsWhileStoreAway: once that lease is over the rule's word counts.
func TestLeaseEndsWhileStoreAway(t *testing.T) {
	g, _, waits := waitsAway(t)
	waits.core.lease = waits.core.waitUntil
	g.now = waits.core.waitUntil
	g.fail(0)
	g.fail(0)
	if waits.resumed != 1 || waits.request[HeaderStatus] != string(CodeUnprotected) {
		t.Fatalf("%s, forwarded %d times", waits.code(), waits.resumed)
	}
}

// TestUnheardClaimOfWaiterIsReleased: a waiter's claim may have been granted without
// a word. When its wait is over, the key is given back.
func TestUnheardClaimOfWaiterIsReleased(t *testing.T) {
	g, first, waits := waitsAway(t)
	g.respond(first, upstream(429), true) // its release is held up behind the claim
	g.now += int64(batchPatience)
	g.w.Tick(g.now)
	g.perform()
	g.answer(1, false)
	g.answer(0, true) // granted
	for range 80 {
		if len(waits.replies) > 0 {
			break
		}
		if len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(25 * time.Millisecond)
	}
	g.settleDown()
	if r := g.records[recordKey(waits.core)]; len(waits.replies) != 1 || r.state != "R" {
		t.Fatalf("%s, record %+v", waits.code(), r)
	}
}

// TestJoinsWhileTheLeaseRuns: who comes when the lease of the request in flight is
// over claims by itself.
func TestJoinsWhileTheLeaseRuns(t *testing.T) {
	for _, over := range []bool{false, true} {
		g, _, waits := waiters(t, 1)
		group := waits[0].core.group
		group.lease = g.now + 1
		if over {
			group.lease = g.now
		}
		g.open("POST", "/wait", "k", true)
		if n := g.claiming(); over != (n == 1) {
			t.Errorf("over %v: %d claims", over, n)
		}
	}
}
