package config

import (
	"strings"
	"testing"
	"time"
)

const withSealing = minimalSealed + `
recovery:
  interval: 1s
  stuck_after: 10m
  scopes:
  - scope: payments
    namespace: shop
    probe:
      url: https://shop/outcome/{key}?fence={fence}
      headers: ["x-user: {principal}", "accept: application/json"]
      auth: {env: PROBE_AUTH}
      after: 5s
      not_executed: accept
    compensate: {url: "https://shop/void/{key}/{fence}", timeout: 1s}
`

const minimalSealed = `
store: {redis: {addresses: ['a:1']}}
secrets:
  bridge: {env: B}
  naming: [{id: n, env: N}]
  sealing: [{id: s, env: S}]
`

func loadRecovery(yaml string) (*Config, error) {
	return Load(Options{YAML: []byte(yaml), Environ: []string{
		"B=" + strings.Repeat("b", 32), "N=" + strings.Repeat("n", 32), "S=" + strings.Repeat("s", 32), "PROBE_AUTH=Bearer {x}",
	}})
}

func TestRecovery(t *testing.T) {
	c, err := loadRecovery(withSealing)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Recovery
	if r.Interval != time.Second || r.StuckAfter != 10*time.Minute || len(r.Scopes) != 1 {
		t.Fatalf("%+v", r)
	}
	s := r.Scopes[0]
	if s.Scope != "payments" || s.Namespace != "shop" || s.Probe.Method != "GET" || !s.Probe.AcceptSnapshot ||
		s.Probe.After != 5*time.Second || len(s.Probe.Headers) != 3 || s.Compensation == nil || s.Compensation.Method != "POST" ||
		s.Compensation.Timeout != time.Second {
		t.Errorf("%+v", s)
	}
	// A secret is no template, whatever it holds.
	if auth := s.Probe.Headers[2]; auth.Name != "authorization" || auth.Value.Expand(nil) != "Bearer {x}" {
		t.Errorf("%s: %q", auth.Name, auth.Value.Expand(nil))
	}
	c, err = loadRecovery(minimalSealed)
	if err != nil || len(c.Recovery.Scopes) != 0 || c.Recovery.Interval != 2*time.Second || c.Recovery.StuckAfter != time.Hour {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestRecoveryFaults(t *testing.T) {
	for _, tc := range []struct{ from, to, want string }{
		{"scope: payments", "scope: ''", "recovery.scopes[0].scope: 0 bytes"},
		{"https://shop/outcome/{key}?fence={fence}", "shop/{key}/{fence}", "probe.url"},
		{"https://shop/outcome/{key}?fence={fence}", "https://{key}/?{fence}", "placeholders stand in the path"},
		{"https://shop/outcome/{key}?fence={fence}", "https://shop/{id}/{key}/{fence}", "placeholders are"},
		{"https://shop/outcome/{key}?fence={fence}", "ftp://shop/{key}/{fence}", "http or https"},
		{"https://shop/outcome/{key}?fence={fence}", "https://user@shop/{key}/{fence}", "without user"},
		{"?fence={fence}", "", "names {fence}"},
		{"outcome/{key}", "outcome", "names {key}"},
		{`"x-user: {principal}"`, `"x user: 1"`, "probe.headers"},
		{`"x-user: {principal}"`, `"x-user: {who}"`, "placeholders are"},
		{"PROBE_AUTH", "NOT_SET", "probe.auth.env"},
		{"after: 5s", "after: 5", "probe.after"},
		{"not_executed: accept", "not_executed: maybe", "must be one of"},
		{`url: "https://shop/void/{key}/{fence}", `, "", "compensate.url: required"},
		{"sealing: [{id: s, env: S}]", "", "needs secrets.sealing"},
		{"scope: payments", "scope: payments\n    extra: 1", "unknown field"},
	} {
		if !strings.Contains(withSealing, tc.from) {
			t.Fatalf("%q is not in the file", tc.from)
		}
		_, err := loadRecovery(strings.Replace(withSealing, tc.from, tc.to, 1))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q for %q: %v, want %q", tc.to, tc.from, err, tc.want)
		}
	}
	twice := withSealing + "  - {scope: payments, namespace: shop, probe: {url: 'http://a/{key}/{fence}', retry: 1m, retry_max: 1s}}\n"
	_, err := loadRecovery(twice)
	for _, want := range []string{"used twice", "retry: 1m0s: must be at most retry_max"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
