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
		// Some rule, whichever.
		"x@shop.example": "suffix", "x:y@shop.example:80": "suffix", "x@shop.example:y": "suffix", "shop.example:80.example": "suffix",
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
