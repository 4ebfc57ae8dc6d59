package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// keysRun runs a command against b and returns what it wrote.
func keysRun(t *testing.T, b *apitest.Bridge, stdin string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(args, "--url", b.Admin)
	if got := keys(args, []string{operatorSecretEnv + "=" + apitest.Operator}, strings.NewReader(stdin), &out, &errs); got != code {
		t.Fatalf("%v: code %d, want %d: %s", args, got, code, errs.String())
	}
	return out.String(), errs.String()
}

func TestKeys(t *testing.T) {
	b := apitest.Start(t)
	c, err := client.New(client.Config{
		URL: b.Data, Secret: apitest.Consumer, Namespace: "jobs", Scope: "s", Principal: "p",
		Policy: client.Policy{TTL: time.Hour, Lease: time.Minute, Recovery: client.Hold},
	})
	if err != nil {
		t.Fatal(err)
	}
	claim, _, err := c.Claim(t.Context(), "the-key", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Store.Advance(2 * time.Minute)

	out, _ := keysRun(t, b, "", exitOK, "list", "--all")
	var page api.OverduePage
	if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Records) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	name := page.Records[0].Name
	parts := []string{"--namespace", "jobs", "--scope", "s", "--principal", "api:worker:p", "--key-file", "-"}
	out, _ = keysRun(t, b, "the-key\n", exitOK, append([]string{"get"}, parts...)...)
	var r api.Record
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Name != name || r.Fence != claim.Fence || r.State != "processing" {
		t.Fatalf("%v: %s", err, out)
	}

	fence := fmt.Sprint(claim.Fence)
	out, errs := keysRun(t, b, "", exitFailed, "resolve", "--name", name, "--fence", "7", "--action", "release", "--reason", "x")
	if !strings.Contains(out, `"state": "processing"`) || !strings.Contains(errs, "conflict") {
		t.Errorf("%s%s", out, errs)
	}
	keysRun(t, b, "", exitOK, "resolve", "--name", name, "--fence", fence, "--action", "extend", "--by", "1m", "--reason", "looking")
	_, errs = keysRun(t, b, "", exitFailed, "resolve", "--name", name, "--fence", fence, "--action", "release", "--reason", "x")
	if !strings.Contains(errs, "lease-live") {
		t.Error(errs)
	}
	b.Store.Advance(2 * time.Minute)
	keysRun(t, b, "body", exitOK, "resolve", "--name", name, "--fence", fence, "--action", "complete", "--status", "201",
		"--body-file", "-", "--reason", "the bank has it")
	out, _ = keysRun(t, b, "", exitOK, "get", "--name", name, "--result")
	if !strings.Contains(out, `"body": "Ym9keQ=="`) || !strings.Contains(out, "the bank has it") {
		t.Error(out)
	}
}

func TestKeysUsage(t *testing.T) {
	b := apitest.Start(t)
	for name, tc := range map[string]struct {
		args string
		want string
	}{
		"command":   {"erode", "usage: oncewall keys"},
		"record":    {"get", "either --name"},
		"both":      {"get --name a --scope s", "either --name"},
		"principal": {"get --namespace n --scope s --principal p --key-file -", "--principal KIND:ISSUER:VALUE"},
		"resolve":   {"resolve --name a", "--fence, --action and --reason"},
		"body":      {"resolve --name a --fence 1 --action release --reason r --body-file -", "only with --action complete"},
		"flag":      {"list --name a", "not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, errs := keysRun(t, b, "", exitUsage, strings.Fields(tc.args)...); !strings.Contains(errs, tc.want) {
				t.Errorf("%s, want %q", errs, tc.want)
			}
		})
	}
	var out bytes.Buffer
	if code := keys([]string{"list"}, nil, nil, &out, &out); code != exitUsage || !strings.Contains(out.String(), "no secret") {
		t.Errorf("%d: %s", code, out.String())
	}
	if code := keys([]string{"help"}, nil, nil, &out, &out); code != exitOK {
		t.Errorf("help: %d", code)
	}
}
