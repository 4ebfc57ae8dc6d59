package filter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

func line(name, value string) wire.HeaderLine { return wire.HeaderLine{Name: name, Value: value} }

func TestExplainVerdicts(t *testing.T) {
	cfg := parseConfig(t, true)
	ann, key := line("x-user-id", "ann"), line("idempotency-key", `"k-1"`)
	for name, tc := range map[string]struct {
		method, path, body string
		lines              []wire.HeaderLine
		verdict            Verdict
		status             uint32
		code               Code
	}{
		"no rule":      {"POST", "/other", "", nil, NotCovered, 0, ""},
		"method":       {"GET", "/orders", "", nil, NotCovered, 0, ""},
		"no principal": {"POST", "/orders", "", []wire.HeaderLine{key}, Refused, 401, CodePrincipalMissing},
		"no key":       {"POST", "/orders", "", []wire.HeaderLine{ann}, Refused, 400, CodeKeyMissing},
		"no key, body": {"POST", "/orders", "{}", []wire.HeaderLine{ann}, Refused, 400, CodeKeyMissing},
		"two keys":     {"POST", "/orders", "{}", []wire.HeaderLine{ann, key, key}, Refused, 400, CodeKeyInvalid},
		"too large":    {"POST", "/orders", string(make([]byte, 1<<20+1)), []wire.HeaderLine{ann, key}, Refused, 413, CodeTooLarge},
		"claims":       {"POST", "/orders?a=1", `{"a":1}`, []wire.HeaderLine{ann, key}, Claims, 0, ""},
		"for a key":    {"POST", "/idempotency-keys", `{"scope":"checkout"}`, []wire.HeaderLine{ann}, AsksForKey, 0, ""},
		"about a key":  {"GET", "/idempotency-keys/k?scope=orders", "", []wire.HeaderLine{ann}, AsksAboutKey, 0, ""},
		"about whose?": {"GET", "/idempotency-keys/k?scope=x", "", []wire.HeaderLine{ann}, Refused, 400, CodeScopeUnknown},
		"wrong scope":  {"POST", "/idempotency-keys", `{"scope":"x"}`, []wire.HeaderLine{ann}, Refused, 400, CodeScopeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			x := Explain(cfg, tc.method, tc.path, headers{lines: tc.lines}, []byte(tc.body))
			if x.Verdict != tc.verdict || (x.Reply != nil) != (tc.code != "") {
				t.Fatalf("verdict %d, reply %v", x.Verdict, x.Reply)
			}
			if r := x.Reply; r != nil && (r.Status != tc.status || r.code() != tc.code) {
				t.Errorf("%d %s, want %d %s", r.Status, r.code(), tc.status, tc.code)
			}
		})
	}
}

func TestExplainDiscovery(t *testing.T) {
	cfg := *newRig(t, true).w.cfg
	cfg.Discovery = "/what/rules"
	if x := Explain(&cfg, "GET", "/what/rules", headers{}, nil); x.Verdict != AsksForRules || x.Reply != nil || x.Rule != nil {
		t.Errorf("%+v", x)
	}
}

// TestExplainIsTheClaim compares an explanation with what the bridge is sent.
func TestExplainIsTheClaim(t *testing.T) {
	g := newRig(t, true)
	body := []byte(`{"a":1}`)
	r := headers{lines: []wire.HeaderLine{line("x-user-id", "ann"), line("idempotency-key", "k")}}
	x := Explain(g.w.cfg, "POST", "/orders", r, body)
	s := g.w.Open(1, g.w.Match("POST", "/orders"), "POST", "/orders")
	s.RequestHeaders(g.now, r, false)
	s.RequestBody(g.now, len(body), true, func() []byte { return body })
	var claim *wire.Operation
	for _, e := range g.w.Effects() {
		if e.Kind == Call {
			var b wire.Batch
			if err := wire.DecodeBatch(e.Call.Body, &b); err != nil {
				t.Fatal(err)
			}
			claim = &b.Ops[0]
		}
	}
	if claim == nil || claim.Key != x.Key || claim.Principal != wireForm(x.Principal) || !slices.Equal(claim.Fingerprint, x.Fingerprint) {
		t.Errorf("claim %+v\nexplained %+v", claim, x)
	}
	if x.KeySource != 0 || x.Rule.Name != "orders" {
		t.Errorf("source %d, rule %s", x.KeySource, x.Rule.Name)
	}
}

func wireForm(p PrincipalParts) string {
	s, _ := principalOf(compile(&rules.Rule{Principal: rules.Principal{Kind: p.Kind, Header: p.Issuer}}),
		headers{lines: []wire.HeaderLine{{Name: p.Issuer, Value: p.Value}}})
	return s
}

func TestExplainOutcomes(t *testing.T) {
	cfg := parseConfig(t, true)
	r := headers{lines: []wire.HeaderLine{line("x-user-id", "ann"), line("idempotency-key", "k"), line("idempotency-fence", "9")}}
	for path, want := range map[string]string{
		"/orders": "[1 created 0 true] [2 in-flight 409 false] [3 key-reused 422 false] [4 replayed 0 false] " +
			"[5 response-not-kept 409 false] [6 outcome-unknown 409 false] [10 unavailable 503 false] ",
		"/forward": "[1 created 0 true] [2 in-flight 409 false] [3 key-reused 422 false] [4 replayed 0 false] " +
			"[5 response-not-kept 409 false] [6 outcome-unknown 409 false] [10 unprotected 0 true] ",
		"/wait": "[1 created 0 true] [2 in-flight 409 false] [3 key-reused 422 false] [4 replayed 0 false] " +
			"[5 response-not-kept 409 false] [6 outcome-unknown 409 false] [10 unavailable 503 false] ",
		"/checkout": "[1 created 0 true] [2 in-flight 409 false] [3 key-reused 422 false] [4 key-used 409 false] " +
			"[5 key-used 409 false] [6 outcome-unknown 409 false] [7 key-expired 410 false] " +
			"[8 key-not-issued 400 false] [9 key-foreign 403 false] [10 unavailable 503 false] ",
	} {
		x := Explain(cfg, "POST", path, r, nil)
		got := ""
		for _, o := range x.Outcomes {
			got += fmt.Sprintf("[%d %s %d %t] ", o.Situation, o.Code, o.Status, o.Forwarded)
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", path, got, want)
		}
		if fmt.Sprint(x.Removed) != "[idempotency-fence]" || len(x.Upstream) != 5 {
			t.Errorf("%s: removed %v, upstream %v", path, x.Removed, x.Upstream)
		}
	}
}
