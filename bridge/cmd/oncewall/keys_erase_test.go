package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

func TestKeysErase(t *testing.T) {
	b := apitest.Start(t)
	c, err := client.New(client.Config{
		URL: b.Data, Secret: apitest.Consumer, Namespace: "jobs", Scope: "s", Principal: "p",
		Policy: client.Policy{TTL: time.Hour, Lease: time.Minute, Recovery: client.Hold},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, _, err := c.Claim(t.Context(), fmt.Sprint("key ", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	parts := []string{"erase", "--reason", "asked", "--no-wait", "--namespace", "jobs", "--principal", "api:worker:p"}
	one := append(parts[:len(parts):len(parts)], "--scope", "s", "--key-file", "-")
	if out, errs := keysRun(t, b, "key 0\n", exitFailed, one...); !strings.Contains(out, `"state": "processing"`) || !strings.Contains(errs, "unresolved") {
		t.Errorf("%s%s", out, errs)
	}
	out, _ := keysRun(t, b, "key 0\n", exitOK, append(one, "--force")...)
	var e api.Erased
	if err := json.Unmarshal([]byte(out), &e); err != nil || e.Code != "erased" || e.MemoriesEndMS < 30_000 || e.MemoriesEndAt == "" {
		t.Errorf("%v: %s", err, out)
	}
	for _, tc := range []struct {
		args                     string
		found, erased, unsettled int
	}{{"--dry-run", 2, 0, 0}, {"", 2, 0, 2}, {"--force --forget --rate 1000000", 2, 2, 0}, {"", 0, 0, 0}} {
		out, _ := keysRun(t, b, "", exitOK, append(parts[:len(parts):len(parts)], strings.Fields(tc.args)...)...)
		var by api.ErasedBy
		if err := json.Unmarshal([]byte(out), &by); err != nil || by.Found != tc.found || by.Erased != tc.erased || by.Unresolved != tc.unsettled || by.Next != "" {
			t.Errorf("%q: %v: %s", tc.args, err, out)
		}
	}
	for args, want := range map[string]string{
		"erase --name a":                                            "--reason is required",
		"erase --name a --reason r --dry-run":                       "only with --principal alone",
		"erase --reason r --principal api:worker:p":                 "--namespace and --principal",
		"erase --reason r --namespace n --principal p":              "--namespace and --principal",
		"erase --reason r --namespace n --scope s --principal a:b:": "--key-file are required",
	} {
		if _, errs := keysRun(t, b, "", exitUsage, strings.Fields(args)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %s, want %q", args, errs, want)
		}
	}
}
