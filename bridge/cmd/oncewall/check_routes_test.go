package main

import (
	"slices"
	"testing"

	goyaml "github.com/goccy/go-yaml"

	"github.com/oncewall/oncewall/filter/rules"
)

// TestDisagreeRoutes: what can run a request twice is named, where it can.
func TestDisagreeRoutes(t *testing.T) {
	const file = `
routes:
- route: {retry_policy: {retry_on: "connect-failure, 5xx,refused-stream"}, hedge_policy: {hedge_on_per_try_timeout: true}}
- route: {request_mirror_policies: [{cluster: c}], retry_policy: {retry_on: 5xx}}
local_reply_config: {body_format: {text_format: x}}
upgrade_configs: [{upgrade_type: websocket}, {upgrade_type: foo}, {upgrade_type: bar, enabled: true}, {upgrade_type: foo}, {upgrade_type: off, enabled: false}]
`
	const harmless = `
routes:
- route: {retry_policy: {retry_on: "connect-failure,refused-stream"}, hedge_policy: {hedge_on_per_try_timeout: false}, request_mirror_policies: []}
local_reply_config: {}
upgrade_configs: [{upgrade_type: WebSocket, enabled: true}, {upgrade_type: CONNECT}]
`
	around := []string{
		"request_mirror_policies: a mirrored request runs once more, at the mirror, under the same Idempotency-Fence",
		"local_reply_config: mappers and body_format rewrite replays and refusals as well, which are local replies",
		"upgrade_configs: foo, bar: Envoy 1.36 sends on what follows such a request before upstream has agreed, and a backend that does not upgrade takes it for requests of its own, past every rule",
	}
	for _, c := range []struct {
		text    string
		retries rules.EnvoyRetries
		want    []string
	}{
		{file, rules.RetriesOff, around},
		{file, rules.RetriesRoute, append([]string{
			`rule "r": envoy_retries "route", and a retry_policy in this file retries on 5xx: one claim can run more than once`,
			`rule "r": envoy_retries "route", and a hedge_policy in this file hedges: one claim can run more than once`}, around...)},
		{harmless, rules.RetriesRoute, nil},
	} {
		var document any
		if err := goyaml.Unmarshal([]byte(c.text), &document); err != nil {
			t.Fatal(err)
		}
		f := &pluginFile{fromEnvoy: true, routes: routingOf(document), cfg: &rules.Config{Rules: []*rules.Rule{{Name: "r", EnvoyRetries: c.retries}}}}
		if got := disagreeRoutes(f); !slices.Equal(got, c.want) {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestDisagreeHosts: a rule for hosts guards nothing where routes take every host,
// unless another rule is for those.
func TestDisagreeHosts(t *testing.T) {
	const open, closed = `virtual_hosts: [{name: all, domains: ["shop.example", "*"]}]`, `virtual_hosts: [{name: shop, domains: ["shop.example", "*.shop.example"]}]`
	hosted := &rules.Rule{Name: "r", Match: rules.Match{Hosts: []string{"shop.example"}}}
	const want = `rule "r": guards match.hosts alone, and virtual host "all" takes every host (domains "*"): a request with another one passes by the rule`
	for _, c := range []struct {
		text  string
		rules []*rules.Rule
		want  []string
	}{
		{open, []*rules.Rule{hosted}, []string{want}},
		{open, []*rules.Rule{hosted, {Name: "off", Mode: rules.Off}}, []string{want}},
		{open, []*rules.Rule{hosted, {Name: "rest"}}, nil},
		{closed, []*rules.Rule{hosted}, nil},
	} {
		var document any
		if err := goyaml.Unmarshal([]byte(c.text), &document); err != nil {
			t.Fatal(err)
		}
		f := &pluginFile{fromEnvoy: true, routes: routingOf(document), cfg: &rules.Config{Rules: c.rules}}
		if got := disagreeRoutes(f); !slices.Equal(got, c.want) {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestObserving: what is observed is not protected, and check says so.
func TestObserving(t *testing.T) {
	got := observing(&rules.Config{Rules: []*rules.Rule{
		{Name: "on"}, {Name: "off", Mode: rules.Off}, {Name: "seen", Mode: rules.Observe},
		{Name: "some", Mode: rules.Observe, EnforcePercent: 5}, {Name: "all", Mode: rules.Observe, EnforcePercent: 100},
	}})
	want := []string{
		`rule "seen": mode observe: it counts, and refuses and replays nothing`,
		`rule "some": mode observe: it enforces 5% of keys; of the others every request runs`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
