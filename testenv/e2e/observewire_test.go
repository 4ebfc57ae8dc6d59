package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// wireRules observe whatever comes, by a key in a header or in a body. Their bridge
// is waited for longer than an exchange may take.
const wireRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "10s"},
  "envoy": {"allow_on_headers_stop_iteration": %t, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "recovery": {"action": "hold", "lease": "30s"}},
  "rules": [
    {"name": "all", "mode": "observe", "match": {"path": {"prefix": "/"}, "methods": ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH"]}, "fingerprint": {"body": "%s"}}%s
  ]
}`

const wireBodyRules = `,
    {"name": "json", "mode": "observe", "match": {"path": {"prefix": "/json"}}, "key": {"from": [{"json": "/id"}]}},
    {"name": "form", "mode": "observe", "match": {"path": {"prefix": "/form"}}, "key": {"from": [{"form": "id"}]}, "fingerprint": {"body": "form"}},
    {"name": "small", "mode": "observe", "match": {"path": {"prefix": "/small"}}, "fingerprint": {"body": "raw", "max_body": "1KiB"}, "record": {"max_body": "1KiB"}},
    {"name": "prefix", "mode": "observe", "match": {"path": {"prefix": "/prefix"}}, "fingerprint": {"body": "raw", "max_body": "1KiB", "over": "prefix"}}`

// wirePatch lets everything through that Envoy can pass, on both listeners, with a
// route that retries and one that has not long to wait.
func wirePatch(port int) string {
	listener := func(name string) string {
		return `
  - name: ` + name + `
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          delayed_close_timeout: 0.1s
          http_protocol_options: {enable_trailers: true, accept_http_10: true, default_host_for_http_10: shop}
          upgrade_configs: [{upgrade_type: websocket}]
          route_config:
            virtual_hosts:
            - name: shop
              routes:
              - {name: retry, match: {prefix: /retry}, route: {cluster: shop, retry_policy: {retry_on: 5xx, num_retries: 2, retry_back_off: {base_interval: 0.001s}}}}
              - {name: slow, match: {prefix: /slow}, route: {cluster: shop, timeout: 0.3s}}
              - name: shop`
	}
	return fmt.Sprintf(`
static_resources:
  listeners:%s%s
  clusters:
  - name: shop
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        use_downstream_protocol_config: {http_protocol_options: {enable_trailers: true}}
    load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}]}]}
`, listener("gateway"), listener("bare"), port)
}

// wireCase is one exchange. Each side writes its pieces in turn, and before each but
// the first it waits until the other has got the end of what it wrote last: whoever
// held a piece back would hold up all. A request that begins with "h2" is one of
// HTTP/2, a line each for a field, a blank one before the body and before trailers.
type wireCase struct {
	name    string
	request []string
	answer  []string // of an HTTP/1.1 backend; nil: a receipt
	fails   int      // requests that are answered 503 before
	runs    int      // requests that the backend gets; 0: one. -1: none
}

const (
	wireHead    = " HTTP/1.1\r\nHost: shop.example\r\nX-User-Id: ada\r\n"
	wireReceipt = "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-B: 1\r\nX-A: 2\r\nX-B: 3\r\nContent-Length: 8\r\n\r\n{\"ok\":1}"
	wireLast    = "GET /last HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n"
)

func wireCases() []wireCase {
	post := func(path, lines, body string) []string {
		return []string{"POST " + path + wireHead + lines + "\r\n" + body}
	}
	key := "Idempotency-Key: wire-1\r\n"
	sized := func(body string) string { return fmt.Sprintf("%sContent-Length: %d\r\n", key, len(body)) }
	chunked := key + "Transfer-Encoding: chunked\r\n"
	big := strings.Repeat("0123456789abcdef", 40_000) // above all that is read, captured or kept of it
	h2 := func(lines, body, trailers string) []string {
		return []string{"h2\n" + lines + "\n\n" + body + "\n\n" + trailers}
	}
	const h2Head = ":method: POST\n:scheme: http\n:authority: shop.example\n:path: /rpc.Shop/Order\nx-user-id: ada\nidempotency-key: wire-1"
	return []wireCase{
		{name: "content-length", request: post("/a", sized(`{"a":1}`), `{"a":1}`)},
		{name: "the same once more", request: post("/a", sized(`{"a":1}`), `{"a":1}`)},
		{name: "another body", request: post("/a", sized(`{"a":2}`), `{"a":2}`)},
		{name: "chunked", request: post("/a", chunked, "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")},
		{name: "chunked with trailers", request: post("/a", chunked+"Trailer: x-sum\r\n", "3\r\nabc\r\n0\r\nX-Sum: 1\r\nIdempotency-Key: t\r\n\r\n")},
		{name: "no body", request: post("/a", key+"Content-Length: 0\r\n", "")},
		{name: "in pieces", request: []string{post("/a", sized("first-half|other-half"), "first-half|")[0], "other-half"},
			answer: []string{"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nanswer-a-", "answer-b-", "ab"}},
		{name: "JSON in pieces", request: []string{post("/json", sized(`{"id":"first","b":"other"}`), `{"id":"first",`)[0], `"b":"other"}`}},
		{name: "answer in chunks", request: post("/a", sized("x"), "x"),
			answer: []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n", "4\r\nnext\r\n", "0\r\nX-End: 1\r\n\r\n"}},
		{name: "event stream", request: post("/a", sized("x"), "x"),
			answer: []string{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n", "9\r\ndata: 2\n\n\r\n", "0\r\n\r\n"}},
		{name: "expect", request: []string{post("/a", sized("expected")+"Expect: 100-continue\r\n", "")[0], "expected"}},
		{name: "head", request: []string{"HEAD /a" + wireHead + key + "\r\n"}, answer: []string{"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nETag: \"1\"\r\n\r\n"}},
		{name: "get with a key", request: []string{"GET /a?b=c" + wireHead + key + "\r\n"}},
		{name: "options", request: []string{"OPTIONS /a" + wireHead + key + "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"}},
		{name: "204", request: post("/a", sized("x"), "x"), answer: []string{"HTTP/1.1 204 No Content\r\nX-C: d\r\n\r\n"}},
		{name: "304", request: post("/a", sized("x"), "x"), answer: []string{"HTTP/1.1 304 Not Modified\r\nETag: W/\"1\"\r\n\r\n"}},
		{name: "early hints", request: post("/a", sized("x"), "x"), answer: []string{"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + wireReceipt}},
		{name: "lines of ours", request: post("/a", sized("x")+"Idempotency-Fence: 7\r\nIdempotency-Status: created\r\nIdempotency-Gateway: edge\r\nPrefer: wait=5\r\n", "x"),
			answer: []string{"HTTP/1.1 200 OK\r\nIdempotency-Outcome: not-executed\r\nIdempotency-TTL: 5\r\nIdempotency-Status: replayed\r\nIdempotent-Replayed: true\r\nContent-Length: 0\r\n\r\n"}},
		{name: "cookies", request: post("/a", sized("x")+"Cookie: a=1; b=2\r\nCookie: c=3\r\n", "x"),
			answer: []string{"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\nVary: a\r\nVary: b\r\nContent-Length: 0\r\n\r\n"}},
		{name: "two keys", request: post("/a", key+sized("x")+"x-dup: 1\r\nX-Dup:\r\nX-DUP:  3 \r\n", "x")},
		{name: "wrong key", request: post("/a", "Idempotency-Key: "+strings.Repeat("k", 300)+"\r\nContent-Length: 1\r\n", "x")},
		{name: "no key", request: post("/a", "Content-Length: 1\r\n", "x")},
		{name: "nobody", request: []string{"POST /a HTTP/1.1\r\nHost: shop.example\r\n" + sized("x") + "\r\nx"}},
		{name: "not JSON", request: post("/json", sized(`{"id":1,"id":`), `{"id":1,"id":`)},
		{name: "a form", request: post("/form", "Content-Type: application/x-www-form-urlencoded\r\n"+sized("id=%zz&id=2"), "id=%zz&id=2")},
		{name: "odd path", request: post("/json/..;/a//b%20c?x=%2f", sized(`{"id":1}`), `{"id":1}`)},
		{name: "gzip", request: post("/a", "Content-Encoding: gzip\r\n"+sized("\x1f\x8b\x08\x00garbage"), "\x1f\x8b\x08\x00garbage"),
			answer: []string{"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00\r\n"}},
		{name: "large", request: post("/small", sized(big), big), answer: []string{"HTTP/1.1 200 OK\r\nContent-Length: 640000\r\n\r\n" + big}},
		{name: "large, compared by its beginning", request: post("/prefix", sized(big), big)},
		{name: "large, chunked", request: post("/a", chunked, "9c400\r\n"+big+"\r\n0\r\n\r\n"), answer: []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9c400\r\n" + big + "\r\n0\r\n\r\n"}},
		{name: "HTTP/1.0", request: []string{"POST /a HTTP/1.0\r\nX-User-Id: ada\r\n" + sized("x") + "\r\nx"}},
		{name: "HTTP/1.0, kept", request: []string{"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nX-User-Id: ada\r\n" + sized("x") + "\r\nx"}},
		{name: "a cut answer", request: post("/a", sized("x"), "x"), answer: []string{"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", "cut"}},
		{name: "no answer", request: post("/a", sized("x"), "x"), answer: []string{"cut"}},
		{name: "retried", request: post("/retry", sized("x"), "x"), fails: 2, runs: 3},
		{name: "timeout of the route", request: post("/slow", sized("x"), "x"), answer: []string{"", "never"}},
		{name: "upgrade", request: []string{"POST /a" + wireHead + key + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "ping"},
			answer: []string{"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "pong"}},
		{name: "upgrade refused", request: []string{"GET /a" + wireHead + key + "Connection: Upgrade\r\nUpgrade: h3c\r\n\r\n"}, runs: -1},
		{name: "discovery is not asked for", request: []string{"GET /.well-known/idempotency" + wireHead + "\r\n"}},
		{name: "h2", request: h2(h2Head, "x", "")},
		{name: "h2, cookies in crumbs, a name twice", request: h2(h2Head+"\ncookie: a=1\ncookie: b=2\nx-a: 1\nx-b: 2\nx-a: 3", "x", "")},
		{name: "h2, no body", request: h2(h2Head, "", "")},
		{name: "h2 with trailers", request: h2(h2Head, "x", "x-sum: 1")},
		{name: "h2, large", request: h2(h2Head, big, "")},
		{name: "gRPC", request: h2(h2Head+"\ncontent-type: application/grpc\nte: trailers", "\x00\x00\x00\x00\x01x", "")},
	}
}

// perExchangeWire are what two exchanges differ in by themselves.
var perExchangeWire = regexp.MustCompile(`(?im)^(date|x-request-id|x-envoy-upstream-service-time):[^\r\n]*`)

// TestObservedWire sends the same through a listener with a rule that observes and
// through one without the filter, while the bridge serves and while it is frozen:
// the backend gets the same bytes, and so does the client, and nothing waits.
func TestObservedWire(t *testing.T) {
	t.Parallel()
	for _, flag := range []bool{true, false} {
		t.Run(fmt.Sprintf("flag %t", flag), func(t *testing.T) {
			b := newWireBackend(t)
			dir := t.TempDir()
			rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
			body, more, lay := "json", wireBodyRules, wirePatch(b.port)
			if !flag {
				body, more = "none", ""
				lay = strings.Replace(lay, "          route_config:", "          http_filters: [{name: oncewall, typed_config: {config: {allow_on_headers_stop_iteration: false}}}]\n          route_config:", 1)
			}
			write(t, rules, fmt.Sprintf(wireRules, flag, body, more))
			write(t, patch, lay)
			s := start(t, stack.Options{Rules: rules, EnvoyPatch: patch, Bare: true})
			compareWire(t, b, s, "the bridge serves")
			metrics := string(page(t, "http://"+s.GatewayAdmin(0)+"/stats/prometheus"))
			for _, code := range []string{"would-created", "would-key-missing", "would-key-invalid", "would-principal-missing"} {
				if !strings.Contains(metrics, `outcome="`+code+`"`) {
					t.Errorf("no request was counted %s", code)
				}
			}
			if err := s.Pause(stack.BridgePart(0)); err != nil {
				t.Fatal(err)
			}
			compareWire(t, b, s, "the bridge is frozen")
			if err := s.Resume(stack.BridgePart(0)); err != nil {
				t.Fatal(err)
			}
			if n := counter(t, s, "panic"); n != 0 {
				t.Errorf("%d panics", n)
			}
			wantIdle(t, s)
		})
	}
}

func compareWire(t *testing.T, b *wireBackend, s *stack.Stack, when string) {
	t.Helper()
	for _, c := range wireCases() {
		t.Run(when+"/"+c.name, func(t *testing.T) {
			plain, seen := b.exchange(t, s.Bare(), &c), b.exchange(t, s.Gateway(0), &c)
			if len(plain.requests) != max(c.runs, 0) && c.runs != 0 || len(plain.requests) != 1 && c.runs == 0 {
				t.Errorf("the backend got %d requests:\n%.2000q", len(plain.requests), plain.requests)
			}
			if !slices.Equal(plain.requests, seen.requests) {
				t.Errorf("the backend got\n%.2000q\nwith the filter\n%.2000q", plain.requests, seen.requests)
			}
			if plain.answer == "" || plain.answer != seen.answer {
				t.Errorf("the client got\n%.2000q\nwith the filter\n%.2000q", plain.answer, seen.answer)
			}
			// bridge.timeout, were it waited for, is 10 s.
			if seen.took > plain.took+5*time.Second {
				t.Errorf("it took %s, with the filter %s", plain.took, seen.took)
			}
		})
	}
}
