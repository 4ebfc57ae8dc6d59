package host_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

const pauseAndCall = "rqh=call:bridge:/:1000,1;cb=eff:0,cont:0"

// Facts 1.1, row 1: without the flag a pause in the headers stops the body, too.
func TestPauseHoldsBody(t *testing.T) {
	s := start(t)
	q := s.post(pauseAndCall, "body")
	s.callbacks(create, rqh)
	if q.Upstream() != nil {
		t.Fatal("forwarded")
	}
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.callbacks(then(cb, rqb+", n=4, end=1", rsh, rsb, rsb)...)
	ended(t, q, 200, "ok", "via_upstream", "-")
	if string(q.Upstream().Body) != "body" {
		t.Fatalf("upstream got %q", q.Upstream().Body)
	}
}

// Facts 1.1, row 2 and fact 6: with the flag the body callback runs while the
// headers are paused, and continuing from it sends the headers on although the
// callout is in flight.
func TestFlagLetsBodyUnpause(t *testing.T) {
	s := start(t, allowStop)
	q := s.post("rqh=call:bridge:/:1000,1;rqb=0", "body")
	s.callbacks(then(create, rqh, rqb+", n=4, end=0", rqb+", n=0, end=1", rsh, rsb, rsb)...)
	ended(t, q, 200, "ok", "via_upstream", "-")
	if len(s.Pending("bridge")) != 1 {
		t.Fatal("the callout is gone")
	}
}

// Facts 1.1, row 3: 2 is continue, 3 and 4 stop all, with the flag too.
func TestOtherHeaderStatuses(t *testing.T) {
	for _, c := range []struct {
		ret       string
		forwarded bool
	}{{"2", true}, {"3", false}, {"4", false}, {"9", false}} {
		s := start(t, allowStop)
		q := s.post("rqh="+c.ret, "body")
		if got := q.Upstream() != nil; got != c.forwarded {
			t.Errorf("return %s: forwarded %t", c.ret, got)
		}
		if !c.forwarded {
			s.callbacks(create, rqh)
		}
	}
}

// 2 lets a request without a body pass, too: it is continue, not a pause that
// the body would end.
func TestContinueAndEndIsContinue(t *testing.T) {
	s := start(t, allowStop)
	ended(t, s.get("rqh=2;rsh=2"), 200, "ok", "via_upstream", "-")
}

// Facts 1.1: after the default pause 300 KB against 64 KiB are no 413; the
// client is held back, and all of it arrives after the callout.
func TestPauseAppliesBackPressure(t *testing.T) {
	s := start(t, limit(64<<10))
	body := bytes.Repeat([]byte("x"), 300_000)
	q := s.Request(host.Request{Method: "POST", Headers: host.H("x-probe", pauseAndCall), Body: body})
	s.callbacks(create, rqh)
	s.Pending("bridge")[0].Respond(200, nil, nil)
	ended(t, q, 200, "ok", "via_upstream", "-")
	if !bytes.Equal(q.Upstream().Body, body) {
		t.Fatalf("upstream got %d bytes", len(q.Upstream().Body))
	}
}

// Facts 1.1: with the flag and a pause from the body callback, the buffer above
// the limit is 413, after the callback that saw it; the reply runs the response
// callbacks.
func TestBufferedRequestTooLarge(t *testing.T) {
	s := start(t, limit(64<<10), allowStop)
	q := s.open("rqh=1;rqb=1")
	q.Send(make([]byte, 65_354), false)
	q.Send(make([]byte, 65_536), false)
	s.callbacks(then(create, rqh, rqb+", n=65354, end=0", rqb+", n=130890, end=0", rsh, rsb)...)
	ended(t, q, 413, "Payload Too Large", "request_payload_too_large", "-")
}

// Facts 1.1: a paused filter changes request headers from the callout's
// callback; after continuing they are gone (bad argument).
func TestHeadersWhilePaused(t *testing.T) {
	s := start(t)
	q := s.get("rqh=call:bridge:/:1000,1;cb=eff:0,rep:0:x-new:v,cont:0,rep:0:x-late:v")
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.saw(`proxy_replace_header_map_value(request, "x-new", "v") = ok`)
	s.saw(`proxy_replace_header_map_value(request, "x-late", "v") = bad_argument`)
	if up := q.Upstream().Headers; up.Get("x-new") != "v" || up.Has("x-late") {
		t.Fatal(up)
	}
}

// Facts 1.1: the route timeout does not run while the request is paused, the
// idle timeout does: 504, through the response callbacks.
func TestTimersWhilePaused(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Route.Timeout = 300 * time.Millisecond })
	q := s.get(pauseAndCall)
	s.Advance(900 * time.Millisecond)
	s.Pending("bridge")[0].Respond(200, nil, nil)
	ended(t, q, 200, "ok", "via_upstream", "-")

	s = start(t, func(o *host.Options) { o.StreamIdleTimeout = 400 * time.Millisecond })
	q = s.get(pauseAndCall)
	s.Advance(400 * time.Millisecond)
	s.callbacks(then(create, rqh, rsh, rsb)...)
	ended(t, q, 504, "stream timeout", "stream_idle_timeout", "SI")
}

// Facts 1.2, return codes, on the request's side: 1 is cumulative, 2 is the
// chunk alone, 3 loses the data.
func TestBodyStatuses(t *testing.T) {
	for _, c := range []struct{ ret, second, upstream string }{
		{"1", "n=6, end=0", "abcdef"},
		{"2", "n=3, end=0", "abcdef"},
		{"3", "n=3, end=0", ""},
	} {
		s := start(t, allowStop)
		q := s.open("rqh=1;rqbe=0;rqb=" + c.ret)
		q.Send([]byte("abc"), false)
		q.Send([]byte("def"), true)
		s.callbacks(then(create, rqh, rqb+", n=3, end=0", rqb+", "+c.second, rqb, rsh, rsb, rsb)...)
		if got := string(q.Upstream().Body); got != c.upstream {
			t.Errorf("return %s: upstream got %q, want %q", c.ret, got, c.upstream)
		}
	}
}

// Facts 1.2: a modified body. start 0 and length of all replaces, length 0
// prepends, a shorter length replaces that much, a start at the end appends; anything
// else is a bad argument.
func TestModifiedBody(t *testing.T) {
	for _, c := range []struct{ op, want, status string }{
		{"setbuf:0:0:4:new", "new", "ok"},
		{"setbuf:0:0:99:new", "new", "ok"},
		{"setbuf:0:0:0:new", "newbody", "ok"},
		{"setbuf:0:4:0:new", "bodynew", "ok"},
		{"setbuf:0:0:2:new", "newdy", "ok"},
		{"setbuf:0:2:1:new", "body", "bad_argument"},
	} {
		s := start(t)
		q := s.post("rqb1="+c.op, "body")
		s.saw("proxy_set_buffer_bytes(request_body", "= "+c.status)
		if got := string(q.Upstream().Body); got != c.want {
			t.Errorf("%s: upstream got %q, want %q", c.op, got, c.want)
		}
	}
}

// Trailers of HTTP/2 end a body without an end of stream in a chunk; of HTTP/1
// they are dropped.
func TestTrailers(t *testing.T) {
	send := func(s *scene, h2 bool, script string) *host.Stream {
		return s.Request(host.Request{Method: "POST", HTTP2: h2, Headers: host.H("x-probe", script),
			Body: []byte("b"), Trailers: host.H("x-sum", "1")})
	}
	up := &host.Cluster{HTTP2: true, Handle: host.Answer(200, "ok").Handle}
	s := start(t, upstream(up))
	q := send(s, true, "rqt=get:1:x-sum,add:1:x-more:2")
	s.saw(`proxy_get_header_map_value(request_trailers, "x-sum") = ok "1"`)
	s.callbacks(then(create, rqh, rqb+", n=1, end=0", rqt+", n=1", rsh, rsb)...)
	if tr := q.Upstream().Trailers; tr.Get("x-sum") != "1" || tr.Get("x-more") != "2" {
		t.Fatal(tr)
	}

	s = start(t, upstream(up))
	send(s, false, "")
	s.callbacks(then(create, rqh, rqb+", n=1, end=0", rqb+", n=0, end=1", rsh, rsb)...)

	// A pause in the trailers holds what the filter holds.
	s = start(t, upstream(up))
	q = send(s, true, "rqb=1;rqt=call:bridge:/:0,1;cb=eff:0,cont:0")
	if len(q.Upstream().Body) != 0 {
		t.Fatal("body went on")
	}
	s.Pending("bridge")[0].Respond(200, nil, nil)
	ended(t, q, 200, "ok", "via_upstream", "-")
	if string(q.Upstream().Body) != "b" || !q.Upstream().Trailers.Has("x-sum") {
		t.Fatalf("%+v", q.Upstream())
	}
}

// What was held during a pause that stops everything comes to the filter after
// it, trailers included.
func TestTrailersAfterPause(t *testing.T) {
	s := start(t, upstream(&host.Cluster{HTTP2: true}))
	q := s.Request(host.Request{Method: "POST", HTTP2: true, Headers: host.H("x-probe", pauseAndCall),
		Body: []byte("b"), Trailers: host.H("x-sum", "1")})
	s.callbacks(create, rqh)
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.callbacks(cb, rqb+", n=1, end=0", rqt+", n=1")
	if up := q.Upstream(); !up.Ended || string(up.Body) != "b" || !up.Trailers.Has("x-sum") {
		t.Fatalf("%+v", up)
	}
}

// The limit itself is still within it.
func TestBufferLimitIsInclusive(t *testing.T) {
	for n, status := range map[int]int{1000: 0, 1001: 413} {
		s := start(t, limit(1000), allowStop)
		q := s.open("rqh=1;rqb=1")
		q.Send(make([]byte, n-1), false)
		q.Send(make([]byte, 1), false)
		if got := q.Response().Status; got != status {
			t.Errorf("%d bytes: %d, want %d", n, got, status)
		}
	}
}

// A filter adds trailers at the end of the body by asking for the map.
func TestAddedTrailers(t *testing.T) {
	up := &host.Cluster{HTTP2: true, Handle: host.Answer(200, "ok").Handle}
	s := start(t, upstream(up))
	q := s.Request(host.Request{Method: "POST", HTTP2: true, Headers: host.H("x-probe", "rqbe=add:1:x-sum:9"), Body: []byte("b")})
	if up := q.Upstream(); up.Trailers.Get("x-sum") != "9" || string(up.Body) != "b" {
		t.Fatalf("%+v", up)
	}
}

// Section 8: get_header_map_value gives only the first of repeated headers, the
// property joins them, pairs list all.
func TestRepeatedHeaders(t *testing.T) {
	s := start(t)
	s.Request(host.Request{Headers: host.H("x-probe", "rqh=get:0:x-foo,prop:request|headers|x-foo,pairs:0", "x-foo", "1", "x-foo", "2")})
	s.saw(`proxy_get_header_map_value(request, "x-foo") = ok "1"`)
	s.saw(`proxy_get_property("request.headers.x-foo") = ok "1,2"`)
	s.saw(`proxy_get_header_map_pairs(request) = ok 9 pairs`)
}

// Continuing what is not paused breaks an assertion of Envoy's: the test fails.
func TestContinueWithoutPause(t *testing.T) {
	var fault error
	s := start(t, func(o *host.Options) { o.T, o.Fail = nil, func(err error) { fault = err } })
	defer s.Close()
	s.get("rqh=cont:0")
	if fault == nil || !strings.Contains(fault.Error(), "not paused") {
		t.Fatal(fault)
	}
}

// Fact 4: the limit of an HTTP/2 client is its stream window, not the
// listener's; its body comes in frames of 16 KiB, the last with the end.
func TestHTTP2Limit(t *testing.T) {
	s := start(t, limit(64<<10), allowStop)
	send := func() *host.Stream {
		return s.Request(host.Request{Method: "POST", HTTP2: true, Headers: host.H("x-probe", "rqh=1;rqbe=0;rqb=1"), Body: make([]byte, 100_000)})
	}
	ended(t, send(), 200, "ok", "via_upstream", "-")
	s.callbacks(then(create, rqh, rqb+", n=16384, end=0", rqb+", n=32768", rqb+", n=49152", rqb+", n=65536", rqb+", n=81920",
		rqb+", n=98304, end=0", rqb+", n=100000, end=1", rsh, rsb, rsb)...)

	s = start(t, allowStop, func(o *host.Options) { o.StreamWindow = 65535 })
	ended(t, send(), 413, "Payload Too Large", "request_payload_too_large", "-")
}

// Section 1.1: 3 buffers the body without back-pressure: 413 above the limit.
func TestStopAllAndBuffer(t *testing.T) {
	s := start(t, limit(64<<10))
	q := s.Request(host.Request{Method: "POST", Headers: host.H("x-probe", "rqh=3"), Body: make([]byte, 300_000)})
	s.callbacks(then(create, rqh, rsh, rsb)...)
	ended(t, q, 413, "Payload Too Large", "request_payload_too_large", "-")
}

// What the connection manager refuses reaches the filter as the end of a stream
// alone.
func TestRefusedBeforeTheFilter(t *testing.T) {
	for _, c := range []struct {
		r       host.Request
		status  int
		body    string
		details string
		flags   string
	}{
		{host.Request{Path: "/a#b"}, 400, "", "path_normalization_failed", "-"},
		{host.Request{Path: "/a#b", HTTP2: true}, 400, "", "path_normalization_failed", "-"},
		{host.Request{Headers: host.H("connection", "te, X-Forwarded-For")}, 400, "Bad Request", "http1.connection_header_rejected", "DPE"},
		{host.Request{HTTP10: true}, 426, "Upgrade Required", "low_version", "DPE"},
	} {
		s := start(t)
		ended(t, s.Request(c.r), c.status, c.body, c.details, c.flags)
		s.callbacks(append([]string{create}, streamEnd...)...)
	}
}

// What a connection header names ends here, te but for trailers.
func TestNominatedHeaders(t *testing.T) {
	s := start(t)
	q := s.Request(host.Request{Headers: host.H("connection", "TE, x-hop, Cookie", "te", "gzip, Trailers", "x-hop", "1", "cookie", "c", "x-kept", "1")})
	up := q.Upstream().Headers
	if up.Has("connection") || up.Has("x-hop") || up.Has("cookie") || up.Get("te") != "trailers" || !up.Has("x-kept") {
		t.Error(up)
	}
	q = s.Request(host.Request{Headers: host.H("connection", "te", "te", "gzip")})
	if up := q.Upstream().Headers; up.Has("te") {
		t.Error(up)
	}
}

// An authority that a client left empty stays so when that is asked for.
func TestNoAuthority(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		r    host.Request
		want string
	}{{host.Request{}, "example.com"}, {host.Request{NoAuthority: true}, ""}, {host.Request{NoAuthority: true, Authority: "a"}, "a"}} {
		if got, ok := s.Request(c.r).Upstream().Headers.Lookup(":authority"); !ok || got != c.want {
			t.Errorf("%+v: %q", c.r, got)
		}
	}
}
