package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

func TestReport(t *testing.T) {
	b := apitest.Start(t)
	ask := func(code int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"report", "--url", b.Admin}, args...)
		if got := run(args, []string{operatorSecretEnv + "=" + apitest.Operator}, &out, &errs); got != code {
			t.Fatalf("%v: code %d, want %d: %s", args, got, code, errs.String())
		}
		return out.String(), errs.String()
	}
	if out, _ := ask(exitOK); !strings.Contains(out, "no request has been counted") {
		t.Errorf("empty: %s", out)
	}
	c, err := client.New(client.Config{
		URL: b.Data, Secret: apitest.Consumer, Namespace: "jobs", Scope: "s", Principal: "p",
		Policy: client.Policy{TTL: time.Hour, Lease: time.Minute, Recovery: client.Hold},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, _, _ = c.Claim(t.Context(), "the-key", nil) // the first is granted, the others are told in-flight
	}
	out, _ := ask(exitOK, "--since", "1h", "--json")
	var r api.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Rules) != 1 || r.Rules[0] != (api.RuleReport{Namespace: "jobs", Scope: "s", First: 1, DoubleClick: 2}) {
		t.Fatalf("%v: %s", err, out)
	}
	out, _ = ask(exitOK)
	lines := strings.Split(out, "\n")
	if got := strings.Join(strings.Fields(lines[3]), " "); got != "jobs s 1 2 (66.7%) 2 (66.7%) 0 0 0 0" {
		t.Errorf("line %q of\n%s", got, out)
	}
	if got := strings.Join(strings.Fields(lines[4]), " "); got != "all 1 2 (66.7%) 2 (66.7%) 0 0 0 0" {
		t.Errorf("line %q of\n%s", got, out)
	}
	if !strings.Contains(out, "\ndouble click: ") || strings.Contains(out, "\nkey reused: ") {
		t.Errorf("hints: %s", out)
	}
	ask(exitUsage, "--since", "-1h")
	ask(exitUsage, "more")
	if _, errs := ask(exitFailed, "--since", "900h"); !strings.Contains(errs, "840h") {
		t.Errorf("%s", errs)
	}
}
