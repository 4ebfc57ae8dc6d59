package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// Fact 1: a callout belongs to the root context: it survives the client's
// disconnect and the stream's end, and a dispatch from proxy_on_log; its
// callback comes with the root's id, and the stream is gone by then.
func TestCalloutOutlivesStream(t *testing.T) {
	s := start(t)
	q := s.get("rqh=call:bridge:/a:0,1;log=call:bridge:/from-log:0;cb=eff:0")
	q.Reset()
	xs := s.Pending("bridge")
	if len(xs) != 2 || xs[0].Aborted || xs[1].Headers.Get(":path") != "/from-log" {
		t.Fatalf("%+v", xs)
	}
	s.callbacks(then(create, rqh)...)
	xs[0].Respond(200, nil, nil)
	xs[1].Respond(200, nil, nil)
	s.saw("proxy_set_effective_context(2) = bad_argument")
	s.callbacks(cb, cb)
	if q.Upstream() != nil {
		t.Fatal("forwarded")
	}
}

// Section 3: what proxy_http_call refuses at once, without a callback.
func TestCalloutRefused(t *testing.T) {
	for _, c := range []struct{ name, op, status string }{
		{"unknown cluster", "call:nowhere:/:0", "bad_argument"},
		{"no path", "rawcall:bridge:0:%3amethod=GET:%3aauthority=a", "bad_argument"},
		{"no authority", "rawcall:bridge:0:%3amethod=GET:%3apath=/", "bad_argument"},
		{"no method", "rawcall:bridge:0:%3apath=/:%3aauthority=a", "bad_argument"},
		{"negative timeout", "call:bridge:/:-1", "bad_argument"},
		{"no hosts", "call:empty:/:0", "internal_failure"},
		{"breaker open", "call:full:/:0", "internal_failure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, func(o *host.Options) {
				o.Clusters["empty"] = &host.Cluster{NoHosts: true}
				o.Clusters["full"] = &host.Cluster{MaxRequests: 1}
			})
			s.get("rqh=call:full:/:0,1")
			s.Trace().Reset()
			s.get("rqh=" + c.op)
			s.saw("proxy_http_call(", "= "+c.status)
			s.Advance(time.Minute)
			for _, line := range s.Trace().Callbacks("worker0") {
				if strings.HasPrefix(line, cb) {
					t.Fatal(line)
				}
			}
		})
	}
}

// Section 3: max_requests 4 lets four calls through; the breaker closes when one
// is answered.
func TestCalloutBreaker(t *testing.T) {
	s := start(t, bridgeCluster(&host.Cluster{MaxRequests: 4}))
	s.get("rqh=" + strings.Repeat("call:bridge:/:0,", 6) + "1")
	if got := s.Trace().String(); strings.Count(got, "1, 0 pairs") != 0 || strings.Count(got, "= internal_failure") != 2 {
		t.Fatal(got)
	}
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.Trace().Reset()
	s.get("rqh=call:bridge:/:0,1")
	s.saw("proxy_http_call", "= ok 28") // tokens are used up by refused calls, too
}

// Fact 8 and section 3: the outcomes that Envoy makes up.
func TestCalloutOutcomes(t *testing.T) {
	const connect = "upstream connect error or disconnect/reset before headers. reset reason: "
	for _, c := range []struct {
		name    string
		cluster host.Cluster
		play    func(s *scene)
		args    string
		status  string
		body    string
	}{
		{"refused", host.Cluster{Refuse: true}, func(*scene) {}, "headers=3, body=98", "503", connect + "remote connection failure"},
		{"timeout", host.Cluster{}, func(s *scene) { s.Advance(time.Second) }, "headers=3, body=24", "504", "upstream request timeout"},
		{"closed", host.Cluster{}, func(s *scene) { s.Pending("bridge")[0].Reset(host.ConnectionTermination) },
			"headers=3, body=95", "503", connect + "connection termination"},
		{"reset", host.Cluster{HTTP2: true}, func(s *scene) { s.Pending("bridge")[0].Reset(host.RemoteReset) },
			"headers=3, body=85", "503", connect + "remote reset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, bridgeCluster(&c.cluster))
			s.get("rqh=call:bridge:/:1000,1;cb=get:6:%3astatus,buf:4:0:200")
			c.play(s)
			s.saw(cb, c.args)
			s.saw(fmt.Sprintf("ok %q", c.status))
			s.saw(fmt.Sprintf("proxy_get_buffer_bytes(call_body, 0, 200) = ok %d bytes", len(c.body)))
		})
	}
}

// Section 3: a reset after the headers, and a body above 32 MiB, are no headers
// at all. The status stays 11 after a later success; its message does not.
func TestCalloutBroken(t *testing.T) {
	s := start(t)
	s.get("rqh=call:bridge:/:0,call:bridge:/:0,1;cb=status,pairs:6")
	xs := s.Pending("bridge")
	xs[0].SendHeaders(200, nil, false)
	xs[0].Send([]byte("half"), false)
	xs[0].Reset(host.RemoteReset)
	s.saw(cb, "headers=0, body=0")
	s.saw(`proxy_get_status() = ok 11 "reset"`)
	s.saw(`proxy_get_header_map_pairs(call) = ok 0 pairs`)
	s.Trace().Reset()
	xs[1].Respond(200, nil, nil)
	s.saw(`proxy_get_status() = ok 11 ""`)

	s = start(t)
	s.get("rqh=call:bridge:/:0,1")
	x := s.Pending("bridge")[0]
	x.SendHeaders(200, nil, false)
	x.Send(make([]byte, 33<<20), true)
	s.saw(cb, "headers=0, body=0")
}

// Section 3: Envoy adds x-envoy-internal and the timeout to a callout, and
// nothing of the client's.
func TestCalloutHeaders(t *testing.T) {
	s := start(t)
	s.get("rqh=post:bridge:/p:700:data,1")
	h := s.Pending("bridge")[0].Headers
	if h.Get("x-envoy-internal") != "true" || h.Get("x-envoy-expected-rq-timeout-ms") != "700" || h.Get("content-length") != "4" ||
		h.Has("x-forwarded-for") || h.Has("x-request-id") || h.Has("traceparent") {
		t.Fatal(h)
	}
}

// Section 3: retry headers on the callout are honoured and stripped; the total
// timeout covers all tries.
func TestCalloutRetries(t *testing.T) {
	s := start(t)
	s.get("rqh=call:bridge:/:1000:x-envoy-retry-on=5xx:x-envoy-max-retries=1,1")
	first := s.Pending("bridge")[0]
	if first.Headers.Has("x-envoy-retry-on") || first.Headers.Has("x-envoy-max-retries") {
		t.Fatal(first.Headers)
	}
	first.Respond(503, nil, nil)
	s.Advance(25 * time.Millisecond)
	second := s.Pending("bridge")[0]
	if second.Attempt != 2 || second.Headers.Get("x-envoy-expected-rq-timeout-ms") != "975" {
		t.Fatalf("%+v", second)
	}
	second.Respond(200, nil, nil)
	s.saw(cb, "headers=3")
}

// Section 3: a timeout of 0 is none.
func TestCalloutWithoutTimeout(t *testing.T) {
	s := start(t)
	s.get("rqh=call:bridge:/:0,1")
	s.Advance(4 * time.Minute)
	s.callbacks(create, rqh)
	if x := s.Pending("bridge")[0]; x.Aborted || x.Headers.Has("x-envoy-expected-rq-timeout-ms") {
		t.Fatalf("%+v", x)
	}
}

// Section 3: a callout from inside a callback, and one from the response's
// headers that nobody waits for.
func TestCalloutFromCallback(t *testing.T) {
	s := start(t)
	s.get("rqh=call:bridge:/1:0,1;cb=call:bridge:/2:0")
	s.Pending("bridge")[0].Respond(200, nil, nil)
	if x := s.Pending("bridge"); len(x) != 1 || x[0].Headers.Get(":path") != "/2" {
		t.Fatal(x)
	}
	s = start(t)
	q := s.get("rsh=call:bridge:/fire:0")
	ended(t, q, 200, "ok", "via_upstream", "-")
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.callbacks(append(then(create, rqh, rsh, rsb, rsb), cb)...)
}

// Section 3: ticks come on every worker and on the main thread.
func TestTicksOnEveryThread(t *testing.T) {
	s := start(t, config("configure=tick:100,1;tick=call:bridge:/tick:0"), func(o *host.Options) { o.Workers = 2 })
	s.Advance(250 * time.Millisecond)
	for _, vm := range []string{"main", "worker0", "worker1"} {
		if got := strings.Join(s.Trace().Callbacks(vm), " "); got != "proxy_on_tick(ctx=1) proxy_on_tick(ctx=1)" {
			t.Errorf("%s: %s", vm, got)
		}
	}
	// A root context's own calls have no script to answer them; all six left.
	if n := len(s.Pending("bridge")); n != 6 {
		t.Fatalf("%d calls", n)
	}
}
