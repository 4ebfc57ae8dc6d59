package e2e

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// spelledRules guard hosts by their names and by a suffix, and paths of every kind.
const spelledRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s",
    "recovery": {"action": "hold", "lease": "30s"}, "unavailable": "reject"},
  "rules": [
    {"name": "orders", "match": {"hosts": ["shop.example", "*.example"], "path": {"prefix": "/orders"}}},
    {"name": "bills", "match": {"hosts": ["shop.example"], "path": {"prefix": "/bills"}}},
    {"name": "all-bills", "match": {"path": {"prefix": "/bills"}}},
    {"name": "payments", "match": {"hosts": ["shop.example"], "path": {"template": "/payments/{id}/capture"}}},
    {"name": "notes", "match": {"hosts": ["shop.example"], "path": {"regexp": "/notes/[0-9]+"}}}
  ]
}`

// spelledPatch lets paths through as they are sent, and takes hosts by wildcards.
const spelledPatch = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          normalize_path: false
          merge_slashes: false
          path_with_escaped_slashes_action: KEEP_UNCHANGED
          route_config:
            virtual_hosts:
            - name: shop
              domains: ["shop.example", "shop.example:*", "*.example"]
`

// TestUnnormalisedSpellings sends requests without a key under other spellings of
// host and path to a gateway that normalises neither. None reaches the shop.
func TestUnnormalisedSpellings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, patch := filepath.Join(dir, "rules.json"), filepath.Join(dir, "patch.yaml")
	write(t, rules, spelledRules)
	write(t, patch, spelledPatch)
	s := start(t, stack.Options{Rules: rules, EnvoyPatch: patch})
	send := func(host, target string) string {
		conn, err := net.DialTimeout("tcp", s.Gateway(0), rawLimit)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if err := conn.SetDeadline(time.Now().Add(rawLimit)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nhost: %s\r\nx-user-id: ann\r\nx-shop-tag: spelled\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}", target, host)
		a := readRaw(bufio.NewReader(conn), "POST")
		return fmt.Sprintf("%d %s", a.status, strings.Join(a.header("idempotency-status"), "|"))
	}
	for _, host := range []string{
		"shop.example", "SHOP.example", "shop.example:80", "shop.example:x", "shop.example:80:80", "shop.example:80.example", "a.example", "a..example", "..example",
		strings.Repeat("a", 300) + ".example", strings.Repeat("a.", 200) + "example", "shop.example:" + strings.Repeat("x", 300), "x@shop.example",
	} {
		if got := send(host, "/orders"); got != "400 key-missing" {
			t.Errorf("host %.40s: %s", host, got)
		}
		// What stands in the target goes before the Host line.
		if got := send("other.test", "http://"+host+"/orders"); got != "400 key-missing" && !strings.HasPrefix(got, "400 ") {
			t.Errorf("target with host %.40s: %s", host, got)
		}
	}
	// Some readers see the host of a rule, others one that a rule of another scope is for.
	for host, want := range map[string]string{"shop.example": "key-missing", "shop.example:80": "key-missing", "shop.example:x": "key-invalid", "x@shop.example": "key-invalid", "a.example": "key-missing"} {
		if got := send(host, "/bills"); got != "400 "+want {
			t.Errorf("host %s: %s, want %s", host, got, want)
		}
	}
	paths := []string{
		"//orders", "/./orders", "/x/../orders", "/%6Frders", "/%256Frders", "/%25256Frders", "/orders%2Fnew", "/orders%252fnew", "/orders/../orders", "/x/%2e%2e/orders",
		"/orders;v=1", "/orders;v=1/1", "/;x/orders", "/x/..;/orders", `/\orders`, `/x\..\orders`, "/orders%3fx", "/orders%00", "/orders%23x", "/orders??x", "/orders?/../x", "/%2forders", "/.%2forders",
		"/payments/1/capture", "/payments//1/capture", "/payments/1/./capture", "/payments/1%2Fcapture", "/payments/1/capture/", "/payments/1/x/../capture", "/payments/a%2Fb/capture", "/payments/1/%63apture",
		"/notes/12", "/notes//12", "/notes/1%32", "/notes/x/../12", "/notes/12;x",
	}
	for _, path := range paths {
		if got := send("shop.example", path); !strings.HasPrefix(got, "400 ") {
			t.Errorf("%s: %s", path, got)
		}
	}
	// What HTTP/2 can say and HTTP/1 cannot, some of which Envoy refuses itself.
	for _, path := range append(paths, "orders", "*", "/orders#x", "#/orders", "?/orders", "http://shop.example/orders", "/orders /x", "/ord\ters", "/\x00/orders") {
		a := raw(t, s.Gateway(0), "h2", "POST", path, [][2]string{{"x-user-id", "ann"}, {"x-shop-tag", "spelled"}}, "{}")
		if a.err == nil && a.status < 400 {
			t.Errorf("h2 %q: %s", path, a)
		}
	}
	x, err := story.Shop{Addr: s.Shop()}.Tagged(t.Context(), "spelled")
	if err != nil || x.Count != 0 {
		t.Errorf("%d of them reached the shop (%v)", x.Count, err)
	}
}
