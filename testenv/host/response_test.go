package host_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// ask gives an exchange that the test answers by hand.
func (s *scene) ask(script string) (*host.Stream, *host.Exchange) {
	s.t.Helper()
	q := s.get(script)
	if q.Upstream() == nil {
		s.t.Fatalf("not forwarded\n%s", s.Trace())
	}
	return q, q.Upstream()
}

var silentUpstream = upstream(&host.Cluster{})

// Facts 1.2: a pause in the response headers holds headers and body, the
// upstream is read up to the limit only; continuing from a callout gives the
// body callback what has been held, then the rest.
func TestResponseWaitsForCallout(t *testing.T) {
	s := start(t, limit(64<<10), upstream(&host.Cluster{BufferLimit: 60_000}))
	q, up := s.ask("rsh=call:bridge:/:0,1;cb=eff:0,cont:1")
	up.SendHeaders(200, nil, false)
	body := bytes.Repeat([]byte("r"), 300_000)
	up.Send(body, true)
	s.callbacks(create, rqh, rsh)
	if q.Response().Status != 0 {
		t.Fatal("headers went out")
	}
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.callbacks(then(cb, rsb+", n=120000, end=0", rsb+", n=60000, end=0", rsb+", n=60000", rsb+", n=60000", rsb+", n=0, end=1")...)
	if !bytes.Equal(q.Response().Body, body) {
		t.Fatalf("client got %d bytes", len(q.Response().Body))
	}
}

// Facts 1.2: record before respond needs the flag. A body buffered with 1 is
// still readable in the callout's callback; with 2 the filter sees the current
// chunk only, and asking for it after its callback crashes Envoy: a fault.
func TestRecordBeforeRespond(t *testing.T) {
	for ret, n := range map[string]string{"1": "6", "2": "3"} {
		var fault error
		s := start(t, allowStop, upstream(&host.Cluster{HTTP2: true}), func(o *host.Options) {
			o.T, o.Lenient, o.Fail = nil, ret == "1", func(err error) { fault = err }
		})
		t.Cleanup(s.Close)
		q, up := s.ask("rsh=1;rsbe=call:bridge:/:0," + ret + ";rsb=" + ret + ";cb=eff:0,buf:1:0:99,cont:1")
		up.SendHeaders(200, nil, false)
		up.Send([]byte("abc"), false)
		up.Send([]byte("def"), true)
		s.callbacks(create, rqh, rsh, rsb+", n=3, end=0", rsb+", n="+n+", end=1")
		s.Pending("bridge")[0].Respond(200, nil, nil)
		if ret == "2" {
			if fault == nil || !strings.Contains(fault.Error(), "freed") {
				t.Fatal(fault)
			}
			continue
		}
		s.saw("proxy_get_buffer_bytes(response_body, 0, 99) = ok 6 bytes")
		ended(t, q, 200, "abcdef", "via_upstream", "-")
	}
}

// Fact 3: 1 from the body callback, then a chunk that exceeds the limit: 500 to
// the client past the filter, which is not called again, and whose log sees it.
func TestBufferedResponseTooLarge(t *testing.T) {
	s := start(t, limit(64<<10), allowStop, silentUpstream)
	q, up := s.ask("rsh=1;rsb=1;log=prop:response|code,prop:response|code_details")
	up.SendHeaders(200, nil, false)
	up.Send(make([]byte, 3_965), false)
	up.Send(make([]byte, 1_000_000), true)
	s.saw(`proxy_get_property("response.code_details") = ok "response_payload_too_large"`)
	s.saw(`proxy_get_property("response.code") = ok "\xf4\x01`)
	s.callbacks(then(create, rqh, rsh, rsb+", n=3965, end=0")...)
	ended(t, q, 500, "Internal Server Error", "response_payload_too_large", "-")
}

// Fact 3: the first chunk alone may exceed the limit: the upstream's is larger.
func TestFirstChunkTooLarge(t *testing.T) {
	s := start(t, limit(64<<10), allowStop, silentUpstream)
	q, up := s.ask("rsh=1;rsb=1")
	up.SendHeaders(200, nil, false)
	up.Send(make([]byte, 1_000_000), false)
	s.callbacks(then(create, rqh, rsh, rsb+", n=1000000, end=0")...)
	ended(t, q, 500, "Internal Server Error", "response_payload_too_large", "-")
}

// Fact 3: the same with 2 streams a megabyte through a cap below the limit, and
// stalls with a cap above it.
func TestWatermarkNeverFails(t *testing.T) {
	s := start(t, limit(64<<10), allowStop, silentUpstream)
	q, up := s.ask("rsh=1;rsb1=2;rsb2=2;rsb=0")
	up.SendHeaders(200, nil, false)
	body := bytes.Repeat([]byte("r"), 1_000_000)
	up.Send(body[:15_000], false)
	up.Send(body[15_000:30_000], false)
	up.Send(body[30_000:], true)
	ended(t, q, 200, string(body), "via_upstream", "-")

	s = start(t, limit(64<<10), allowStop, upstream(&host.Cluster{BufferLimit: 50_000}))
	q, up = s.ask("rsh=1;rsb=2")
	up.SendHeaders(200, nil, false)
	up.Send(body, true)
	s.callbacks(create, rqh, rsh, rsb+", n=50000", rsb+", n=50000")
	s.Advance(15 * time.Second)
	ended(t, q, 504, "upstream request timeout", "response_timeout", "UT")
}

// Facts 1.2: overflow after the headers went out resets the stream; the access
// log keeps 200 with that detail.
func TestOverflowAfterHeaders(t *testing.T) {
	s := start(t, limit(1000), silentUpstream)
	q, up := s.ask("rsb=1")
	up.SendHeaders(200, nil, false)
	up.Send(make([]byte, 600), false)
	up.Send(make([]byte, 600), false)
	if r := q.Response(); r.Status != 200 || r.Complete || r.Reset == "" || q.Code() != 200 || q.Details() != "response_payload_too_large" {
		t.Fatalf("%+v %s", r, q.Details())
	}
}

// Facts 1.2: 3 from the body callback loses the data.
func TestNoBufferLosesData(t *testing.T) {
	s := start(t, silentUpstream)
	q, up := s.ask("rsb1=3;rsbe=0")
	up.SendHeaders(200, nil, false)
	up.Send([]byte("chunks"), true)
	ended(t, q, 200, "", "via_upstream", "-")
}

// Facts 1.2: HEAD, 204 and 304 end with the headers and no body callback.
func TestBodilessResponses(t *testing.T) {
	for _, status := range []int{204, 304} {
		s := start(t, silentUpstream)
		q, up := s.ask("")
		up.Respond(status, nil, nil)
		s.callbacks(then(create, rqh, rsh+", n=2, end=1")...)
		ended(t, q, status, "", "via_upstream", "-")
	}
	s := start(t)
	q := s.Request(host.Request{Method: "HEAD"})
	s.callbacks(then(create, rqh, rsh+", n=4, end=1")...)
	ended(t, q, 200, "", "via_upstream", "-")
}

// Facts 1.2 and section 4: a body that is cut short never ends for the filter;
// only the log sees it.
func TestCutBody(t *testing.T) {
	for _, c := range []struct {
		http2   bool
		reason  host.ResetReason
		details string
		flags   string
	}{
		{false, host.ProtocolError, "upstream_reset_after_response_started{protocol_error}", "UPE"},
		{true, host.RemoteReset, "upstream_reset_after_response_started{remote_reset}", "UR"},
	} {
		s := start(t, upstream(&host.Cluster{HTTP2: c.http2}))
		q, up := s.ask("rsh=prop:response|code_details,prop:response|flags;log=prop:response|flags")
		up.SendHeaders(200, nil, false)
		up.Send([]byte("half"), false)
		up.Reset(c.reason)
		s.saw(`proxy_get_property("response.code_details") = ok "via_upstream"`)
		s.callbacks(then(create, rqh, rsh, rsb+", n=4, end=0")...)
		ended(t, q, 200, "half", c.details, c.flags)
		if q.Response().Complete {
			t.Fatal("complete")
		}
	}
}

// Facts 1.2: HTTP/1 upstreams' trailers make no callback; HTTP/2's do.
func TestResponseTrailers(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s := start(t, upstream(&host.Cluster{HTTP2: http2}))
		q, up := s.ask("rst=get:3:x-sum")
		up.SendHeaders(200, nil, false)
		up.Send([]byte("b"), false)
		up.SendTrailers(host.H("x-sum", "1"))
		if http2 {
			s.callbacks(then(create, rqh, rsh, rsb+", n=1, end=0", rst+", n=1")...)
		} else {
			s.callbacks(then(create, rqh, rsh, rsb+", n=1, end=0", rsb+", n=0, end=1")...)
		}
		ended(t, q, 200, "b", "via_upstream", "-")
	}
}

// Facts 1.2: no timeout fires for a paused response that has arrived whole; one
// that is held back by the buffer limit gets a 504 past the filter, although
// upstream answered 200, and the callout's callback finds the stream gone.
func TestRouteTimeoutWhileResponsePaused(t *testing.T) {
	short := func(o *host.Options) { o.Route.Timeout = 300 * time.Millisecond }
	script := "rsh=call:bridge:/:0,1;cb=eff:2,cont:1"
	s := start(t, short)
	q := s.get(script)
	s.Advance(time.Second)
	s.Pending("bridge")[0].Respond(200, nil, nil)
	ended(t, q, 200, "ok", "via_upstream", "-")

	s = start(t, short, limit(1000), upstream(&host.Cluster{BufferLimit: 900}))
	q, up := s.ask(script)
	up.SendHeaders(200, nil, false)
	up.Send(make([]byte, 5000), true)
	s.Advance(300 * time.Millisecond)
	s.callbacks(then(create, rqh, rsh)...)
	ended(t, q, 504, "upstream request timeout", "response_timeout", "UT")
	s.Pending("bridge")[0].Respond(200, nil, nil)
	s.saw("proxy_set_effective_context(2) = bad_argument")
	s.callbacks(cb)
}

// Facts 1.2: a local reply while the response is held reaches the client, from
// each callback, and not the filter; after the headers it resets the stream.
func TestLocalReplyOverResponse(t *testing.T) {
	for _, script := range []string{
		"rsh=reply:409:mine:no",
		"rsh=1;rsb=1;rsbe=reply:409:mine:no",
		"rsh=1;rsb=1;rsbe=call:bridge:/:0,1;cb=eff:0,reply:409:mine:no",
	} {
		s := start(t, allowStop, silentUpstream)
		q, up := s.ask(script)
		up.Respond(200, nil, []byte("ok"))
		for _, x := range s.Pending("bridge") {
			x.Respond(200, nil, nil)
		}
		ended(t, q, 409, "no", "mine", "-")
		if n := strings.Count(s.Trace().Of("worker0"), rsh); n != 1 {
			t.Fatalf("the reply ran the response callbacks\n%s", s.Trace())
		}
	}
	s := start(t, silentUpstream)
	q, up := s.ask("rsbe=reply:409:mine:no")
	up.Respond(200, nil, []byte("ok"))
	if r := q.Response(); r.Status != 200 || r.Complete || r.Reset == "" {
		t.Fatalf("%+v", r)
	}
}

// Facts 1.2: what the filter sees of a plain upstream's headers, and of headers
// that the route adds.
func TestResponseHeaders(t *testing.T) {
	s := start(t, silentUpstream, func(o *host.Options) { o.Route.ResponseHeadersToAdd = host.H("x-vh", "1") })
	q, up := s.ask("rsh=pairs:2,size:2,get:2:x-envoy-upstream-service-time,get:2:x-vh,get:2:server")
	s.Advance(7 * time.Millisecond)
	up.Respond(200, host.H("date", "d", "server", "shop"), []byte("ok"))
	s.saw(`"x-envoy-upstream-service-time") = ok "7"`)
	s.saw(`"x-vh") = ok "1"`)
	s.saw(`"server") = ok "shop"`)
	if h := q.Response().Headers; h.Get("server") != "envoy" || h.Get("date") != "d" || h.Get("content-length") != "2" {
		t.Fatal(h)
	}
}
