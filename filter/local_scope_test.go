package filter

import (
	"fmt"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// renamedRig has a rule of a scope and of those before it.
func renamedRig(t failer, m Shared, scope, previous string) *rig {
	cfg, err := rules.Parse(fmt.Appendf(nil, `{
 "namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true},
 "rules": [{"name": "local", "scope": %q, %s "match": {"path": {"prefix": "/local"}}, "principal": {"header": "x-user-id", "trusted": true},
  "upstream_timeout": "5s", "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "local"}]}`, scope, previous))
	if err != nil {
		t.Fatal(err)
	}
	g := rigWith(t, cfg)
	g.w.UseLocal(m)
	return g
}

// While the store is away, a key that was claimed under an earlier scope runs no
// second time under the rule's new name, nor the other way round.
func TestLocalUnderEarlierScopes(t *testing.T) {
	const previous = `"previous_scopes": ["sales", "orders"],`
	for _, c := range []struct{ name, first, firstPrevious, then, thenPrevious string }{
		{"newest", "sales", "", "purchases", previous},
		{"oldest", "orders", "", "purchases", previous},
		{"back", "purchases", previous, "orders", ""},
	} {
		m := newShared()
		one, two := renamedRig(t, m, c.first, c.firstPrevious), renamedRig(t, m, c.then, c.thenPrevious)
		first := one.alone("k")
		if first.code() != string(CodeUnprotected) {
			t.Fatalf("%s: first %q", c.name, first.code())
		}
		if got := two.alone("k").code(); got != string(CodeInFlight) {
			t.Errorf("%s: at once: %q", c.name, got)
		}
		if before := len(two.flights); two.open("POST", "/local", "k", true).code() != string(CodeInFlight) || len(two.flights) != before {
			t.Errorf("%s: claimed at the bridge before the bridge knew", c.name)
		}
		one.respond(first, upstream(201), true)
		for len(one.flights) > 0 {
			one.fail(0)
		}
		if got := two.alone("k").code(); got != string(CodeResponseNotKept) {
			t.Errorf("%s: finished: %q", c.name, got)
		}
		for range 20 {
			one.settleDown()
		}
		two.records, two.w.b.breaker = one.records, breaker{}
		if two.open("POST", "/local", "k", true); len(two.flights) == 0 {
			t.Errorf("%s: the bridge is not asked once it knows", c.name)
		}
		// One that another holds under one name alone keeps none of the others.
		if held := two.alone("l"); held.code() != string(CodeUnprotected) {
			t.Fatalf("%s: another key: %q", c.name, held.code())
		}
		if got := one.alone("l").code(); got != string(CodeInFlight) {
			t.Errorf("%s: another key at once: %q", c.name, got)
		}
	}
}
