package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// TestRouteMetadata names rules by the metadata of Envoy's route.
func TestRouteMetadata(t *testing.T) {
	const route = "@xds.route_metadata.filter_metadata.oncewall."
	const text = `{"namespace": "e", "bridge": {"cluster": "b"}, "envoy": {"route_metadata": true},
		"defaults": {"principal": "anonymous", "upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject"},
		"rules": [{"name": "path", "match": {"path": {"prefix": "/a"}}, "fingerprint": {"body": "none"}},
			{"name": "route", "match": {"methods": ["POST"]}, "fingerprint": {"body": "none"}},
			{"name": "off", "match": {}, "mode": "off"}]}`
	cfg, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	blind, err := rules.Parse([]byte(strings.NewReplacer(`{"route_metadata": true}`, `{}`, `"match": {"methods": ["POST"]}`, `"match": {"path": {"exact": "/r"}}`,
		`"match": {}`, `"match": {"path": {"exact": "/off"}}`).Replace(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ method, path, metadata, want string }{
		{"POST", "/a", "", "path"},
		{"POST", "/b", "", "-"},
		{"POST", "/b", "rule: route", "route"},
		{"POST", "/a", "rule: route", "route"},
		{"PUT", "/a", "rule: route", "-"},
		{"OPTIONS", "/b", "rule: path", "-"},
		{"POST", "/b", "rule: off", "-"},
		{"POST", "/a", "mode: off", "-"},
		{"POST", "/a", "mode: \x00", "-"},
		{"POST", "/a", "mode: observed", "misconfigured"},
		{"POST", "/a", "rule: gone", "misconfigured"},
	} {
		r := ask("idempotency-key: k")
		if name, value, ok := strings.Cut(test.metadata, ": "); ok {
			r.attributes[strings.TrimPrefix(route, "@")+name] = value
		}
		if got := nameOf(Explain(cfg, test.method, test.path, r, nil)); got != test.want {
			t.Errorf("%s %s, %q: %s, want %s", test.method, test.path, test.metadata, got, test.want)
		}
	}
	w := NewWorker(cfg, [16]byte{})
	stray := ask("idempotency-key: k", route+"rule: gone")
	w.Open(1, w.Select("POST", "/a", stray), "POST", "/a").RequestHeaders(0, stray, true)
	for _, e := range w.Effects() {
		if e.Kind == Decide && e.Decision != (Decision{Rule: "misrouted", Code: CodeMisconfigured, Status: 500}) {
			t.Errorf("told as %+v", e.Decision)
		}
	}
	r := ask("idempotency-key: k", route+"mode: off")
	if got := nameOf(Explain(blind, "POST", "/a", r, nil)); got != "path" {
		t.Errorf("without envoy.route_metadata: %s", got)
	}
}

// nameOf is the rule by which a request is judged.
func nameOf(x Explanation) string {
	switch {
	case x.Verdict == Refused && x.Reply.code() == CodeMisconfigured:
		return "misconfigured"
	case x.Verdict == NotCovered:
		return "-"
	}
	return x.Rule.Name
}

// TestSelectReadsWhatIsAskedFor holds that a request costs no look at its headers
// where no rule asks for them.
func TestSelectReadsWhatIsAskedFor(t *testing.T) {
	w := NewWorker(oneRule(t, `"match": {"path": {"prefix": "/a"}}`), [16]byte{})
	if n := testing.AllocsPerRun(100, func() { w.Select("POST", "/b/c", nil); w.Select("POST", "/a", nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	w = NewWorker(oneRule(t, `"match": {"hosts": ["*.example"], "headers": [{"name": "x-tenant", "exact": "a"}], "path": {"prefix": "/a"}}`), [16]byte{})
	for _, test := range []struct {
		lines []string
		met   bool
	}{
		{[]string{":authority: SHOP.example.:443", "x-tenant: a"}, true},
		{[]string{":authority: shop.example", "x-tenant: b"}, false},
		{[]string{":authority: shop.example"}, false},
		{[]string{":authority: example", "x-tenant: a"}, false},
		{[]string{"x-tenant: a"}, false},
	} {
		if met := w.Select("POST", "/a", ask(test.lines...)) != nil; met != test.met {
			t.Errorf("%v: met %v", test.lines, met)
		}
	}
}
