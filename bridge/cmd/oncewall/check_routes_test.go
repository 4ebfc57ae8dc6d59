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
`
	const harmless = `
routes:
- route: {retry_policy: {retry_on: "connect-failure,refused-stream"}, hedge_policy: {hedge_on_per_try_timeout: false}, request_mirror_policies: []}
local_reply_config: {}
`
	around := []string{
		"request_mirror_policies: a mirrored request runs once more, at the mirror, under the same Idempotency-Fence",
		"local_reply_config: mappers and body_format rewrite replays and refusals as well, which are local replies",
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
