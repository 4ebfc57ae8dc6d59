package host_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

// Fact 5 and section 2: a local reply runs through the filter's own response
// callbacks; its code details are the filter's, spaces made underscores; there
// was no attempt.
func TestLocalReply(t *testing.T) {
	s := start(t)
	q := s.get("rqh=reply:409:my details here:busy,0;rsh=prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count,prop:response|code")
	s.saw(`proxy_get_property("response.code_details") = ok "my_details_here"`)
	s.saw(`proxy_get_property("response.code") = ok "\x99\x01\x00`)
	s.saw(`proxy_get_property("response.flags") = ok "\x00\x00\x00\x00\x00\x00\x00\x00"`)
	s.saw(`proxy_get_property("upstream.request_attempt_count") = ok "\x00\x00\x00\x00\x00\x00\x00\x00"`)
	s.callbacks(then(create, rqh, rsh+", n=3, end=0", rsb+", n=4, end=1")...)
	ended(t, q, 409, "busy", "my_details_here", "-")
}

// Section 2: it works from every callback of the request and from a callout's
// callback.
func TestLocalReplyFrom(t *testing.T) {
	for _, script := range []string{
		"rqh=reply:418:d:b", "rqbe=reply:418:d:b", "rqh=call:bridge:/:0,1;rqb=2;cb=eff:0,reply:418:d:b",
	} {
		s := start(t, allowStop)
		q := s.post(script, "x")
		for _, x := range s.Pending("bridge") {
			x.Respond(200, nil, nil)
		}
		ended(t, q, 418, "b", "d", "-")
	}
}

// Section 2: from a root context it is OK and does nothing.
func TestLocalReplyFromRoot(t *testing.T) {
	s := start(t)
	q := s.get("rqh=call:bridge:/:0,1;cb=reply:500:d:b")
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.saw(`proxy_send_local_response(500, "d", 1 bytes, 0 pairs, -1) = ok`)
	if q.Done() {
		t.Fatal("answered")
	}
}

// A local reply on a root context replies to nobody, and stops the stream whose
// callback is running all the same.
func TestLocalReplyOnRootStopsStream(t *testing.T) {
	s := start(t)
	q := s.get("rqh=eff:1,reply:500:d:b,0")
	s.callbacks(create, rqh)
	if q.Done() || q.Upstream() != nil {
		t.Fatalf("%+v", q.Response())
	}
}

// Section 2, headers: appended in order before content-length; content-type
// replaces text/plain; content-length is computed; transfer-encoding and
// connection are dropped, date is kept, server overwritten, names made lower.
func TestLocalReplyHeaders(t *testing.T) {
	s := start(t)
	q := s.get("rqh=reply:200:d:body:Set-Cookie=a:set-cookie=b:x-y=1:x-y=2:content-type=text/html:content-length=99" +
		":transfer-encoding=chunked:connection=close:date=D:server=mine:x-envoy-upstream-service-time=5")
	h := q.Response().Headers
	if !reflect.DeepEqual(h.Values("set-cookie"), []string{"a", "b"}) || !reflect.DeepEqual(h.Values("x-y"), []string{"1", "2"}) {
		t.Error(h)
	}
	for name, want := range map[string]string{"content-type": "text/html", "content-length": "4", "transfer-encoding": "",
		"connection": "", "date": "D", "server": "envoy", "x-envoy-upstream-service-time": "5"} {
		if h.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, h.Get(name), want)
		}
	}
}

// Section 2: an empty body loses content-type and content-length, HTTP/1 gets
// content-length 0; HEAD keeps the body's length, and is chunked without one.
func TestLocalReplyBodies(t *testing.T) {
	s := start(t)
	h := s.get("rqh=reply:200:d::content-type=a/b:content-length=3").Response().Headers
	if h.Has("content-type") || h.Get("content-length") != "0" {
		t.Error(h)
	}
	head := func(script string) host.Response {
		return s.Request(host.Request{Method: "HEAD", Headers: host.H("x-probe", script)}).Response()
	}
	if r := head("rqh=reply:200:d:four"); len(r.Body) != 0 || r.Headers.Get("content-length") != "4" {
		t.Errorf("%+v", r)
	}
	if r := head("rqh=reply:200:d:"); r.Headers.Get("transfer-encoding") != "chunked" {
		t.Errorf("%+v", r)
	}
}

// Fact 7: 204 and 304 with a body put it on the wire; a line break in a value
// goes out as it is.
func TestLocalReplyIsNotValidated(t *testing.T) {
	s := start(t)
	for _, status := range []string{"204", "304"} {
		if r := s.get("rqh=reply:" + status + ":d:leak").Response(); string(r.Body) != "leak" || r.Headers.Get("content-length") != "4" {
			t.Errorf("%+v", r)
		}
	}
	if r := s.get("rqh=reply:204:d:").Response(); r.Headers.Has("content-length") || len(r.Body) != 0 {
		t.Errorf("%+v", r)
	}
	if r := s.get("rqh=reply:200:d:b:x-a=1%0d%0ax-b=2").Response(); r.Headers.Get("x-a") != "1\r\nx-b=2" {
		t.Errorf("%+v", r)
	}
}

// Fact 7: more than 1024 pairs are dropped without telling; 1024 are kept.
func TestLocalReplyPairLimit(t *testing.T) {
	s := start(t)
	for n, kept := range map[string]bool{"1024": true, "1025": false} {
		r := s.get("rqh=manyhdrs:" + n).Response()
		if r.Status != 200 || string(r.Body) != "many" || r.Headers.Has("x-7") != kept {
			t.Errorf("%s pairs: %d, kept %t", n, r.Status, r.Headers.Has("x-7"))
		}
	}
}

// Section 2: gRPC requests get a response of trailers alone: status 200, the
// given code or one from the HTTP status, the body as grpc-message.
func TestLocalReplyGRPC(t *testing.T) {
	s := start(t)
	ask := func(script string) host.Response {
		return s.Request(host.Request{Method: "POST", HTTP2: true,
			Headers: host.H("x-probe", script, "content-type", "application/grpc"), Open: true}).Response()
	}
	r := ask("rqh=grpc:10:409:line%0abreak")
	if r.Status != 200 || r.Headers.Get("grpc-status") != "10" || r.Headers.Get("grpc-message") != "line%0Abreak" || len(r.Body) != 0 || !r.Complete {
		t.Errorf("%+v", r)
	}
	if r := ask("rqh=reply:503:d:no:x-a=1"); r.Headers.Get("grpc-status") != "14" || r.Headers.Get("x-a") != "1" {
		t.Errorf("%+v", r)
	}
	plain := s.get("rqh=grpc:10:409:no").Response()
	if plain.Status != 409 || plain.Headers.Has("grpc-status") {
		t.Errorf("%+v", plain)
	}
}

// Section 2: 20 MB go out in one piece although the limit is 64 KiB.
func TestLargeLocalReply(t *testing.T) {
	s := start(t, limit(64<<10))
	q := s.get("rqh=bigreply:200:20000000")
	s.callbacks(then(create, rqh, rsh, rsb+", n=20000000, end=1")...)
	if len(q.Response().Body) != 20_000_000 {
		t.Fatal(len(q.Response().Body))
	}
}

// Section 2: close_stream resets with details of its own.
func TestCloseStream(t *testing.T) {
	s := start(t)
	q := s.get("rqh=close:0,1")
	s.callbacks(then(create, rqh)...)
	if q.Details() != "wasm_close_stream" || q.Response().Reset == "" {
		t.Fatalf("%s %+v", q.Details(), q.Response())
	}
}

// Section 11: a reply before an HTTP/1 request has arrived closes the
// connection; without a body, or after it, the connection stays.
func TestEarlyReplyClosesConnection(t *testing.T) {
	s := start(t, allowStop)
	if r := s.post("rqh=reply:409:d:b", "1234567").Response(); !r.Closed || r.Headers.Get("connection") != "close" {
		t.Errorf("%+v", r)
	}
	if r := s.get("rqh=reply:409:d:b").Response(); r.Closed {
		t.Errorf("%+v", r)
	}
	if r := s.post("rqh=1;rqbe=reply:409:d:b", "1234567").Response(); r.Closed {
		t.Errorf("%+v", r)
	}
}

// Section 4: streams that an earlier filter answers make no request and response
// callbacks; a later filter's answer runs the response callbacks.
func TestOtherFiltersReplies(t *testing.T) {
	s := start(t, func(o *host.Options) {
		o.Earlier = func(h host.Headers) *host.Reply {
			if strings.HasPrefix(h.Get(":path"), "/denied") {
				return &host.Reply{Status: 401, Details: "jwt_denied"}
			}
			return nil
		}
		o.Later = func(host.Headers) *host.Reply {
			return &host.Reply{Status: 429, Body: "local_rate_limited", Details: "local_rate_limited", Flags: host.FlagRateLimited}
		}
	})
	ended(t, s.Request(host.Request{Path: "/denied"}), 401, "", "jwt_denied", "-")
	s.callbacks(then(create)...)
	q := s.get("")
	ended(t, q, 429, "local_rate_limited", "local_rate_limited", "RL")
	if got := strings.Join(s.Trace().Callbacks("worker0"), "\n"); !strings.Contains(got, "proxy_on_response_headers(ctx=3") {
		t.Fatal(got)
	}
}
