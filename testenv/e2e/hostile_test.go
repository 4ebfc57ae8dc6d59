package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// hostileRules look at everything that a rule can look at.
const hostileRules = `{
 "namespace": "edge",
 "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
 "issue": {"path": "/idempotency-keys"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s",
  "recovery": {"action": "reacquire", "lease": "10s", "backend_checks_fence": true}, "unavailable": "reject"},
 "rules": [
  {"name": "json", "match": {"path": {"prefix": "/json"}}, "key": {"from": [{"header": "idempotency-key"}]}, "fingerprint": {"body": "json"}},
  {"name": "in-json", "match": {"path": {"prefix": "/in-json"}}, "key": {"from": [{"json": "/a/0/id"}]}, "fingerprint": {"body": "json"}},
  {"name": "form", "match": {"path": {"prefix": "/form"}}, "key": {"from": [{"form": "id"}]}, "fingerprint": {"body": "form"}},
  {"name": "multipart", "match": {"path": {"prefix": "/multipart"}}, "key": {"from": [{"header": "idempotency-key"}]}, "fingerprint": {"body": "multipart"}},
  {"name": "query", "match": {"path": {"prefix": "/query"}}, "key": {"from": [{"query": "id"}]}, "fingerprint": {"body": "none"}},
  {"name": "cookie", "match": {"path": {"prefix": "/cookie"}}, "key": {"from": [{"cookie": "id"}]}, "fingerprint": {"body": "none"}}
 ]}`

// manyHeaders lets more header lines through to the filter than Envoy does by
// default.
const manyHeaders = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          max_request_headers_kb: 96
          common_http_protocol_options: {max_headers_count: 5000}
`

// attack is one request that is made to hurt.
type attack struct {
	name string
	r    story.Request
	want string // statuses that it may get; "": any below 500
}

func gzipped(b []byte) string {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.String()
}

func attacks() []attack {
	const mib = 1<<20 - 4096 // what fits the rules' bound
	rep := func(s string) string { return strings.Repeat(s, mib/len(s)) }
	form := func(path, body string) story.Request {
		return story.Post(path, "").Body(body).Without("content-type").With("content-type", "application/x-www-form-urlencoded")
	}
	parts := func(path, body string) story.Request {
		return story.Post(path, keyOf(path)).Body(body).Without("content-type").With("content-type", `multipart/form-data; boundary=b`)
	}
	part := func(head, content string) string { return "--b\r\n" + head + "\r\n\r\n" + content + "\r\n" }
	json := func(name, body string) attack { return attack{name, story.Post("/json", keyOf(name)).Body(body), ""} }
	zip := func(name, body string) attack {
		return attack{name, story.Post("/json", keyOf(name)).Body(body).With("content-encoding", "gzip"), ""}
	}
	all := []attack{
		json("200,000 brackets", strings.Repeat("[", 200_000)),
		json("200,000 pairs of brackets", strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000)),
		json("200,000 braces", strings.Repeat(`{"":`, 200_000)),
		json("a megabyte of digits", rep("9")),
		json("a megabyte of exponent", "1e"+rep("9")),
		json("a megabyte of escapes", `"`+rep(`\ud83d\ude00`)+`"`),
		json("a megabyte of numbers", "["+rep("0,")+"0]"),
		json("100,000 members", "{"+rep(`"a":0,`)+`"a":0}`),
		json("a megabyte of white space", rep(" ")+"1"),
		json("bytes", rep("\xff\xfe\x00")),
		{"in-json, brackets", story.Post("/in-json", "").Body(strings.Repeat("[", 200_000)), "400"},
		{"in-json, digits for a key", story.Post("/in-json", "").Body(`{"a":[{"id":` + strings.Repeat("9", mib-100) + `}]}`), "400"},
		{"in-json, a megabyte for a key", story.Post("/in-json", "").Body(`{"a":[{"id":"` + strings.Repeat("k", mib-100) + `"}]}`), "400"},
		{"in-json, the same member 50,000 times", story.Post("/in-json", "").Body("{" + strings.Repeat(`"a":[{"id":"k"}],`, 50_000) + `"a":0}`), "400"},
		{"form, 100,000 fields", form("/form", "id=k&"+strings.Repeat("a=b&", 100_000)), ""},
		{"form, 100,000 names", form("/form", "id=k2"+names(100_000)), ""},
		{"form, percent signs", form("/form", "id=k3&"+rep("%25")), ""},
		{"form, broken percent signs", form("/form", "id=%"+rep("%")), "400"},
		{"form, 100,000 keys", form("/form", strings.Repeat("id=k&", 100_000)), "400"},
		{"multipart, 20,000 parts", parts("/multipart/1", strings.Repeat(part(`content-disposition: form-data; name="a"`, ""), 20_000)+"--b--"), ""},
		{"multipart, long header", parts("/multipart/2", part("content-disposition: form-data; name=\""+strings.Repeat("n", mib-200)+"\"", "")+"--b--"), ""},
		{"multipart, 100,000 header lines", parts("/multipart/3", part(strings.Repeat("x: y\r\n", 100_000)+"z: z", "")+"--b--"), ""},
		{"multipart in multipart", parts("/multipart/4", strings.Repeat("--b\r\ncontent-type: multipart/mixed; boundary=b\r\n\r\n", 10_000)), ""},
		{"multipart without an end", parts("/multipart/5", rep("--b\r\n")), ""},
		{"multipart, nearly boundaries", parts("/multipart/6", "--b\r\n\r\n"+rep("\r\n--")), ""},
		{"multipart, bytes", parts("/multipart/7", rep("\r\n\x00--b")), ""},
		{"gzip bomb", story.Post("/json", "bomb").Body(gzipped(make([]byte, 200<<20))).With("content-encoding", "gzip"), ""},
		zip("gzip bomb of brackets", gzipped(bytes.Repeat([]byte("["), 64<<20))),
		zip("gzip in gzip", gzipped([]byte(gzipped(make([]byte, 100<<20))))),
		zip("gzip, cut", gzipped(make([]byte, 1<<20))[:500]),
		zip("gzip, not", rep("\x1f\x8b\x08\x00")),
		zip("gzip, 20,000 empty members", strings.Repeat(gzipped(nil), 20_000)),
		{"query, thousands of parts", story.Post("/query?id=q1"+names(4000), ""), ""},
		{"query, thousands of keys", story.Post("/query?"+strings.Repeat("id=k&", 8000), ""), "400"},
		{"query, percent signs", story.Post("/query?id="+strings.Repeat("%25", 15_000), ""), "400"},
		{"path, percent signs", story.Post("/json/"+strings.Repeat("%2e", 15_000), "path1"), ""},
		{"path, slashes", story.Post("/json"+strings.Repeat("/a/..", 8000)+"/b", "path2"), ""},
		{"cookie, thousands of parts", story.Post("/cookie/1", "").With("cookie", strings.Repeat("a=b; ", 8000)+"id=c1"), "200 201 431"},
		{"cookie, thousands of keys", story.Post("/cookie/2", "").With("cookie", strings.Repeat("id=b; ", 8000)), "400 431"},
		{"cookie, quotes", story.Post("/cookie/3", "").With("cookie", `id="`+strings.Repeat(`\"`, 20_000)), "400"},
		{"50 KB key", story.Post("/json", strings.Repeat("k", 50_000)), "400"},
		{"60 KB key", story.Post("/json", strings.Repeat("k", 60<<10)), "400"},
		{"100 KB key", story.Post("/json", strings.Repeat("k", 100<<10)), "431"},
		{"50 KB key of quotes", story.Post("/json", strings.Repeat(`"`, 50_000)), "400"},
		{"50 KB key of parameters", story.Post("/json", `"k"`+strings.Repeat(";a=1", 12_000)), ""},
		{"50 KB of preferences", story.Post("/json", "prefer").With("prefer", strings.Repeat("wait=9,", 7000)), ""},
		{"50 KB of trace", story.Post("/json", "trace").With("traceparent", strings.Repeat("0", 50_000)), ""},
		{"50 KB of content type", story.Post("/form", "").Body("id=ct").Without("content-type").With("content-type", "application/x-www-form-urlencoded"+strings.Repeat(";a=b", 12_000)), ""},
		{"50 KB of caller", story.Post("/json", "caller").As(strings.Repeat("u", 50_000)), "401"},
		{"issue, brackets", story.Post("/idempotency-keys", "").Body(strings.Repeat("[", 4000)), "400"},
		{"lookup, percent signs", story.Post("/idempotency-keys/"+strings.Repeat("%41", 15_000)+"?scope=json", "").Method("GET"), "400"},
	}
	lines := story.Post("/json", "lines")
	keys := story.Post("/json", "")
	for i := range 1000 {
		lines = lines.With(fmt.Sprint("x-", i), "v")
		keys = keys.With("idempotency-key", fmt.Sprint("k", i))
	}
	more := story.Post("/json", "more-lines")
	for i := range 3000 {
		more = more.With(fmt.Sprint("x-", i), "v")
	}
	return append(all, attack{"1,000 header lines", lines, ""}, attack{"1,000 keys", keys, "400"},
		attack{"3,000 header lines", more, ""})
}

// names are n fields of different names, in descending order.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "&%d=", n-i)
	}
	return b.String()
}

// TestHostile sends a real Envoy what is made to hurt the filter. Each request is
// answered, in time, and by the filter's own word or upstream's; the VM lives, and
// the request after it is served.
func TestHostile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.json")
	write(t, file, hostileRules)
	patch := filepath.Join(t.TempDir(), "patch.yaml")
	write(t, patch, manyHeaders)
	s := start(t, stack.Options{Rules: file, EnvoyPatch: patch})
	c := door(t, s)
	before := 0
	for i, a := range attacks() {
		for _, proto := range []story.Protocol{story.HTTP1, story.HTTP2} {
			cl := client(t, s.Gateway(0), proto)
			got := cl.Send(t.Context(), a.r.With("x-hostile", fmt.Sprint(i)))
			switch {
			case got.Err != nil && proto == story.HTTP2 && strings.Contains(a.want, "431"):
				// Envoy ends an HTTP/2 connection over header lines beyond its bounds.
			case got.Err != nil:
				t.Errorf("%s over %v: %v", a.name, proto, got.Err)
			case got.Took > answerBound:
				t.Errorf("%s over %v: %s after %v", a.name, proto, got.Kind(), got.Took)
			case a.want == "" && got.Status >= 500, a.want != "" && !strings.Contains(a.want, fmt.Sprint(got.Status)):
				t.Errorf("%s over %v: %s, want %s", a.name, proto, got, a.want)
			}
			t.Logf("%-40s %-18s %v", a.name, got.Kind(), got.Took.Round(time.Millisecond))
		}
		wantKind(t, "after "+a.name, c.Send(t.Context(), story.Post("/json/after", fmt.Sprint("after-", i))), "201 created")
		if n := counter(t, s, "panic"); n != before {
			t.Errorf("%s: %d panics", a.name, n-before)
			before = n
		}
	}
	if n := stat(t, s, "wasm.oncewall.vm_reload"); n != 0 {
		t.Errorf("the VM was started again %d times", n)
	}
	wantIdle(t, s)
	if n := counter(t, s, "memory_bytes"); n > 400<<20 {
		t.Errorf("the VMs have grown to %d MiB", n>>20)
	}
}

// TestSlowAndBroken: connections that send a part and stop, or nonsense, hold
// nothing in the filter beyond their end.
func TestSlowAndBroken(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	head := "POST /orders HTTP/1.1\r\nhost: shop\r\nx-user-id: ada\r\nidempotency-key: slow-%d\r\n"
	for i, rest := range []string{
		"", "content-length: 100\r\n\r\n{\"a\":", "transfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
		"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "content-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
		"content-length: -1\r\n\r\n", "x: \x00\r\n\r\n",
	} {
		var d net.Dialer
		conn, err := d.DialContext(context.Background(), "tcp", s.Gateway(0))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, fmt.Sprintf(head, i)+rest)
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}
	wantKind(t, "after them", door(t, s).Send(t.Context(), story.Post("/orders", "slow-after")), "201 created")
	wantIdle(t, s)
	if n := counter(t, s, "panic"); n != 0 {
		t.Errorf("%d panics", n)
	}
}
