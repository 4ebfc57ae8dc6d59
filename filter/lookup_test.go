package filter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// looked answers the lookup that is under way and returns what the client saw.
func (g *rig) looked(s *seen, r wire.Result) (status uint32, doc map[string]any, text string) {
	g.t.Helper()
	f := g.flights[len(g.flights)-1]
	g.flights = g.flights[:len(g.flights)-1]
	b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
	if err != nil {
		g.t.Fatal(err)
	}
	g.w.CallAnswered(g.now, f.id, b)
	g.perform()
	return s.told(g)
}

// told is the one reply that the stream has sent.
func (s *seen) told(g *rig) (status uint32, doc map[string]any, text string) {
	g.t.Helper()
	if len(s.replies) != 1 || s.resumed != 0 {
		g.t.Fatalf("%d replies, resumed %d times", len(s.replies), s.resumed)
	}
	r := s.replies[0]
	if err := json.Unmarshal(r.Body, &doc); err != nil {
		g.t.Fatalf("%v: %s", err, r.Body)
	}
	for _, h := range r.Headers {
		if h[0] == "cache-control" && h[1] == "no-store" {
			return r.Status, doc, string(r.Body)
		}
	}
	g.t.Fatal("the answer may be cached")
	return 0, nil, ""
}

func TestLookupAsks(t *testing.T) {
	g := newRig(t, true)
	g.open("GET", "/idempotency-keys/a%25b%20%22c?x=1&scope=orders", "", true)
	if len(g.flights) != 1 || len(g.flights[0].batch.Ops) != 1 {
		t.Fatalf("%d callouts", len(g.flights))
	}
	op := g.flights[0].batch.Ops[0]
	if op.Kind != wire.Get || op.Key != `a%b "c` || op.Scope != "orders" || !op.Fetch || len(op.Owner) != 0 {
		t.Errorf("asked %+v", op)
	}
	if want := wire.EncodePrincipal(1, "x-user-id", "u"); op.Principal != want {
		t.Errorf("for principal %q, want %q", op.Principal, want)
	}
}

// A key that a proxy could read as something else in a path stands in the query.
func TestLookupByQuery(t *testing.T) {
	for query, want := range map[string]string{
		"scope=orders&key=q%2F%2Fy": "q//y", "key=..&scope=orders": "..", "scope=orders&key=%5C+%2B": `\ +`,
	} {
		for _, path := range []string{"/idempotency-keys?", "/idempotency-keys/?"} {
			g := newRig(t, true)
			g.open("HEAD", path+query, "", true)
			if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Key != want {
				t.Errorf("%s%s: %d callouts", path, query, len(g.flights))
			}
		}
	}
}

// A key is asked about as its rule records it.
func TestLookupTakesTheRulesKeys(t *testing.T) {
	cfg, err := rules.Parse([]byte(`{
 "namespace": "edge", "bridge": {"cluster": "bridge"}, "envoy": {"allow_on_headers_stop_iteration": true}, "lookup": {},
 "defaults": {"upstream_timeout": "5s", "recovery": {"action": "hold"}, "unavailable": "reject", "principal": {"header": "x-user-id", "trusted": true}},
 "rules": [
  {"name": "ids", "match": {"path": {"prefix": "/ids"}}, "key": {"format": "uuid"}},
  {"name": "strict", "scope": "mixed", "match": {"path": {"prefix": "/strict"}}, "key": {"format": "uuid"}},
  {"name": "free", "scope": "mixed", "match": {"path": {"prefix": "/free"}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, scope, asks, reason string }{
		{"0E4B5C1E-7B3A-4C9B-8F2D-3A1B2C3D4E5F", "ids", "0e4b5c1e-7b3a-4c9b-8f2d-3a1b2c3d4e5f", ""},
		{"0E4B", "ids", "", "must be a UUID"},
		{"0E4B", "mixed", "0E4B", ""},
	} {
		g := rigWith(t, cfg)
		s := g.open("GET", "/idempotency-keys/"+c.key+"?scope="+c.scope, "", true)
		if c.asks != "" {
			if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Key != c.asks {
				t.Errorf("%+v: %d callouts", c, len(g.flights))
			}
			continue
		}
		if _, doc, text := s.told(g); doc["code"] != "key-invalid" || !strings.Contains(text, c.reason) {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

func TestLookupAnswers(t *testing.T) {
	result, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Headers: []wire.HeaderLine{line("x-a", "\x80\"1"), line("set-cookie", "of=an earlier rule"), line("x-envoy-overloaded", "true")}, Body: []byte("told")})
	if err != nil {
		t.Fatal(err)
	}
	g := newRig(t, true)
	found := func(scope string, r wire.Result) map[string]any {
		t.Helper()
		s := g.open("GET", "/idempotency-keys/k?scope="+scope, "", true)
		status, doc, text := g.looked(s, r)
		if status != 200 {
			t.Fatalf("%d %s", status, text)
		}
		return doc
	}
	done := wire.Result{Code: wire.Found, State: wire.StateCompleted, Status: 201, AgeMS: 5, RemainingMS: 7, Result: result}
	doc := found("orders", done)
	kept, _ := doc["result"].(map[string]any)
	if doc["state"] != "completed" || doc["status"] != 201.0 || doc["remaining_ms"] != 7.0 || kept["body"] != "dG9sZA==" || doc["result_kept"] != true {
		t.Errorf("%v", doc)
	}
	// Of its lines those that a replay would have.
	if lines, _ := kept["headers"].([]any); len(lines) != 1 || lines[0].(map[string]any)["name"] != "x-a" {
		t.Errorf("%v", kept["headers"])
	}
	// A rule that rejects repeats hands out no result.
	if doc := found("checkout", done); doc["result"] != nil || doc["result_kept"] != false || doc["state"] != "completed" {
		t.Errorf("%v", doc)
	}
	if doc := found("orders", wire.Result{Code: wire.Found, State: wire.StateProcessing, RetryAfterMS: 1500}); doc["state"] != "processing" || doc["lease_ms"] != 1500.0 {
		t.Errorf("%v", doc)
	}
	// A tombstone, of a result past its life and of one that was erased.
	if doc := found("orders", wire.Result{Code: wire.Found, State: wire.StateCompleted, Status: 201, AgeMS: 5}); doc["state"] != "expired" || doc["status"] != 201.0 {
		t.Errorf("%v", doc)
	}
	if doc := found("orders", wire.Result{Code: wire.Found, State: wire.StateExecuted, AgeMS: 5}); doc["state"] != "expired" || doc["status"] != nil || doc["remaining_ms"] != nil {
		t.Errorf("%v", doc)
	}
	if doc := found("orders", wire.Result{Code: wire.Found, State: wire.StateIssued}); doc["state"] != "issued" {
		t.Errorf("%v", doc)
	}
	for code, want := range map[wire.Code]string{wire.NotFound: "404 key-unknown", wire.Invalid: "500 misconfigured", wire.Unavailable: "503 unavailable"} {
		s := g.open("HEAD", "/idempotency-keys/k?scope=orders", "", true)
		f := g.flights[len(g.flights)-1]
		if code == wire.Unavailable {
			g.flights = g.flights[:len(g.flights)-1]
			g.w.CallFailed(g.now, f.id)
			g.perform()
			f = g.flights[len(g.flights)-1]
			g.flights = g.flights[:len(g.flights)-1]
			g.w.CallFailed(g.now, f.id)
			g.perform()
		} else {
			g.looked(s, wire.Result{Code: code})
		}
		status, doc, _ := s.told(g)
		if got := itoa(int64(status)) + " " + doc["code"].(string); got != want {
			t.Errorf("code %d: %s, want %s", code, got, want)
		}
	}
	if g.w.Pending() != 0 {
		t.Errorf("%d operations are pending: a lookup ends nothing", g.w.Pending())
	}
}

func TestLookupRefuses(t *testing.T) {
	for path, want := range map[string]string{
		"/idempotency-keys/k":                                             "scope-unknown",
		"/idempotency-keys/k?scope=nobodys":                               "scope-unknown",
		"/idempotency-keys/k?scope=orders&scope=wait":                     "scope-unknown",
		"/idempotency-keys/%?scope=orders":                                "key-invalid",
		"/idempotency-keys/%4?scope=orders":                               "key-invalid",
		"/idempotency-keys/%zz?scope=orders":                              "key-invalid",
		"/idempotency-keys/a%00b?scope=orders":                            "key-invalid",
		"/idempotency-keys/q%2F%2Fy?scope=orders":                         "key-invalid",
		"/idempotency-keys/q%2fy?scope=orders":                            "key-invalid",
		"/idempotency-keys/q/y?scope=orders":                              "key-invalid",
		"/idempotency-keys//y?scope=orders":                               "key-invalid",
		"/idempotency-keys/q%5Cy?scope=orders":                            "key-invalid",
		"/idempotency-keys/.?scope=orders":                                "key-invalid",
		"/idempotency-keys/..?scope=orders":                               "key-invalid",
		"/idempotency-keys/%2e%2E?scope=orders":                           "key-invalid",
		"/idempotency-keys/../orders?scope=orders":                        "key-invalid",
		"/idempotency-keys/k?scope=orders&key=k":                          "key-invalid",
		"/idempotency-keys/k?scope=orders&Key=k":                          "key-invalid",
		"/idempotency-keys?scope=orders&key=":                             "key-invalid",
		"/idempotency-keys?scope=orders&key=a&key=b":                      "key-invalid",
		"/idempotency-keys?scope=orders&key=%01":                          "key-invalid",
		"/idempotency-keys/" + strings.Repeat("k", 256) + "?scope=orders": "key-invalid",
	} {
		g := newRig(t, true)
		s := g.open("GET", path, "", true)
		if _, doc, text := s.told(g); doc["code"] != want || len(g.flights) != 0 {
			t.Errorf("%s: %s, %d callouts, want %s", path, text, len(g.flights), want)
		}
	}
	g := newRig(t, true)
	for _, r := range [][2]string{{"GET", "/idempotency-keys"}, {"GET", "/idempotency-keys/"}, {"GET", "/idempotency-keys/?scope=a"}, {"GET", "/idempotency-keysx/k"}, {"DELETE", "/idempotency-keys/k"}} {
		if g.w.MatchIssue(r[0], r[1]) {
			t.Errorf("%s %s is taken for a lookup", r[0], r[1])
		}
	}
}
