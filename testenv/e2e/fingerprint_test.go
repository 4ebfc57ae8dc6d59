package e2e

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// comparedRules has a rule for each way of comparing bodies; %s is the fingerprint
// of /changing.
const comparedRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s",
    "recovery": {"action": "hold", "lease": "30s"}, "unavailable": "reject"},
  "rules": [
    {"name": "json", "match": {"path": {"prefix": "/orders/json"}},
      "fingerprint": {"body": "json", "headers": ["x-tenant"], "ignore": ["/sent_at"]}},
    {"name": "form", "match": {"path": {"prefix": "/orders/form"}}, "fingerprint": {"body": "form"}},
    {"name": "multipart", "match": {"path": {"prefix": "/orders/parts"}}, "fingerprint": {"body": "multipart"}},
    {"name": "raw", "match": {"path": {"prefix": "/orders/raw"}}, "fingerprint": {"body": "raw"}},
    {"name": "changing", "match": {"path": {"prefix": "/orders/changing"}}, "fingerprint": %s}
  ]
}`

func zipped(s string, level int) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// parts is a multipart body of fields and files ("name@file" has a file's name).
func parts(boundary string, fields ...string) string {
	var b strings.Builder
	for i := 0; i < len(fields); i += 2 {
		name, file, isFile := strings.Cut(fields[i], "@")
		fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q", boundary, name)
		if isFile {
			fmt.Fprintf(&b, "; filename=%q", file)
		}
		fmt.Fprintf(&b, "\r\n\r\n%s\r\n", fields[i+1])
	}
	return b.String() + "--" + boundary + "--\r\n"
}

// TestFingerprints sends honest retries, which differ in what means nothing, and
// dishonest ones, behind a real Envoy.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.json")
	write(t, rules, fmt.Sprintf(comparedRules, `{"body": "json"}`))
	s := start(t, stack.Options{Rules: rules, Live: true})
	h1, h2 := client(t, s.Gateway(0), story.HTTP1), client(t, s.Gateway(0), story.HTTP2)
	n := 0
	request := func(path, body string) story.Request {
		return story.Post("/orders/"+path, fmt.Sprintf("fingerprint-%d", n)).Body(body)
	}
	const form, mixed = "application/x-www-form-urlencoded", "multipart/form-data; boundary="
	typed := func(r story.Request, kind string) story.Request {
		return r.Without("content-type").With("content-type", kind)
	}
	type pair struct {
		name          string
		first, second story.Request
		reused        string // what the 422 names; "": it is the same request
	}
	json := func(name, a, b, reused string) pair {
		return pair{name, request("json", a), request("json", b), reused}
	}
	forms := func(name, a, b, reused string) pair {
		return pair{name, typed(request("form", a), form), typed(request("form", b), form+"; charset=UTF-8"), reused}
	}
	multi := func(name, a, b, reused string) pair {
		return pair{name, typed(request("parts", a), mixed+"one"), typed(request("parts", b), mixed+`"two"`), reused}
	}
	plain := request("json", `{"a":1}`)
	for _, p := range []pair{
		json("space and order", `{"a":1,"b":{"c":[1,2],"d":null}}`, "\t{ \"b\":{\"d\":null,\"c\":[1, 2]},\r\n\"a\":1}", ""),
		json("spellings of numbers", `[100,12.50,0,1e400]`, `[1e2,1250E-2,-0.0,1.0E+400]`, ""),
		json("spellings of strings", `{"\u0061":"\u00e9\/\ud83d\ude00"}`, `{"a":"é/😀"}`, ""),
		json("an ignored member", `{"sent_at":1,"a":1}`, `{"a":1,"sent_at":"later"}`, ""),
		json("number and string", `{"a":1}`, `{"a":"1"}`, "body"),
		json("large integers", `{"a":9007199254740993}`, `{"a":9007199254740992}`, "body"),
		json("beyond a float64", `{"a":1e400}`, `{"a":1e401}`, "body"),
		json("a member twice", `{"a":1,"a":2}`, `{"a":2,"a":1}`, "body"),
		json("half a surrogate", `{"a":"\ud800"}`, `{"a":"\ud801"}`, "body"),
		json("order of elements", `[1,2]`, `[2,1]`, "body"),
		json("null and absent", `{"a":null}`, `{}`, "body"),
		json("an ignored member in another case", `{"Sent_at":1}`, `{"Sent_at":2}`, "body"),
		json("not JSON", `{"a":1`, `{ "a":1`, "body"),
		{"a charset", plain, typed(plain, "application/json; charset=utf-8"), ""},
		{"length not told", plain, plain.Chunked(), ""},
		{"compressed", plain, request("json", zipped(`{"a":1.0}`, 9)).With("content-encoding", "gzip"), ""},
		{"compressed in another way", request("raw", zipped("aaaabbbb", 1)).With("content-encoding", "x-gzip"), request("raw", zipped("aaaabbbb", 9)).With("content-encoding", "gzip"), ""},
		{"another header", plain, plain.With("x-other", "1"), ""},
		{"an included header", plain.With("x-tenant", "a"), plain.With("x-tenant", "b"), "headers"},
		{"the query in another order", request("json?x=1&y=2", "{}"), request("json?y=2&x=1", "{}"), ""},
		{"the query's repeated names", request("json?x=1&x=2", "{}"), request("json?x=2&x=1", "{}"), "target"},
		{"method", plain, plain.Method("PUT"), "method"},
		{"all parts", plain.With("x-tenant", "a"), request("json?x", "[]").Method("PUT"), "method target body headers"},
		forms("order and spelling", "b=2&a=%41+x", "a=A%20x&b=2", ""),
		forms("repeated names", "a=1&a=2", "a=2&a=1", "body"),
		forms("names of an array", "a[]=1&a[]=2", "a[]=2&a[]=1", "body"),
		multi("another boundary", parts("one", "a", "1", "f@n.txt", "file"), parts("two", "a", "1", "f@n.txt", "file"), ""),
		multi("order of fields", parts("one", "a", "1", "b", "2"), parts("two", "b", "2", "a", "1"), ""),
		multi("order of files", parts("one", "f@n", "1", "g@m", "2"), parts("two", "g@m", "2", "f@n", "1"), "body"),
		multi("repeated fields", parts("one", "a", "1", "a", "2"), parts("two", "a", "2", "a", "1"), "body"),
		multi("a file's name", parts("one", "f@n", "1"), parts("two", "f@m", "1"), "body"),
		{"raw bytes", request("raw", `{"a":1}`), request("raw", `{"a": 1}`), "body"},
	} {
		t.Run(p.name, func(t *testing.T) {
			n++
			key := fmt.Sprintf("fingerprint-%d", n)
			wantKind(t, "first", h1.Send(t.Context(), p.first.Key(key)), "201 created")
			// From memory or by the bridge, in either protocol.
			for _, c := range []*story.Client{h1, h2} {
				got := c.Send(t.Context(), p.second.Key(key))
				if p.reused == "" {
					wantKind(t, "honest retry", got, "201 replayed")
				} else if wantKind(t, "another request", got, "422 key-reused"); strings.Join(got.Problem().Parts, " ") != p.reused {
					t.Errorf("differs in %q, want %s", got.Problem().Parts, p.reused)
				}
				wantKind(t, "the same", c.Send(t.Context(), p.first.Key(key)), "201 replayed")
			}
			wantRuns(t, s, key, 1)
		})
	}
	t.Run("change", func(t *testing.T) {
		before := request("changing", `{"a":1}`).Key("before")
		wantKind(t, "first", h1.Send(t.Context(), before), "201 created")
		for i, to := range []string{`{"body": "raw"}`, `{"body": "json", "ignore": ["/b"]}`, `{"body": "none", "headers": ["x-tenant"]}`} {
			write(t, rules, fmt.Sprintf(comparedRules, to))
			if err := s.SetRules(t.Context(), 0, rules); err != nil {
				t.Fatal(err)
			}
			probe := fmt.Sprintf("probe-%d", i)
			rule := request("changing", `{"a": 1}`).Key(probe).With("x-tenant", probe)
			other := [...]story.Request{rule.Body(`{"a":1}`), rule.Body(`{"a":2}`), rule.With("x-tenant", "2")}[i]
			eventually(t, "the update in force", 30*time.Second, func() bool {
				h1.Close()
				n++
				key := fmt.Sprintf("%s-%d", probe, n)
				a, b := h1.Send(t.Context(), rule.Key(key)), h1.Send(t.Context(), other.Key(key))
				return a.Kind() == "201 created" && b.Kind() == "422 key-reused"
			})
			for _, body := range []string{`{ "a":1.0 }`, `{"a":1}`, `{"a":1}`} {
				wantKind(t, "honest retry after a change", h1.Send(t.Context(), before.Body(body)), "201 replayed")
			}
			wantKind(t, "another target", h1.Send(t.Context(), request("changing/x", `{"a":1}`).Key("before")), "422 key-reused")
		}
		wantRuns(t, s, "before", 1)
	})
}
