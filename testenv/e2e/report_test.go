package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestReport makes repeats of each class, answered by the bridge and from a gateway's
// own memory, and wants oncewall report to show exactly these.
func TestReport(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Gateways: 2, Edge: true})
	doors := []*story.Client{client(t, s.Gateway(0), story.HTTP1), client(t, s.Gateway(1), story.HTTP1)}
	var want api.RuleReport
	send := func(gateway int, r story.Request, kind string) story.Answer {
		t.Helper()
		a := doors[gateway].Send(t.Context(), r)
		wantKind(t, "through gateway "+strconv.Itoa(gateway), a, kind)
		return a
	}
	n := 0
	order := func(key string) story.Request {
		n++ // no two keys ask for the same
		return story.Post("/orders", key).Body(fmt.Sprintf(`{"item":"lamp","amount":%d}`, n))
	}
	// A busy machine may turn a double click into a retry; the answer's age tells.
	again := func(gateway int, r story.Request) {
		t.Helper()
		a := send(gateway, r, "201 replayed")
		if age, _ := strconv.Atoi(a.Header.Get("Idempotency-Age")); age < 2 {
			want.DoubleClick++
		} else {
			want.ClientRetry++
		}
	}

	a, b := order("a"), order("b")
	send(0, a, "201 created")
	send(1, b, "201 created")
	again(0, a) // from memory
	again(1, a) // from the bridge
	again(0, b)

	slow := order("slow").With("x-shop-delay", "500ms")
	if got := story.Count(doors[0].SendAll(t.Context(), 3, slow)...); got["201 created"] != 1 || got["409 in-flight"] != 2 {
		t.Fatalf("three at once: %s", got)
	}
	want.DoubleClick += 2

	third := order("third")
	send(0, third, "201 created")
	<-time.After(2100 * time.Millisecond) // what follows is no double click any more
	send(0, a, "201 replayed")
	send(1, a, "201 replayed")
	send(1, third, "201 replayed")
	want.ClientRetry += 3

	send(0, a.With("x-envoy-attempt-count", "2"), "201 replayed")
	c := order("c")
	send(0, c, "201 created")
	send(1, c.With("x-envoy-attempt-count", "3"), "201 replayed")
	want.GatewayRetry += 2

	send(0, a.Body(`{"item":"other"}`), "422 key-reused")
	d := order("d")
	send(0, d, "201 created")
	send(1, d.Body(`{"item":"other"}`), "422 key-reused")
	want.KeyReused += 2

	// The edge sends it once more when the connection has broken.
	edge := client(t, s.Edge(), story.HTTP1)
	broken := edge.Send(t.Context(), order("broken").With("x-edge-retries", "1").With("x-shop-fault", "close-after"))
	if broken.Status != 409 {
		t.Fatalf("sent again by the edge: %s", broken)
	}
	want.GatewayRetry++

	e := order("e1")
	for _, key := range []string{"e1", "e2", "e3"} {
		send(0, e.Key(key), "201 created")
	}
	want.SuspectedNewKey += 2
	send(0, e.Key("e4").As("bob"), "201 created")

	// The next batch of each gateway takes along what it has answered by itself.
	send(0, order("last-0"), "201 created")
	send(1, order("last-1"), "201 created")
	want.First = 13 // keys that were granted

	transfer := story.Post("/transfers", "").Body(`{"transfer_id":"t","amount":1}`)
	send(0, transfer, "201 created")
	send(1, transfer, "201 replayed")

	rules := reported(t, s)
	want.Namespace, want.Scope = "edge", "orders"
	if rules["orders"] != want {
		t.Errorf("orders: got  %+v\nwant %+v", rules["orders"], want)
	}
	if got := rules["transfers"]; got.First != 1 || got.Repeats() != 1 || got.SuspectedNewKey != 0 {
		t.Errorf("transfers: %+v", got)
	}
	if len(rules) != 2 {
		t.Errorf("%d rules: %+v", len(rules), rules)
	}
}

// reported runs oncewall report as an operator does.
func reported(t *testing.T, s *stack.Stack) map[string]api.RuleReport {
	t.Helper()
	run := func(args ...string) string {
		args = append([]string{"report", "--since", "24h", "--url", "http://" + s.BridgeAdmin(0),
			"--secret-file", filepath.Join(s.Dir(), "api-operator.secret")}, args...)
		cmd := exec.CommandContext(t.Context(), filepath.Join("../../build/out/oncewall"), args...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("oncewall %v: %v: %s", args, err, errs.String())
		}
		return string(out)
	}
	if table := run(); !strings.Contains(table, "suspected new key: these RAN") {
		t.Errorf("the table: %s", table)
	} else {
		t.Log("\n" + table)
	}
	var r api.Report
	if err := json.Unmarshal([]byte(run("--json")), &r); err != nil {
		t.Fatal(err)
	}
	rules := map[string]api.RuleReport{}
	for _, rule := range r.Rules {
		rules[rule.Scope] = rule
	}
	return rules
}
