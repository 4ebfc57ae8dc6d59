package rules

import (
	"strings"
	"testing"
)

// Envoy takes these authorities for hosts of "shop.example", "shop.example:*" or
// "*.example", as a request showed for each. None passes by the rules for them.
func TestSelectByHost(t *testing.T) {
	c := mustParse(t, `{
 "namespace": "edge", "bridge": {"cluster": "b"},
 "defaults": {"principal": "anonymous", "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"},
 "rules": [
  {"name": "shop", "match": {"hosts": ["shop.example"], "path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}},
  {"name": "suffix", "match": {"hosts": ["*.example"], "path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}},
  {"name": "inner", "match": {"hosts": ["*.inner.example"], "path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}},
  {"name": "test", "match": {"hosts": ["test.example"], "path": {"prefix": "/a"}}, "mode": "off"},
  {"name": "rest", "match": {"path": {"prefix": "/b"}}, "fingerprint": {"body": "none"}}
 ]}`)
	for host, want := range map[string]string{
		"shop.example": "shop", "SHOP.Example": "shop", "shop.example:80": "shop", "shop.example:": "shop",
		"shop.example.": "shop", "shop.example..": "shop", "shop.example.:80": "shop",
		"shop.example:x": "shop", "shop.example:80:80": "shop", "shop.example:80.": "shop", "shop.example:" + strings.Repeat("x", 300): "shop",
		// One reader meets a rule, another one a rule with a scope of its own.
		"x@shop.example": "(ambiguous)", "x:y@shop.example:80": "(ambiguous)", "x@shop.example:y": "(ambiguous)", "shop.example:80.example": "(ambiguous)",
		"shop.example:80.inner.example": "(ambiguous)", "a.inner.example@b.example": "suffix", "a.example@shop.example:x": "(ambiguous)",
		"a.example": "suffix", "a.b.example": "suffix", "a..example": "suffix", "..example": "suffix", "a:80.example": "suffix", "a:x.example": "suffix",
		strings.Repeat("a", 300) + ".example": "suffix", strings.Repeat("a.", 200) + "example": "suffix", strings.Repeat("a", 300) + ".example:x": "suffix",
		"a.inner.example": "inner", "inner.example": "suffix", "..inner.example": "inner",
		"test.example": "off", "test.example:80": "off", "test.example:x": "suffix", "x@test.example": "suffix",
		"": "", "example": "", ".example": "", "other": "", "[::1]": "", "[::1]:80": "", ":": "", "@": "", "shop.examples": "",
	} {
		got := ""
		if r := c.Select(Head{Method: "POST", Path: "/a", Host: host}); r != nil {
			if got = r.Name; r.Mode == Off {
				got = "off"
			}
		}
		if got != want {
			t.Errorf("%.40s: %q, want %q", host, got, want)
		}
		if r := c.Select(Head{Method: "POST", Path: "/b", Host: host}); r == nil || r.Name != "rest" {
			t.Errorf("%.40s: the rule for every host is not met", host)
		}
	}
	watched := mustParse(t, `{
 "namespace": "edge", "bridge": {"cluster": "b"},
 "defaults": {"principal": "anonymous", "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"},
 "rules": [
  {"name": "shop", "match": {"hosts": ["shop.example"], "path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}},
  {"name": "suffix", "match": {"hosts": ["*.example"], "path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}, "mode": "observe"}
 ]}`)
	for _, path := range []string{"/a", "/%61", "//a"} {
		if r := watched.Select(Head{Method: "POST", Path: path, Host: "x@shop.example"}); r == nil || r.Name != "shop" {
			t.Errorf("%s: the rule that observes goes before the one that enforces", path)
		}
	}
}

// One reader of an odd authority meets the rule for its host, another one that for
// every host. Where both enforce it matters whether they have one scope.
func TestOddAuthorityOfTwoScopes(t *testing.T) {
	c := mustParse(t, `{
 "namespace": "edge", "bridge": {"cluster": "b"}, "envoy": {"allow_on_headers_stop_iteration": true},
 "defaults": {"principal": "anonymous", "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"},
 "rules": [
  {"name": "shop", "match": {"hosts": ["shop.example"], "path": {"prefix": "/a"}}},
  {"name": "shop-kin", "scope": "kin", "match": {"hosts": ["shop.example"], "path": {"prefix": "/k"}}},
  {"name": "shop-seen", "match": {"hosts": ["shop.example"], "path": {"prefix": "/s"}}, "mode": "observe"},
  {"name": "shop-off", "match": {"hosts": ["shop.example"], "path": {"prefix": "/o"}}, "mode": "off"},
  {"name": "kin", "match": {"path": {"prefix": "/k"}}},
  {"name": "seen", "match": {"path": {"prefix": "/s"}}, "mode": "observe"},
  {"name": "all", "match": {"path": {"prefix": "/"}}}
 ]}`)
	for _, test := range []struct{ host, path, want string }{
		{"shop.example", "/a", "shop"}, {"shop.example:80", "/a", "shop"}, {"other", "/a", "all"},
		{"shop.example:x", "/a", "(ambiguous)"}, {"x@shop.example", "/%61", "(ambiguous)"}, {"shop.example:x", "//a", "(ambiguous)"},
		{"shop.example:x", "/k", "kin"}, {"shop.example:x", "/s", "seen"}, {"shop.example:x", "/o", "all"}, {"shop.example:x", "/b", "all"},
		{"other:x", "/a", "all"},
	} {
		if got := name(c.Select(Head{Method: "POST", Path: test.path, Host: test.host})); got != test.want {
			t.Errorf("%s%s: rule %s, want %s", test.host, test.path, got, test.want)
		}
	}
}
