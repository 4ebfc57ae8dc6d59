package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// What becomes of a key when something between the filter and the backend answers
// in the backend's place: one row for each way that Envoy has, with the response
// flag and the code details that it has then. A row whose flag does not come fails,
// so that none can be passed for want of its fault.

const flagsRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "1500ms",
    "recovery": {"action": "hold", "lease": "60s"}, "unavailable": "reject"},
  "rules": [
    {"name": "plain", "match": {"path": {"prefix": "/f/"}}},
    {"name": "streams", "match": {"path": {"prefix": "/s/"}}, "streaming": true, "upstream_timeout": "0s", "fingerprint": {"body": "none"}, "record": {"body": "none"}},
    {"name": "retrying", "match": {"path": {"prefix": "/r/"}}, "envoy_retries": "route"}
  ]
}`

// flagRow is one way to be answered by something else than the backend.
type flagRow struct {
	name    string // and the last segment of its path
	retries bool   // under the rule that leaves the route's retries
	route   string // YAML of the route beside its match
	with    [][2]string
	h2      bool
	flags   string // %RESPONSE_FLAGS%
	details string // a part of %RESPONSE_CODE_DETAILS%
	status  int
	runs    int  // how often the backend gets the request
	unknown bool // else the key is free again
}

var flagRows = []flagRow{
	// Before a try: nothing was sent.
	{name: "no-host", route: "route: {cluster: nowhere}", flags: "UH", details: "no_healthy_upstream", status: 503},
	{name: "refused", route: "route: {cluster: closed}", flags: "UF", details: "connection_failure", status: 503},
	{name: "no-tls", route: "route: {cluster: silent_tls}", flags: "UF", details: "connection_", status: 503},
	{name: "overflow", route: "route: {cluster: full}", flags: "UO", details: "{overflow}", status: 503},
	{name: "no-route", route: "", flags: "NR", details: "route_not_found", status: 404},
	{name: "no-cluster", route: "route: {cluster_header: x-cluster}", with: [][2]string{{"x-cluster", "none"}}, flags: "NC", details: "cluster_not_found", status: 503},
	{name: "no-name", route: "route: {cluster: by_name}", with: [][2]string{{"host", "none.invalid"}}, flags: "DF", details: "dns_resolution_failure", status: 503},
	{name: "direct", route: "direct_response: {status: 200}", flags: "-", details: "direct_response", status: 200},
	{name: "moved", route: "redirect: {path_redirect: /}", flags: "-", details: "direct_response", status: 301},
	{name: "fault", route: "route: {cluster: odd}", with: [][2]string{{"x-envoy-fault-abort-request", "500"}}, flags: "FI", details: "fault_filter_abort", status: 500},
	{name: "limited", route: `route: {cluster: odd}
  typed_per_filter_config:
    envoy.filters.http.local_ratelimit:
      "@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
      stat_prefix: limited
      token_bucket: {max_tokens: 1, tokens_per_fill: 1, fill_interval: 3600s}
      filter_enabled: {default_value: {numerator: 100}}
      filter_enforced: {default_value: {numerator: 100}}`,
		flags: "-", details: "local_rate_limited", status: 429},
	{name: "limiter-away", route: "route: {cluster: odd, rate_limits: [{actions: [{generic_key: {descriptor_value: all}}]}]}",
		flags: "RLSE", details: "rate_limiter_error", status: 500},
	{name: "authz-away", route: `route: {cluster: odd}
  typed_per_filter_config:
    envoy.filters.http.ext_authz:
      "@type": type.googleapis.com/envoy.config.route.v3.FilterConfig
      config: {"@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute, check_settings: {}}`,
		flags: "UAEX", details: "ext_authz_error", status: 403},
	{name: "rbac", route: `route: {cluster: odd}
  typed_per_filter_config:
    envoy.filters.http.rbac:
      "@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute
      rbac: {rules: {action: DENY, policies: {all: {permissions: [{any: true}], principals: [{any: true}]}}}}`,
		flags: "-", details: "rbac_access_denied", status: 403},
	{name: "lua", route: `route: {cluster: odd}
  typed_per_filter_config:
    envoy.filters.http.lua:
      "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute
      source_code: {inline_string: "function envoy_on_request(h) h:respond({[':status'] = '418'}, 'no') end"}`,
		flags: "-", details: "lua_response", status: 418},
	{name: "strict", retries: true, route: "route: {cluster: odd}", with: [][2]string{{"x-strict", "1"}}, flags: "IH", details: "request_headers_failed_strict_check", status: 400},
	{name: "refused-stream", h2: true, route: "route: {cluster: shop, prefix_rewrite: /orders}", with: [][2]string{{"x-shop-fault", "refused"}}, flags: "UR", details: "remote_refused_stream_reset", status: 503},

	// A try was made: the backend may have run it.
	{name: "slow", route: "route: {cluster: odd}", flags: "UT", details: "response_timeout", status: 504, runs: 1, unknown: true},
	{name: "slow-try", route: "route: {cluster: odd, retry_policy: {per_try_timeout: 0.2s}}", flags: "UT", details: "per_try_timeout", status: 504, runs: 1, unknown: true},
	{name: "slow-idle", route: "route: {cluster: odd, retry_policy: {per_try_idle_timeout: 0.2s}}", flags: "UT", details: "per_try_idle_timeout", status: 504, runs: 1, unknown: true},
	{name: "slow-stream", route: "route: {cluster: odd, max_stream_duration: {max_stream_duration: 0.2s}}", flags: "-", details: "max_duration_timeout", status: 504, runs: 1, unknown: true},
	{name: "slow-try-stream", route: "route: {cluster: short}", flags: "UMSDR", details: "upstream_max_stream_duration_reached", status: 504, runs: 1, unknown: true},
	{name: "slow-silent", route: "route: {cluster: odd, idle_timeout: 0.2s}", flags: "SI", details: "stream_idle_timeout", status: 504, runs: 1, unknown: true},
	{name: "close", route: "route: {cluster: odd}", flags: "UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "reset", route: "route: {cluster: odd}", flags: "UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "garbage", route: "route: {cluster: odd}", flags: "UPE", details: "protocol_error", status: 502, runs: 1, unknown: true},
	{name: "head-only", route: "route: {cluster: odd}", flags: "UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "huge-head", route: "route: {cluster: odd}", flags: "UPE", details: "protocol_error", status: 502, runs: 1, unknown: true},
	{name: "early-only", route: "route: {cluster: odd}", flags: "UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "h2-reset", h2: true, route: "route: {cluster: shop, prefix_rewrite: /orders}", with: [][2]string{{"x-shop-fault", "rst"}}, flags: "UR", details: "remote_reset", status: 503, runs: 1, unknown: true},

	// The route has a retry policy. It is switched off, or the key is held.
	{name: "retry-refused", route: "route: {cluster: closed, retry_policy: {retry_on: connect-failure, num_retries: 2}}", flags: "URX,UF", details: "connection_failure", status: 503},
	{name: "retry-close", route: "route: {cluster: odd, retry_policy: {retry_on: reset, num_retries: 2}}", flags: "URX,UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "route-close", retries: true, route: "route: {cluster: odd, retry_policy: {retry_on: reset, num_retries: 1}}", flags: "URX,UC", details: "connection_termination", status: 503, runs: 2, unknown: true},
	// No retry is left in the cluster's budget: Envoy tells it by the flag of a full
	// cluster, whatever became of the one try.
	{name: "budget-close", retries: true, route: "route: {cluster: no_retries, retry_policy: {retry_on: reset, num_retries: 1}}", flags: "UO,UC", details: "connection_termination", status: 503, runs: 1, unknown: true},
	{name: "budget-slow", retries: true, route: "route: {cluster: no_retries, retry_policy: {retry_on: 5xx, num_retries: 1, per_try_timeout: 0.2s}}", flags: "UO,UT", details: "per_try_timeout", status: 504, runs: 1, unknown: true},
	{name: "budget-hedge-slow", retries: true, route: "route: {cluster: no_retries, idle_timeout: 0.6s, retry_policy: {retry_on: 5xx, num_retries: 1, per_try_timeout: 0.2s}, hedge_policy: {hedge_on_per_try_timeout: true}}", flags: "UO,SI", details: "stream_idle_timeout", status: 504, runs: 1, unknown: true},
}

func (r *flagRow) path() string {
	if r.retries {
		return "/r/" + r.name
	}
	return "/f/" + r.name
}

// flagsPatch puts every fault behind the filter, and tells flags and details of
// every answer that Envoy makes.
func flagsPatch(odd, closed, silent int) string {
	var routes strings.Builder
	for _, r := range flagRows {
		if r.route != "" {
			fmt.Fprintf(&routes, "- match: {path: %s}\n  %s\n", r.path(), r.route)
		}
	}
	routes.WriteString("- match: {path: /f/socket}\n  route: {cluster: odd}\n- match: {prefix: /s/}\n  route: {cluster: odd, timeout: 0s}\n")
	indent := func(s, by string) string { return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by) }
	cluster := func(name string, port int, more string) string {
		return fmt.Sprintf("  - name: %s\n    type: STATIC\n    connect_timeout: 0.3s\n%s    load_assignment: {cluster_name: %[1]s, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %[3]d}}}}]}]}\n", name, more, port)
	}
	const (
		full      = "    circuit_breakers: {thresholds: [{max_pending_requests: 0, max_connections: 0, max_requests: 0}]}\n"
		noRetries = "    circuit_breakers: {thresholds: [{max_retries: 0}]}\n"
		tls       = "    transport_socket: {name: tls, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext}}\n"
		h2        = "    typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {}}}}\n"
		short     = "    typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: {\"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, common_http_protocol_options: {max_stream_duration: 0.2s}, explicit_http_config: {http_protocol_options: {}}}}\n"
		dns       = `{name: flags, dns_lookup_family: V4_ONLY, dns_query_timeout: 0.5s, host_ttl: 1s}`
	)
	return `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          upgrade_configs: [{upgrade_type: websocket}]
          local_reply_config:
            mappers:
            - filter: {status_code_filter: {comparison: {op: GE, value: {default_value: 200, runtime_key: none}}}}
              headers_to_add:
              - {header: {key: x-flags, value: "%RESPONSE_FLAGS%"}}
              - {header: {key: x-details, value: "%RESPONSE_CODE_DETAILS%"}}
          route_config:
            virtual_hosts:
            - name: shop
              routes:
` + indent(routes.String(), "              ") + `
          http_filters:
          - name: oncewall
          - name: envoy.filters.http.header_mutation
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
              mutations: {request_mutations: [{append: {header: {key: x-envoy-retry-on, value: "%REQ(X-STRICT)%"}, append_action: OVERWRITE_IF_EXISTS_OR_ADD, keep_empty_value: false}}]}
          - name: envoy.filters.http.fault
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault, abort: {header_abort: {}, percentage: {numerator: 100}}}
          - name: envoy.filters.http.local_ratelimit
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, stat_prefix: none}
          - name: envoy.filters.http.ratelimit
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit
              domain: flags
              failure_mode_deny: true
              timeout: 0.2s
              rate_limit_service: {transport_api_version: V3, grpc_service: {envoy_grpc: {cluster_name: closed_h2}}}
          - name: envoy.filters.http.ext_authz
            disabled: true
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
              transport_api_version: V3
              grpc_service: {timeout: 0.2s, envoy_grpc: {cluster_name: closed_h2}}
          - name: envoy.filters.http.rbac
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC}
          - name: envoy.filters.http.lua
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua}
          - name: envoy.filters.http.dynamic_forward_proxy
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig, dns_cache_config: ` + dns + `}
          - name: envoy.filters.http.router
            typed_config: {strict_check_headers: [x-envoy-retry-on]}
  clusters:
  - {name: nowhere, type: STATIC}
` + cluster("odd", odd, "") + cluster("no_retries", odd, noRetries) + cluster("full", odd, full) + cluster("short", odd, short) + cluster("closed", closed, "") + cluster("closed_h2", closed, h2) +
		cluster("silent_tls", silent, tls) + `  - name: by_name
    lb_policy: CLUSTER_PROVIDED
    cluster_type: {name: envoy.clusters.dynamic_forward_proxy, typed_config: {"@type": type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig, dns_cache_config: ` + dns + `}}
`
}

// oddBackend is a backend that breaks HTTP, by the last segment of the path.
type oddBackend struct {
	port int
	mu   sync.Mutex
	seen map[string]int // requests by key
}

func newOddBackend(t *testing.T) *oddBackend {
	t.Helper()
	b := &oddBackend{seen: map[string]int{}}
	b.port = listen(t, b.serve)
	return b
}

func (b *oddBackend) runs(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen[key]
}

func (b *oddBackend) serve(conn *net.TCPConn) {
	defer func() { _ = conn.Close() }()
	br := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		b.mu.Lock()
		b.seen[req.Header.Get("idempotency-key")]++
		b.mu.Unlock()
		_, _ = io.Copy(io.Discard, req.Body)
		what := req.URL.Path[strings.LastIndexAny(req.URL.Path, "/-")+1:]
		say := func(s string) { _, _ = io.WriteString(conn, s) }
		switch what {
		case "slow", "try", "idle", "stream", "silent":
			_, _ = br.ReadByte() // until Envoy has had enough
			return
		case "socket":
			say("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
			_, _ = io.Copy(conn, br)
			return
		case "close":
			return
		case "reset":
			_ = conn.SetLinger(0)
			return
		case "garbage":
			say("\x16\x03\x01 this is not HTTP\r\n\r\n")
			return
		case "only":
			say("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")
			return
		case "head":
			say("HTTP/1.1 200 OK\r\nx-a: " + strings.Repeat("b", 100_000) + "\r\n\r\n")
			return
		}
		say("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok")
	}
}

// TestFlags: a key is free again where it is certain that nothing was sent, held
// where the backend may have run it, and never recorded where the backend did not
// answer.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"", "1.36.2"} {
		t.Run("envoy "+version, func(t *testing.T) {
			envoy := ""
			if version != "" {
				out, err := exec.CommandContext(t.Context(), "../../build/envoy.sh", version).Output()
				if err != nil {
					t.Fatal(err)
				}
				envoy = string(bytes.TrimSpace(out))
			}
			flags(t, envoy)
		})
	}
}

func flags(t *testing.T, envoy string) {
	odd, silent := newOddBackend(t), silentListener(t)
	closed, err := stack.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
	write(t, rules, flagsRules)
	write(t, patch, flagsPatch(odd.port, closed[0], silent))
	s := start(t, stack.Options{Envoy: envoy, Rules: rules, EnvoyPatch: patch})
	h1, h2 := door(t, s), client(t, s.Gateway(0), story.HTTP2)
	wantKind(t, "an answer of the backend", h1.Send(t.Context(), story.Post("/f/limited", "warm")), "201 created")
	for _, r := range flagRows {
		t.Run(r.name, func(t *testing.T) {
			c, q := h1, story.Post(r.path(), r.name).Body(`{"a":1}`)
			if r.h2 {
				c = h2
			}
			for _, l := range r.with {
				q = q.With(l[0], l[1])
			}
			code, again := "released", fmt.Sprint(r.status, " released")
			if r.unknown {
				code, again = "outcome-unknown", "409 outcome-unknown"
			}
			first := c.Send(t.Context(), q)
			if got := first.Header.Get("x-flags"); got != r.flags || !strings.Contains(first.Header.Get("x-details"), r.details) {
				t.Errorf("flags %q, details %q; want %q, %q", got, first.Header.Get("x-details"), r.flags, r.details)
			}
			if got, want := first.Kind(), fmt.Sprint(r.status, " ", code); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got := c.Send(t.Context(), q).Kind(); got != again {
				t.Errorf("retry: got %s, want %s", got, again)
			}
			if strings.Contains(r.route, "cluster: shop") {
				wantRuns(t, s, r.name, r.runs)
			} else if n := odd.runs(r.name); n != r.runs {
				t.Errorf("the backend ran %d times, want %d", n, r.runs)
			}
		})
	}
	t.Run("broken request", func(t *testing.T) {
		// A body that stops being HTTP (DPE) after its request was sent on.
		conn, err := net.Dial("tcp", s.Gateway(0))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "POST /s/streamed HTTP/1.1\r\nhost: shop\r\nx-user-id: ada\r\nidempotency-key: broken\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
		eventually(t, "the backend to have it", 10*time.Second, func() bool { return odd.runs("broken") == 1 })
		_, _ = io.WriteString(conn, "this is no chunk\r\n")
		_, _ = io.Copy(io.Discard, conn)
		again := retryWhile(t, h1, story.Post("/s/streamed", "broken").Body("hello"), "409 in-flight", 10*time.Second)
		if again.Kind() != "409 outcome-unknown" || odd.runs("broken") != 1 {
			t.Errorf("retry: %s, ran %d times", again, odd.runs("broken"))
		}
	})
	t.Run("upgrade", func(t *testing.T) {
		ask := func() (status string, conn net.Conn, br *bufio.Reader) {
			conn, err := net.Dial("tcp", s.Gateway(0))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.WriteString(conn, "POST /f/socket HTTP/1.1\r\nhost: shop\r\nx-user-id: ada\r\nidempotency-key: socket\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
			br = bufio.NewReader(conn)
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("idempotency-status")), conn, br
		}
		status, conn, br := ask()
		if status != "101 created" {
			t.Fatal(status)
		}
		_, _ = io.WriteString(conn, "ping\n")
		if echo, err := br.ReadString('\n'); echo != "ping\n" {
			t.Errorf("%q, %v", echo, err)
		}
		if status, _, _ := ask(); status != "409 response-not-kept" || odd.runs("socket") != 1 {
			t.Errorf("a repeat: %s, ran %d times", status, odd.runs("socket"))
		}
		_ = conn.Close()
		// A body that no repeat could be compared with.
		a := raw(t, s.Gateway(0), "HTTP/1.1", "POST", "/f/socket", [][2]string{{"x-user-id", "ada"}, {"idempotency-key", "socket-body"}, {"connection", "upgrade"}, {"upgrade", "websocket"}}, "{}")
		if a.status != 413 || strings.Join(a.header("idempotency-status"), "|") != "too-large" || odd.runs("socket-body") != 0 {
			t.Errorf("a body beside it: %s, ran %d times", a, odd.runs("socket-body"))
		}
	})
	if n := counter(t, s, "panic"); n != 0 {
		t.Errorf("%d panics", n)
	}
	wantIdle(t, s)
}

// silentListener accepts connections and says nothing; its port.
func silentListener(t *testing.T) int {
	t.Helper()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return listen(t, func(conn *net.TCPConn) {
		<-over
		_ = conn.Close()
	})
}
