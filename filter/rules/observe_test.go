package rules

import (
	"strings"
	"testing"
)

// An observing rule holds nothing, and so needs none of the bounds of what it
// holds; its claims have leases all the same.
func TestObserveNeedsLess(t *testing.T) {
	const text = `{"namespace": "e", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true}, "rules": [
		{"name": "r", "match": {"path": {"prefix": "/r"}}, "principal": "anonymous", "mode": "observe", "recovery": {"action": "hold"LEASE}}]}`
	c, err := Parse([]byte(strings.Replace(text, "LEASE", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Rules[0]; r.Enforces() || !r.Observes() || r.Mode != Observe {
		t.Errorf("%+v", r)
	}
	_, err = Parse([]byte(strings.Replace(text, "LEASE", `, "lease": "1499ms"`, 1)))
	if err == nil || !strings.Contains(err.Error(), `recovery.lease "1499ms" must be >= 1.5s`) {
		t.Errorf("%v", err)
	}
	if _, err = Parse([]byte(strings.Replace(text, "LEASE", `, "lease": "1500ms"`, 1))); err != nil {
		t.Error(err)
	}
}

// The whole is no share: a rule that enforces every key is one that enforces.
func TestEnforcePercent100(t *testing.T) {
	for percent, want := range map[int][2]bool{0: {false, true}, 1: {true, true}, 99: {true, true}, 100: {true, false}} {
		r := &Rule{Mode: Observe, EnforcePercent: percent}
		if got := [2]bool{r.Enforces(), r.Observes()}; got != want {
			t.Errorf("%d: enforces, observes: %v", percent, got)
		}
	}
}

// Two readings of a path that meet two rules refuse it, unless no rule may.
func TestAmbiguousObserved(t *testing.T) {
	parse := func(a, b string) *Config {
		c, err := Parse([]byte(`{"namespace": "e", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true},
			"defaults": {"principal": "anonymous", "recovery": {"action": "hold"}, "upstream_timeout": "1s", "unavailable": "reject"}, "rules": [
			{"name": "a", "match": {"path": {"exact": "/a/b"}}, "mode": "` + a + `"},
			{"name": "b", "match": {"path": {"exact": "/b"}}, "mode": "` + b + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, test := range []struct {
		a, b string
		want *Rule
	}{
		{"enforce", "enforce", Ambiguous}, {"observe", "enforce", Ambiguous}, {"enforce", "observe", Ambiguous},
		{"observe", "observe", AmbiguousObserved},
	} {
		if got := parse(test.a, test.b).Match("POST", "/a/..//b"); got != test.want {
			t.Errorf("%s, %s: %v", test.a, test.b, got)
		}
	}
}

func TestIsDiscovery(t *testing.T) {
	c := &Config{Discovery: "/.well-known/idempotency"}
	for _, test := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/.well-known/idempotency", true}, {"HEAD", "/.well-known/idempotency?x", true},
		{"POST", "/.well-known/idempotency", false}, {"GET", "/.well-known/idempotency/x", false}, {"GET", "/.well-known", false},
	} {
		if got := c.IsDiscovery(test.method, test.path); got != test.want {
			t.Errorf("%s %s: %t", test.method, test.path, got)
		}
	}
	if (&Config{}).IsDiscovery("GET", "") {
		t.Error("there is none unless it is stated")
	}
}
