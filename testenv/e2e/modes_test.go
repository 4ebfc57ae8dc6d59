package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// flagOff is the shipped Envoy configuration as Istio and Envoy Gateway run the
// filter.
const flagOff = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          http_filters:
          - name: oncewall
            typed_config: {config: {allow_on_headers_stop_iteration: false}}
`

// rulesWithout are the demo's rules as they must be without the flag: none
// compares bodies or has its key in one.
func rulesWithout(t *testing.T) string {
	t.Helper()
	var c map[string]any
	if err := json.Unmarshal([]byte(shopRules(t)), &c); err != nil {
		t.Fatal(err)
	}
	c["envoy"].(map[string]any)["allow_on_headers_stop_iteration"] = false
	var kept []any
	for _, r := range c["rules"].([]any) {
		rule := r.(map[string]any)
		key, err := json.Marshal(rule["key"])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(key), `"json"`) {
			continue
		}
		rule["fingerprint"] = map[string]any{"body": "none"}
		kept = append(kept, rule)
	}
	c["rules"] = kept
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWithoutTheFlag runs the demo's routes in an Envoy that delivers no body of
// a request whose headers are held.
func TestWithoutTheFlag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
	write(t, rules, rulesWithout(t))
	write(t, patch, flagOff)
	s := start(t, stack.Options{Rules: rules, EnvoyPatch: patch, Concurrency: 2})
	c := door(t, s)

	for _, path := range []string{"/orders", "/payments", "/uploads", "/bookings"} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			key := "off-" + strings.Trim(path, "/")
			r := story.Post(path, key).Body(strings.Repeat("x", 64<<10))
			first := c.Send(t.Context(), r)
			wantKind(t, "first", first, "201 created")
			again := retryWhile(t, c, r, "409 in-flight", 20*time.Second)
			wantKind(t, "repeat", again, "201 replayed")
			if string(first.Body) != string(again.Body) {
				t.Errorf("the replay is another answer")
			}
			wantRuns(t, s, key, 1)
		})
	}
	t.Run("concurrent", func(t *testing.T) {
		r := story.Post("/orders", "off-storm").With("x-shop-delay", "300ms")
		all := story.Count(c.SendAll(t.Context(), 40, r)...)
		if want := story.Exactly(1, "201 created").Rest("409 in-flight", "201 replayed"); !want.Met(all) {
			t.Errorf("%s, want %s", all, want)
		}
		wantRuns(t, s, "off-storm", 1)
	})
	t.Run("waiting", func(t *testing.T) {
		r := story.Post("/payments", "off-crowd").With("x-shop-delay", "300ms")
		all := story.Count(c.SendAll(t.Context(), 20, r)...)
		if want := story.Exactly(1, "201 created").And(19, "201 replayed"); !want.Met(all) {
			t.Errorf("%s, want %s", all, want)
		}
		wantRuns(t, s, "off-crowd", 1)
	})
	t.Run("issued", func(t *testing.T) {
		a := c.Send(t.Context(), story.Post("/idempotency-keys?scope=checkout", "").Body(""))
		wantKind(t, "the key", a, "201 issued")
		var issued struct{ Key string }
		if err := json.Unmarshal(a.Body, &issued); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "first", c.Send(t.Context(), story.Post("/checkout", issued.Key)), "201 created")
		wantKind(t, "repeat", retryWhile(t, c, story.Post("/checkout", issued.Key), "409 in-flight", 20*time.Second), "409 key-used")
		wantKind(t, "the scope in a body", c.Send(t.Context(), story.Post("/idempotency-keys", "").Body(`{"scope":"checkout"}`)), "400 scope-unknown")
	})
	for _, c := range []struct {
		name, knob, value, first, again string
	}{
		{"large", "x-shop-body-bytes", "3000000", "201 created", "409 response-not-kept"},
		{"just as large as is kept", "x-shop-body-bytes", "262144", "201 created", "201 replayed"},
		{"chunked", "x-shop-chunked", "1", "201 created", "201 replayed"},
		{"empty", "x-shop-status", "204", "204 created", "204 replayed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := door(t, s)
			key := "off-" + strings.ReplaceAll(c.name, " ", "-")
			r := story.Post("/orders", key).With(c.knob, c.value)
			first := cl.Send(t.Context(), r)
			wantKind(t, "first", first, c.first)
			again := retryWhile(t, cl, r, "409 in-flight", 20*time.Second)
			wantKind(t, "repeat", again, c.again)
			wantRuns(t, s, key, 1)
		})
	}
	t.Run("cut", func(t *testing.T) {
		// Its execution is told as soon as its headers come. Cut before that is
		// acknowledged it is Envoy's 502, cut later it breaks off.
		r := story.Post("/orders", "off-cut").With("x-shop-fault", "half")
		if first := c.Send(t.Context(), r); first.Kind() != story.Lost && first.Kind() != "502 unmarked" {
			t.Errorf("first: %s", first)
		}
		wantKind(t, "repeat", retryWhile(t, c, r, "409 in-flight", 20*time.Second), "409 response-not-kept")
		wantRuns(t, s, "off-cut", 1)
	})
	t.Run("an early answer costs the connection", func(t *testing.T) {
		cl := door(t, s)
		r := story.Post("/orders", "off-orders").Body(strings.Repeat("x", 512<<10))
		for range 5 {
			wantKind(t, "replay", cl.Send(t.Context(), r), "201 replayed")
		}
		if cl.Dials() < 2 {
			t.Error("one connection served them all: what docs/operations.md says of replies before a body is wrong")
		}
	})
}

// observedRules observes orders that carry x-observed, half of the bookings, and
// tells what the rules are.
func observedRules(t *testing.T) string {
	return shopRules(t,
		`"defaults": {`, `"discovery": {}, "defaults": {`,
		`"rules": [`, `"rules": [{"name": "seen", "scope": "orders", "match": {"path": {"prefix": "/orders"}, "headers": [{"name": "x-observed"}]},
			"mode": "observe", "recovery": {"action": "hold", "lease": "10s"}},`,
		// It has the path of the document, which is told all the same.
		`"name": "bookings",`, `"name": "told", "match": {"methods": ["GET", "HEAD", "POST"], "path": {"prefix": "/.well-known"}},
			"recovery": {"action": "hold", "lease": "30s"}, "unavailable": "reject"}, {"name": "bookings",`,
		`"match": {"path": {"prefix": "/bookings"}},`, `"match": {"path": {"prefix": "/bookings"}}, "mode": "observe", "enforce_percent": 50,`)
}

// TestObserve rolls a rule out: observed, by half, in full.
func TestObserve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.json")
	write(t, rules, observedRules(t))
	s := start(t, stack.Options{Rules: rules, Concurrency: 2})
	c := door(t, s)

	order := story.Post("/orders", "seen-1")
	seen := order.With("x-observed", "yes")
	wantKind(t, "observed", c.Send(t.Context(), seen), "201 unmarked")
	wantKind(t, "observed again", c.Send(t.Context(), seen), "201 unmarked")
	wantRuns(t, s, "seen-1", 2)
	wantKind(t, "enforced", retryWhile(t, c, order, "409 in-flight", 20*time.Second), "201 replayed")
	wantRuns(t, s, "seen-1", 2)

	// Observed while the bridge is away: nothing is to be noticed.
	if err := s.Stop(stack.BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "observed without a bridge", c.Send(t.Context(), story.Post("/orders", "seen-2").With("x-observed", "yes")), "201 unmarked")
	if err := s.StartPart(t.Context(), stack.BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bridge", 30*time.Second, func() bool {
		return c.Send(t.Context(), story.Post("/orders", "seen-3")).Kind() != "503 unavailable"
	})

	enforced := 0
	for i := range 40 {
		r := story.Post("/bookings", fmt.Sprintf("booking-%d", i))
		first, again := c.Send(t.Context(), r).Kind(), c.Send(t.Context(), r).Kind()
		switch {
		case first == "201 created" && again == "201 replayed":
			enforced++
		case first != "201 unmarked" || again != "201 unmarked":
			t.Errorf("booking %d: %s, then %s", i, first, again)
		}
	}
	if enforced < 8 || enforced > 32 {
		t.Errorf("%d of 40 keys are enforced, want about half", enforced)
	}
	wantKind(t, "without a key", c.Send(t.Context(), story.Post("/bookings", "")), "201 unmarked")

	metrics := string(page(t, "http://"+s.GatewayAdmin(0)+"/stats/prometheus"))
	for _, line := range []string{
		`idempotency_requests{rule="seen",outcome="would-created"} 1`,
		`idempotency_requests{rule="bookings",outcome="would-key-missing"} 1`,
		fmt.Sprintf(`idempotency_requests{rule="bookings",outcome="created"} %d`, enforced),
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s", line)
		}
	}
	if !strings.Contains(metrics, `idempotency_requests{rule="seen",outcome="would-replayed"} 1`) &&
		!strings.Contains(metrics, `idempotency_requests{rule="seen",outcome="would-in-flight"} 1`) {
		t.Error("the repeat is not counted")
	}
	discovered(t, s)
}

// discovered reads the document about the rules as any HTTP client does.
func discovered(t *testing.T, s *stack.Stack) {
	t.Helper()
	url := "http://" + s.Gateway(0) + "/.well-known/idempotency"
	var d struct {
		Operations []struct{ Scope, Enforcement string }
	}
	if err := json.Unmarshal(page(t, url), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Operations) < 9 || d.Operations[0].Enforcement != "observed" || d.Operations[1].Scope != "orders" || d.Operations[1].Enforcement != "full" {
		t.Errorf("%+v", d)
	}
	wantKind(t, "not a question", door(t, s).Send(t.Context(), story.Post("/.well-known/idempotency", "")), "400 key-missing")
	resp, err := http.Head(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/vnd.oncewall.discovery.v1+json" || resp.ContentLength <= 0 {
		t.Errorf("HEAD: %d %v", resp.StatusCode, resp.Header)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", resp.Header.Get("ETag"))
	resp, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 304 || resp.Header.Get("ETag") == "" {
		t.Errorf("a copy that is fresh: %d %v", resp.StatusCode, resp.Header)
	}
}
