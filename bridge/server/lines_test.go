package server

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestLines: a replay and a refusal are one line each, with what an operator
// needs to find the record and the trace.
func TestLines(t *testing.T) {
	b := start(t, embedded(t))
	first, again := testOp(wire.Claim, 1), testOp(wire.Claim, 2)
	first.Trace, again.Trace = traceparent(trace1, parent1), traceparent(trace2, parent2)
	b.send(testPolicy(), first, testOp(wire.Complete, 1))
	again.Retried = true
	b.send(testPolicy(), again)
	reused := testOp(wire.Claim, 3)
	reused.Fingerprint = testFingerprint(2)
	b.send(testPolicy(), reused)
	name, err := b.Name(Subject{Namespace: "edge", Scope: "payments", Principal: first.Principal, Key: first.Key})
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for l := range strings.Lines(b.logs.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		if m["msg"] == "replayed" || m["msg"] == "refused" {
			got = append(got, m)
		}
	}
	if len(got) != 2 {
		t.Fatalf("%d lines, want 2: %v", len(got), got)
	}
	for i, want := range []map[string]any{
		{"msg": "replayed", "code": "replayed", "class": wire.GatewayRetry.String(), "trace_id": trace2, "first_trace_id": trace1},
		{"msg": "refused", "code": "key-reused", "class": wire.Reused.String(), "first_trace_id": trace1},
	} {
		want["level"], want["namespace"], want["scope"], want["operation"] = "INFO", "edge", "payments", "claim"
		want["record"] = recordHint(&name)
		for k, v := range want {
			if got[i][k] != v {
				t.Errorf("line %d: %s is %v, want %v", i, k, got[i][k], v)
			}
		}
		if _, ok := got[i]["age_ms"].(float64); !ok || got[i]["time"] == nil {
			t.Errorf("line %d: %v", i, got[i])
		}
	}
}

// TestLinesAreBounded: of many refusals in a second few get a line, and the next
// line says how many did not.
func TestLinesAreBounded(t *testing.T) {
	var s sampler
	at := time.Unix(1000, 0)
	lines, told := 0, int64(0)
	count := func(now time.Time, n int) {
		for range n {
			if held, ok := s.pass(now, 10); ok {
				lines++
				told += held
			}
		}
	}
	count(at, 5000)
	if want := 10 + 4990/sampleRest; lines != want {
		t.Errorf("%d lines in a second, want %d", lines, want)
	}
	count(at.Add(time.Second), 1)
	if lines+int(told) != 5001 {
		t.Errorf("%d lines tell of %d more, of 5001", lines, told)
	}

	b := start(t, answering(store.Reply{Code: wire.InFlight}), func(c *Config) { c.LogPerSecond = -1 })
	b.send(testPolicy(), testOp(wire.Claim, 1))
	if strings.Contains(b.logs.String(), "refused") {
		t.Error("a line though there are to be none")
	}
	b = start(t, answering(store.Reply{Code: wire.InFlight}), func(c *Config) { c.Log = slog.New(slog.DiscardHandler) })
	b.send(testPolicy(), testOp(wire.Claim, 1))
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		op   wire.Operation
		r    wire.Result
		want wire.Class
	}{
		{wire.Operation{Kind: wire.Claim}, wire.Result{Code: wire.InFlight, AgeMS: 60_000}, wire.DoubleClick},
		{wire.Operation{Kind: wire.Claim}, wire.Result{Code: wire.Replayed, AgeMS: 2000}, wire.DoubleClick},
		{wire.Operation{Kind: wire.Claim}, wire.Result{Code: wire.Replayed, AgeMS: 2001}, wire.ClientRetry},
		{wire.Operation{Kind: wire.Claim, Retried: true}, wire.Result{Code: wire.InFlight}, wire.GatewayRetry},
		{wire.Operation{Kind: wire.Claim, Retried: true}, wire.Result{Code: wire.KeyReused}, wire.Reused},
		{wire.Operation{Kind: wire.Claim}, wire.Result{Code: wire.Unavailable}, 0},
		{wire.Operation{Kind: wire.Complete}, wire.Result{Code: wire.Stale}, 0},
	} {
		if got := classOf(&c.op, &c.r); got != c.want {
			t.Errorf("%+v, %+v: %q, want %q", c.op, c.r, got, c.want)
		}
	}
}
