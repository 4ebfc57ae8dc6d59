package e2e

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/stack"
)

// trailersPatch lets trailers pass over HTTP/1.1 as well.
const trailersPatch = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          http_protocol_options: {enable_trailers: true}
  clusters:
  - name: shop
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        use_downstream_protocol_config:
          http_protocol_options: {enable_trailers: true}
`

// TestTrailers: what only the gateway says, and what upstream says to the gateway
// alone, reaches no client in trailers either. Requests that no rule covers are not
// touched.
func TestTrailers(t *testing.T) {
	t.Parallel()
	patch := filepath.Join(t.TempDir(), "patch.yaml")
	write(t, patch, trailersPatch)
	s := start(t, stack.Options{EnvoyPatch: patch})
	for name, h2 := range map[string]bool{"http/1.1": false, "h2": true} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			transport.Protocols.SetHTTP1(!h2)
			transport.Protocols.SetUnencryptedHTTP2(h2)
			defer transport.CloseIdleConnections()
			trailers := func(path, key string, trailers ...string) string {
				t.Helper()
				r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+s.Gateway(0)+path, strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{"X-User-Id": {"ada"}, "Idempotency-Key": {name + key}, "X-Shop-Trailer": trailers, "Te": {"trailers"}}
				resp, err := transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = resp.Body.Close() }()
				for b := make([]byte, 512); err == nil; {
					_, err = resp.Body.Read(b)
				}
				if resp.StatusCode != 201 {
					t.Fatalf("%s: %d", path, resp.StatusCode)
				}
				var got []string
				for n, v := range resp.Trailer {
					if len(v) > 0 {
						got = append(got, strings.ToLower(n)+"="+strings.Join(v, "|"))
					}
				}
				slices.Sort(got)
				return strings.Join(got, " ")
			}
			own := []string{
				"idempotency-outcome: no-store", "idempotency-ttl: 5", "idempotency-status: replayed", "idempotent-replayed: true",
				"idempotency-age: 1", "idempotency-expires-in: 1", "idempotency-first-seen: x", "idempotency-lease-until: x",
				"idempotency-recorded: pending", "idempotency-redacted: true", "idempotency-fence: 1", "idempotency-attempt: 1",
				"idempotency-gateway: edge", "idempotency-gateway-proof: x",
			}
			both := append(slices.Clone(own), "x-sum: 1", "idempotency-custom: c")
			if got := trailers("/orders", "both", both...); got != "idempotency-custom=c x-sum=1" {
				t.Errorf("held: %s", got)
			}
			if got := trailers("/uploads", "both", both...); got != "idempotency-custom=c x-sum=1" {
				t.Errorf("passing: %s", got)
			}
			if got := trailers("/orders", "own", own...); got != "" {
				t.Errorf("nothing else: %s", got)
			}
			if got := trailers("/uncovered", "", "idempotency-ttl: 5", "x-sum: 1"); got != "idempotency-ttl=5 x-sum=1" {
				t.Errorf("not covered: %s", got)
			}
		})
	}
	if n := counter(t, s, "panic"); n != 0 {
		t.Errorf("%d panics", n)
	}
	wantIdle(t, s)
}
