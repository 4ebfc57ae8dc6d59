package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// answersRules has a rule for each thing that an answer can depend on.
const answersRules = `{
  "namespace": %q,
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "20s",
    "recovery": {"action": "hold", "lease": "60s"}, "unavailable": "reject"},
  "rules": [
    {"name": "orders", "match": {"path": {"prefix": "/orders"}, "methods": ["POST", "HEAD"]}},
    {"name": "waits", "match": {"path": {"prefix": "/orders/loop"}}, "in_flight": {"action": "wait", "max_wait": "4s"}},
    {"name": "cookies", "match": {"path": {"prefix": "/orders/cookies"}}, "record": {"keep_headers": ["set-cookie"]}},
    {"name": "grpc", "match": {"path": {"prefix": "/shop.Shop"}}},
    {"name": "streams", "match": {"path": {"prefix": "/uploads"}}, "streaming": true, "upstream_timeout": "0s",
      "recovery": {"action": "hold", "lease": "10s"}, "fingerprint": {"body": "none"}, "record": {"body": "none"}}
  ]
}`

// answersPatch surrounds the filter with what Envoy can do to an answer, and
// puts two more gateways behind it: one of another namespace, one of its own.
const answersPatch = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          http_protocol_options: {enable_trailers: false, accept_http_10: true}
          route_config:
            virtual_hosts:
            - name: shop
              response_headers_to_add:
              - {header: {key: x-vh, value: added}}
              - {header: {key: x-vh-over, value: added}, append_action: OVERWRITE_IF_EXISTS_OR_ADD}
              routes:
              - name: redirecting
                match: {prefix: /orders/redirecting}
                route:
                  cluster: shop
                  internal_redirect_policy: {max_internal_redirects: 2, redirect_response_codes: [302, 307]}
              - name: covered
                match: {prefix: /orders/covered}
                route: {cluster: shop}
                request_headers_to_remove: [x-shop-status, x-shop-header]
              - name: elsewhere
                match: {prefix: /elsewhere}
                route: {cluster: shop, prefix_rewrite: /orders/elsewhere}
                request_headers_to_remove: [x-shop-status, x-shop-header]
              - name: refusing
                match: {prefix: /refusing}
                direct_response: {status: 403}
              - name: hedged
                match: {prefix: /orders/hedged}
                route:
                  cluster: shop
                  retry_policy: {retry_on: "5xx,reset,connect-failure,refused-stream", num_retries: 3, per_try_timeout: 0.3s}
                  hedge_policy: {hedge_on_per_try_timeout: true}
              - name: mirrored
                match: {prefix: /orders/mirrored}
                route: {cluster: shop, request_mirror_policies: [{cluster: shop}]}
              - name: chain
                match: {prefix: /orders/chain}
                route: {cluster: inner, timeout: 20s}
              - name: loop
                match: {prefix: /orders/loop}
                route: {cluster: twin, timeout: 20s}
              - name: nowhere
                match: {prefix: /orders/nowhere}
                route: {cluster: nowhere}
              - name: redirect
                match: {prefix: /orders/moved}
                redirect: {path_redirect: /orders/here}
              - name: shop
                match: {prefix: /}
                route: {cluster: shop, timeout: 15s}
                typed_per_filter_config:
                  envoy.filters.http.cors:
                    "@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy
                    allow_origin_string_match: [{prefix: "https://"}]
                    allow_credentials: true
          http_filters:
          - name: envoy.filters.http.cors
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.cors.v3.Cors}
%s%s  clusters:
  - name: inner
    type: STATIC
    load_assignment: {cluster_name: inner, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}]}]}
  - name: twin
    type: STATIC
    load_assignment: {cluster_name: twin, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}]}]}
  - name: nowhere
    type: STATIC
`

// behind is the listener of a gateway behind the first.
func behind(name, namespace, wasm string, port int) string {
	return fmt.Sprintf(`  - name: %[1]s
    address: {socket_address: {address: 127.0.0.1, port_value: %[4]d}}
    filter_chains:
    - name: %[1]s
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: %[1]s
          server_header_transformation: PASS_THROUGH
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: shop, timeout: 20s}}]}]}
          http_filters:
          - name: oncewall
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
              config:
                name: %[1]s
                failure_policy: FAIL_RELOAD
                allow_on_headers_stop_iteration: true
                vm_config:
                  vm_id: %[1]s
                  runtime: envoy.wasm.runtime.v8
                  code: {local: {filename: %[3]q}}
                  environment_variables: {host_env_keys: [ONCEWALL_BRIDGE_SECRET]}
                configuration:
                  "@type": type.googleapis.com/google.protobuf.StringValue
                  value: %[5]q
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
`, name, namespace, wasm, port, fmt.Sprintf(answersRules, namespace))
}

// around is a gateway with everything around it that may change an answer.
type around struct {
	*stack.Stack
	keys  int
	run   string
	inner string // address of the gateway of another namespace
}

func startAnswers(t *testing.T, envoy string) *around {
	t.Helper()
	ports, err := stack.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := filepath.Abs("../../build/out/oncewall.wasm")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
	write(t, rules, fmt.Sprintf(answersRules, "edge"))
	write(t, patch, fmt.Sprintf(answersPatch, behind("inner", "inner", wasm, ports[0]), behind("twin", "edge", wasm, ports[1]), ports[0], ports[1]))
	return &around{Stack: start(t, stack.Options{Envoy: envoy, Rules: rules, EnvoyPatch: patch}), run: fmt.Sprintf("%s-%d", filepath.Base(filepath.Dir(dir)), ports[0]),
		inner: stack.Addr(ports[0])}
}

// key returns a key that no request has had.
func (a *around) key() string {
	a.keys++
	return fmt.Sprintf("%s-%d", a.run, a.keys)
}

// location is an x-shop-header that sends a client to path at this gateway.
func (a *around) location(path string) string { return "location: http://" + a.Gateway(0) + path }

// TestAnswers tests what clients see of answers and their replays, and how
// answers end, behind one Envoy of each version that is tested.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.36.2"} {
		envoy := ""
		if version != "" {
			out, err := exec.CommandContext(t.Context(), "../../build/envoy.sh", version).Output()
			if err != nil {
				t.Fatal(err)
			}
			envoy = string(bytes.TrimSpace(out))
		}
		t.Run("envoy "+version, func(t *testing.T) {
			a := startAnswers(t, envoy)
			t.Run("bytes", a.bytes)
			t.Run("hops", a.hops)
			t.Run("credentials", a.credentials)
			t.Run("origins", a.origins)
			t.Run("redirects", a.redirects)
			t.Run("retries", a.retries)
			t.Run("envoy's own", a.madeByEnvoy)
			t.Run("gateways", a.gateways)
			t.Run("grpc", a.grpc)
			t.Run("events", a.events)
			t.Run("cut", a.cut)
			t.Run("slow reader", a.slowReader)
			t.Run("streams", a.streams)
		})
	}
}

// post is a POST under a new key.
func (a *around) post(path string) (r story.Request, key string) {
	key = a.key()
	return story.Post(path, key), key
}
