package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// A principal that is the same for everybody protects a result only as long as
// nobody else reaches the rule's path. The lookup's path is open to all.
func TestLookupOfNobodysKeys(t *testing.T) {
	const config = `{
 "namespace": "edge", "bridge": {"cluster": "bridge"}, "issue": {},
 "defaults": {"upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"},
 "rules": [RULES]}`
	rule := func(name, principal, more string) string {
		return `{"name": "` + name + `", "match": {"path": {"prefix": "/` + name + `"}}, "fingerprint": {"body": "none"}, "principal": ` + principal + more + `}`
	}
	const (
		constant = `{"const": "psp"}`
		header   = `{"header": "x-user-id", "trusted": true}`
		fallback = `{"from": [{"header": "x-user-id", "trusted": true}, "anonymous"]}`
	)
	for _, c := range []struct {
		name, query string
		rules       []string
		asks        bool
	}{
		{"header", "?scope=a", []string{rule("a", header, "")}, true},
		{"header, switched off", "?scope=a", []string{rule("a", header, `, "lookup": false`)}, false},
		{"constant", "?scope=a", []string{rule("a", constant, "")}, false},
		{"constant, not named", "", []string{rule("a", constant, "")}, false},
		{"constant, switched on", "?scope=a", []string{rule("a", constant, `, "lookup": true`)}, true},
		{"anonymous", "?scope=a", []string{rule("a", `"anonymous"`, "")}, false},
		{"anonymous, switched on", "?scope=a", []string{rule("a", `"anonymous"`, `, "lookup": true`)}, true},
		{"else anonymous", "?scope=a", []string{rule("a", fallback, "")}, false},
		{"previous scope", "?scope=old", []string{rule("a", constant, `, "previous_scopes": ["old"]`)}, false},
		{"the other scope is not meant", "", []string{rule("a", constant, ""), rule("b", header, "")}, true},
		{"one of the scope's rules says no", "?scope=a", []string{rule("a", fallback, ""), rule("b", header, `, "scope": "a"`)}, false},
		{"the later one says no", "?scope=a", []string{rule("a", header, ""), rule("b", header, `, "scope": "a", "lookup": false`)}, false},
	} {
		cfg, err := rules.Parse([]byte(strings.Replace(config, "RULES", strings.Join(c.rules, ","), 1)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		g := rigWith(t, cfg)
		s := g.open("GET", "/idempotency-keys/k"+c.query, "", true)
		if asks := len(g.flights) == 1; asks != c.asks {
			t.Errorf("%s: asks %t, want %t", c.name, asks, c.asks)
		}
		if c.asks {
			continue
		}
		if status, doc, text := s.told(g); status != 400 || doc["code"] != "scope-unknown" {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
