package rules

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// spellingRules have weaker rules beside stricter ones, with and without hosts.
const spellingRules = `{` + head + `, "defaults": {` + must + `}, "rules": [
	{"name": "all", "match": {"path": {"prefix": "/"}}, "mode": "observe"},
	{"name": "uploads", "match": {"path": {"prefix": "/uploads"}}},
	{"name": "ping", "match": {"path": {"exact": "/uploads/ping"}}, "mode": "off"},
	{"name": "id", "match": {"path": {"template": "/tt/{id}"}}, "mode": "observe"},
	{"name": "pay", "match": {"path": {"exact": "/tt/pay"}}},
	{"name": "one", "match": {"path": {"prefix": "/ab"}}},
	{"name": "two", "match": {"path": {"exact": "/ab/b"}}},
	{"name": "kin", "scope": "one", "match": {"path": {"exact": "/ab/a"}}},
	{"name": "hx", "match": {"hosts": ["api.example"], "path": {"prefix": "/xx"}}},
	{"name": "ho", "match": {"hosts": ["api.example"], "path": {"prefix": "/yy"}}, "mode": "observe"},
	{"name": "wild", "match": {"hosts": ["*.example"], "path": {"prefix": "/zz"}}},
	{"name": "off", "match": {"hosts": ["api.example"], "path": {"prefix": "/zz/a"}}, "mode": "off"}]}`

func TestStrictestReading(t *testing.T) {
	c := mustParse(t, spellingRules)
	for _, test := range []struct{ host, path, want string }{
		// A rule for the host hides none for every host, whoever reads.
		{"api.example", "/xx/%252e%252e/uploads", "(ambiguous)"},
		{"api.example", "/yy/%252e%252e/uploads", "(ambiguous)"},
		{"api.example", "/xx/%252e%252e/zz", "(ambiguous)"},
		{"api.example", "/xx/%2e%2e/uploads", "(ambiguous)"},
		{"api.example", "/xx//1", "hx"},
		{"api.example", "/xx/a%20b", "hx"},
		{"else.where", "/uploads//1", "uploads"},

		// Encoding alone leads to the strictest rule.
		{"", "/%75ploads", "uploads"},
		{"", "/%2575ploads", "uploads"},
		{"", "/%252575ploads", "uploads"},
		{"", "/tt/%70ay", "pay"},
		{"", "/tt/%2570ay", "pay"},
		{"", "/tt/a%20b", "id"},
		{"", "/%61", "all"},
		{"", "/uploads/%70ing", "uploads"},
		{"", "/uploads/%2570ing", "uploads"},
		{"api.example", "/z%257a/1", "wild"},
		{"api.example", "/zz/%61", "wild"},

		// Two that enforce, in scopes of their own and in one.
		{"", "/ab/%62", "two"},
		{"", "/ab/%2562", "(ambiguous)"},
		{"", "/ab/%2561", "one"},
	} {
		h := Head{Method: "POST", Path: test.path, Host: test.host}
		if got := name(c.Select(h)); got != test.want {
			t.Errorf("%s%s: rule %s, want %s", test.host, test.path, got, test.want)
		}
	}
}

// Whatever readers do to a path, in whatever order: a rule that enforces is not
// left for a weaker one, nor, by encoding alone, for one of another scope.
func TestNoSpellingWeakens(t *testing.T) {
	c := mustParse(t, spellingRules)
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"/", "/", "/uploads", "/%75ploads", "/%2575ploads", "/ping", "/%2570ing", "/tt", "/t%2574", "/pay", "/%2570ay", "/%70ay", "/ab", "/b", "/a",
		"/%2562", "/%61", "/xx", "/yy", "/zz", "/..", "/%2e%2e", "/%252e%252e", "/.", "%2f", "%252f", `\`, ";", "%3b", "%00", "%2e", "%2"}
	hosts := []string{"", "api.example", "b.example"}
	decodings := []string{"decode", "decode more", "unreserved"}
	others := append([]string{"backslash", "merge", "parameters", "query", "fragment", "nul", "dots", "slash"}, decodings...)
	checked := 0
	for range 100_000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		h := Head{Method: "POST", Path: b.String(), Host: hosts[r.IntN(len(hosts))]}
		met := c.Select(h)
		for range 5 {
			r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
			order := others[:r.IntN(len(others)+1)]
			route := h.Path
			for _, n := range order {
				route = hops[n](route)
			}
			if !isNormal(route) || strings.HasSuffix(route, "/") {
				continue
			}
			seen := c.Select(Head{Method: "POST", Path: route, Host: h.Host})
			if seen == nil || seen.Mode != Enforce {
				continue
			}
			checked++
			if met == nil || met.Mode != Enforce {
				t.Fatalf("%s%q meets %s, and %s as %q after %v", h.Host, h.Path, name(met), seen.Name, route, order)
			}
			if _, plain := readings(h.Path, true); plain && met != Ambiguous && met.Scope != seen.Scope {
				t.Fatalf("%s%q meets %s, and %s as %q after %v", h.Host, h.Path, name(met), seen.Name, route, order)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d routes checked", checked)
	}
}
