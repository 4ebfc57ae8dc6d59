package sdk

import (
	"net/http"
	"slices"
	"testing"
)

// ask is a request to one filter.
type ask struct {
	filter, path string
	headers      http.Header
	body         string
	trailers     http.Header
}

// message is a request as upstream saw it, or a response as the client did.
type message struct {
	status            int // of a response; 0 where none came
	headers, trailers http.Header
	body              string
	cut               bool // a response that did not end properly
}

// place is where filters run: the real Envoy, or the harness.
type place interface {
	// do sends a request and waits for its end. reached is nil where upstream saw
	// nothing of it; callouts do not count.
	do(t *testing.T, a ask) (answer message, reached *message)
	// logged waits for a line of the filters' log.
	logged(t *testing.T, text string)
}

// test is one request with what must come of it. A header or trailer wanted as
// "" must be absent.
type test struct {
	ask
	status   int  // default 200
	cut      bool // the response breaks off
	unseen   bool // upstream must not see the request
	up, down fields
	log      string
}

type fields struct{ headers, trailers, body []string }

func h(pairs ...string) http.Header {
	out := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		out.Add(pairs[i], pairs[i+1])
	}
	return out
}

// tests use every HTTP call of the SDK. What upstream is, says upstream_test.go.
var tests = []test{
	{ask: ask{filter: "http", path: "/headers", headers: h("x-twice", "1", "x-replaced", "old", "x-removed", "1", "x-empty", "")},
		up:   fields{headers: []string{"x-twice", "1,2", "x-replaced", "new", "x-removed", "", "x-empty-is", "[]", "x-absent-is", "not found"}},
		down: fields{headers: []string{"x-status", "200", "x-up-replaced", "new", "x-up-removed", ""}},
		log:  "end of /headers"},
	{ask: ask{filter: "http", path: "/headers/all", headers: h("x-kept", "1")},
		up:   fields{headers: []string{"x-kept", "1", "x-all", "yes"}},
		down: fields{headers: []string{"x-up-removed", "1", "x-all", "yes"}}},
	{ask: ask{filter: "http", path: "/body/append", body: "text"},
		up: fields{body: []string{"text]"}}, down: fields{body: []string{"text]>"}}},
	{ask: ask{filter: "http", path: "/body/prepend", body: "text"},
		up: fields{body: []string{"[text"}}, down: fields{body: []string{"<[text"}}},
	{ask: ask{filter: "http", path: "/body/replace", body: "text"},
		up: fields{body: []string{"TEXT"}}, down: fields{body: []string{"(TEXT)"}}},
	{ask: ask{filter: "http", path: "/trailers", body: "text", trailers: h("x-sent", "first", "x-removed", "1")},
		up:   fields{trailers: []string{"x-sent", "replaced", "x-was", "first", "x-removed", ""}},
		down: fields{trailers: []string{"x-up", "replaced", "x-was", "1", "x-up-removed", ""}}},
	{ask: ask{filter: "http", path: "/trailers/all", body: "text", trailers: h("x-sent", "first")},
		up:   fields{trailers: []string{"x-sent", "first", "x-all", "yes"}},
		down: fields{trailers: []string{"x-up", "1", "x-all", "yes"}}},
	{ask: ask{filter: "http", path: "/property"},
		up: fields{headers: []string{"x-path", "/property", "x-mark", "seen", "x-meta-colour", "blue"}}},
	{ask: ask{filter: "http", path: "/foreign"}, up: fields{headers: []string{"x-foreign", "true"}}},
	{ask: ask{filter: "http", path: "/reply"}, status: 418, unseen: true,
		down: fields{headers: []string{"x-reply", "local"}, body: []string{"short and stout"}}},
	// Envoy sends no trailers of a callout.
	{ask: ask{filter: "http", path: "/pause"},
		up: fields{headers: []string{"x-answer", "200 granted asked x-granted=yes", "x-counts", "true"}}},
	{ask: ask{filter: "http", path: "/hold"}, down: fields{headers: []string{"x-held", "released"}}},

	{ask: ask{filter: "receiver", path: "/config"}, up: fields{headers: []string{"x-config", "receiver first"}}},
	{ask: ask{filter: "sender", path: "/config"}, up: fields{headers: []string{"x-config", "sender second"}}},
	{ask: ask{filter: "receiver", path: "/postpone"}, up: fields{headers: []string{"x-resumed", "first"}}},
	{ask: ask{filter: "receiver", path: "/data"}, up: fields{headers: []string{"x-data", "1", "x-mismatch", "yes"}}},
	{ask: ask{filter: "receiver", path: "/data"}, up: fields{headers: []string{"x-data", "2"}}},
	{ask: ask{filter: "sender", path: "/mail"}, up: fields{headers: []string{"x-none", "not found"}}, log: `mail "hello"`},
	{ask: ask{filter: "receiver", path: "/mail"}, up: fields{headers: []string{"x-none", "not found"}}, log: `mail "hello"`},
	{ask: ask{filter: "receiver", path: "/metrics"}, up: fields{headers: []string{"x-requests", "true", "x-open", "1"}}},
}

// panicTests panic in each place. Nothing hangs, nothing passes, and the VM goes
// on: each is followed by a request that does not panic.
var panicTests = []test{
	{ask: ask{path: "/rqh"}, status: 500, unseen: true, log: "panic in proxy_on_request_headers"},
	{ask: ask{path: "/rqb", body: "text"}, status: 500, log: "panic in proxy_on_request_body"},
	{ask: ask{path: "/rqt", body: "text", trailers: h("x-sent", "1")}, status: 500, log: "panic in proxy_on_request_trailers"},
	{ask: ask{path: "/rsh"}, status: 500, log: "panic in proxy_on_response_headers"},
	{ask: ask{path: "/rsb", body: "text"}, cut: true, log: "panic in proxy_on_response_body"},
	{ask: ask{path: "/trailers/rst", body: "text"}, cut: true, log: "panic in proxy_on_response_trailers"},
	// The answer to the first panic passes through the callbacks that would
	// panic as well.
	{ask: ask{path: "/rqh/rsh/rsb"}, status: 500, unseen: true},
	{ask: ask{path: "/done"}, log: "panic in proxy_on_log"},
	{ask: ask{path: "/callout"}, status: 500, unseen: true, log: "panic in proxy_on_http_call_response"},
	{ask: ask{path: "/tick"}, status: 500, unseen: true, log: "panic in proxy_on_tick"},
}

// runTests runs the tests of those filters that p has.
func runTests(t *testing.T, p place, has ...string) {
	for _, c := range tests {
		if slices.Contains(has, c.filter) {
			t.Run(c.filter+c.path, func(t *testing.T) { c.run(t, p) })
		}
	}
	for _, c := range panicTests {
		t.Run("panics"+c.path, func(t *testing.T) {
			c.filter = "panics"
			c.run(t, p)
			test{ask: ask{filter: "panics", path: "/"}}.run(t, p)
		})
	}
}

func (c test) run(t *testing.T, p place) {
	answer, reached := p.do(t, c.ask)
	if answer.cut != c.cut {
		t.Fatalf("response cut %v, want %v: %+v", answer.cut, c.cut, answer)
	}
	if want := max(c.status, 200); !c.cut && answer.status != want {
		t.Fatalf("status %d, want %d; body %q", answer.status, want, answer.body)
	}
	if c.unseen && reached != nil {
		t.Errorf("upstream saw the request: %+v", *reached)
	}
	if reached == nil {
		reached = &message{}
	}
	c.up.check(t, "upstream", *reached)
	c.down.check(t, "client", answer)
	if c.log != "" {
		p.logged(t, c.log)
	}
}

func (f fields) check(t *testing.T, who string, m message) {
	t.Helper()
	for kind, have := range map[string]http.Header{"header": m.headers, "trailer": m.trailers} {
		want := f.headers
		if kind == "trailer" {
			want = f.trailers
		}
		for i := 0; i < len(want); i += 2 {
			if got := joined(have, want[i]); got != want[i+1] {
				t.Errorf("%s's %s %s is %q, want %q", who, kind, want[i], got, want[i+1])
			}
		}
	}
	if len(f.body) > 0 && m.body != f.body[0] {
		t.Errorf("%s's body is %q, want %q", who, m.body, f.body[0])
	}
}
