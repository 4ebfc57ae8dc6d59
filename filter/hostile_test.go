package filter

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// hostileHead are header lines that a client may send, of about 60 KB, which is
// what Envoy lets through, or 1,000 lines.
func hostileHead() map[string][]wire.HeaderLine {
	const size = 60 << 10
	rep := func(s string) string { return strings.Repeat(s, size/len(s)) }
	one := func(name, value string) []wire.HeaderLine { return []wire.HeaderLine{{Name: name, Value: value}} }
	many := func(name string) (lines []wire.HeaderLine) {
		for i := range 1000 {
			lines = append(lines, wire.HeaderLine{Name: strings.ReplaceAll(name, "#", fmt.Sprint(i)), Value: fmt.Sprint("v", i)})
		}
		return lines
	}
	return map[string][]wire.HeaderLine{
		"long key": one("idempotency-key", rep("k")), "quoted key": one("idempotency-key", `"`+rep("k")+`"`),
		"escapes": one("idempotency-key", `"`+rep(`\"`)), "parameters": one("idempotency-key", `"k"`+rep(";a=1")),
		"list": one("idempotency-key", rep("k,")), "keys": many("idempotency-key"), "lines": many("x-#"),
		"cookie": one("cookie", rep("a=b; ")), "cookie keys": one("cookie", rep("id=b; ")), "cookies": many("cookie"),
		"prefer": one("prefer", rep("wait=9,")), "prefers": many("prefer"), "trace": one("traceparent", rep("0-")),
		"content type": one("content-type", "application/x-www-form-urlencoded"+rep(";a=b")),
		"coding":       one("content-encoding", rep("gzip,")), "codings": many("content-encoding"),
		"digest": one("content-digest", rep("sha-256=:aa:,")), "length": one("content-length", rep("9")),
		"caller": one("x-user-id", rep("u")), "callers": many("x-user-id"),
	}
}

// TestHostileHead counts the work that the headers of one request make, as bytes
// allocated, which no machine's load changes: it must stay a small multiple of
// what was sent. Each request is answered, or goes on to a claim.
func TestHostileHead(t *testing.T) {
	cfg, err := rules.Parse([]byte(`{"namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s", "unavailable": "reject",
  "recovery": {"lease": "10s", "action": "hold"}, "in_flight": {"max_wait": "1s"}},
 "rules": [{"name": "header", "match": {"path": {"prefix": "/header"}}},
  {"name": "cookie", "match": {"path": {"prefix": "/cookie"}}, "key": {"from": [{"cookie": "id"}]}, "fingerprint": {"body": "form", "over": "content_digest"}},
  {"name": "query", "match": {"path": {"prefix": "/query"}}, "key": {"from": [{"query": "id"}]}, "fingerprint": {"body": "none"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"plain": "/header", "cookie": "/cookie", "query": "/query?id=k&" + strings.Repeat("a=b&", 15_000),
		"queries": "/query?" + strings.Repeat("id=k&", 12_000), "percent": "/query?id=" + strings.Repeat("%41", 20_000),
		"encoded": "/header/" + strings.Repeat("%2e", 20_000), "dots": "/header" + strings.Repeat("/a/..", 12_000)}
	for name, lines := range hostileHead() {
		for where, path := range paths {
			t.Run(name+"/"+where, func(t *testing.T) {
				g := rigWith(t, cfg)
				sent := len(path)
				for _, l := range lines {
					sent += len(l.Name) + len(l.Value) + 32
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				s := g.open("POST", path, "", false, lines...)
				if len(s.replies) == 0 && s.pausedReq {
					g.body(s, "id=k", true)
				}
				runtime.ReadMemStats(&after)
				if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(24*sent+256<<10); got > limit {
					t.Errorf("%d bytes allocated for %d, want at most %d", got, sent, limit)
				}
				if len(s.replies)+len(g.flights) != 1 {
					t.Errorf("%d replies, %d callouts", len(s.replies), len(g.flights))
				}
			})
		}
	}
}
