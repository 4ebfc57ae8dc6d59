package host_test

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// Section 4: a client that goes away. No response callback; the log sees DC, or
// DR on HTTP/2, and no status; the upstream request is aborted.
func TestClientGoes(t *testing.T) {
	for _, c := range []struct {
		http2          bool
		details, flags string
	}{{false, "downstream_remote_disconnect", "DC"}, {true, "http2.remote_reset", "DR"}} {
		s := start(t, silentUpstream)
		q := s.Request(host.Request{HTTP2: c.http2, Headers: host.H("x-probe", "log=prop:response|code,prop:response|flags,get:2:%3astatus")})
		up := q.Upstream()
		q.Reset()
		s.saw(`proxy_get_property("response.code") = not_found`)
		s.saw(`proxy_get_header_map_value(response, ":status") = not_found`)
		s.callbacks(then(create, rqh)...)
		ended(t, q, 0, "", c.details, c.flags)
		if !up.Aborted {
			t.Fatal("upstream goes on")
		}
		up.Respond(200, nil, []byte("late"))
		s.callbacks()
	}
	s := start(t, silentUpstream)
	q := s.Request(host.Request{HTTP2: true})
	q.Disconnect()
	ended(t, q, 0, "", "downstream_remote_disconnect", "DC")
}

// Section 4: the observed table. What the filter sees in the response headers
// and what the log says.
func TestEndTable(t *testing.T) {
	retry := func(o *host.Options) {
		o.Route.RetryOn, o.Route.NumRetries = "5xx,connect-failure", 2
	}
	reset := func(reason host.ResetReason) *host.Cluster {
		return &host.Cluster{Handle: func(x *host.Exchange) { x.Reset(reason) }}
	}
	const before = "upstream_reset_before_response_started"
	const refused = before + "{remote_connection_failure|delayed_connect_error:_Connection_refused}"
	for _, c := range []struct {
		name     string
		set      []func(*host.Options)
		status   int
		details  string
		flags    string
		attempts byte
	}{
		{"200", nil, 200, "via_upstream", "-", 1},
		{"503 after two retries", []func(*host.Options){retry, upstream(host.Answer(503, "no"))}, 503, "via_upstream", "URX", 3},
		{"refused", []func(*host.Options){upstream(&host.Cluster{Refuse: true})}, 503, refused, "UF", 1},
		{"no hosts", []func(*host.Options){upstream(&host.Cluster{NoHosts: true})}, 503, "no_healthy_upstream", "UH", 1},
		{"breaker", []func(*host.Options){upstream(&host.Cluster{MaxRequests: -1})}, 503, before + "{overflow}", "UO", 1},
		{"no cluster", []func(*host.Options){func(o *host.Options) { o.Route.Cluster = "gone" }}, 503, "cluster_not_found", "NC", 0},
		{"direct response", []func(*host.Options){func(o *host.Options) { o.Route.DirectResponse = &host.Reply{Status: 403, Body: "x"} }},
			403, "direct_response", "-", 0},
		{"route timeout", []func(*host.Options){silentUpstream}, 504, "response_timeout", "UT", 1},
		{"per-try timeout and retry", []func(*host.Options){silentUpstream, func(o *host.Options) {
			o.Route.RetryOn, o.Route.NumRetries, o.Route.PerTryTimeout = "5xx", 1, time.Second
		}}, 504, "upstream_per_try_timeout", "UT,URX", 2},
		{"closed", []func(*host.Options){upstream(reset(host.ConnectionTermination))}, 503, before + "{connection_termination}", "UC", 1},
		{"h2 reset", []func(*host.Options){upstream(reset(host.RemoteReset))}, 503, before + "{remote_reset}", "UR", 1},
		{"closed with retries", []func(*host.Options){retry, upstream(reset(host.ConnectionTermination))},
			503, before + "{connection_termination}", "UC,URX", 3},
		{"refused with retries", []func(*host.Options){retry, upstream(&host.Cluster{Refuse: true})}, 503, refused, "UF,URX", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, c.set...)
			q := s.get("rsh=prop:response|code_details,prop:upstream|request_attempt_count")
			s.Advance(16 * time.Second)
			ended(t, q, c.status, "*", c.details, c.flags)
			s.saw(`proxy_get_property("response.code_details") = ok "` + c.details + `"`)
			s.saw(`proxy_get_property("upstream.request_attempt_count") = ok "\x0` + string('0'+c.attempts) + `\x00`)
		})
	}
}

// Section 4: idle timeouts while the request is paused, and while the response
// is held: the log has 504 although the filter saw 200.
func TestIdleTimeout(t *testing.T) {
	s := start(t, silentUpstream)
	q, up := s.ask("rsh=1;log=prop:response|code")
	up.Respond(200, nil, []byte("ok"))
	s.Advance(host.DefaultStreamIdleTimeout)
	s.saw(`proxy_get_property("response.code") = ok "\xf8\x01`)
	s.callbacks(then(create, rqh, rsh)...)
	ended(t, q, 504, "stream timeout", "stream_idle_timeout", "SI")
}

// Section 11: a filter that sets x-envoy-max-retries: 0 switches the route's
// retries off; x-envoy-upstream-rq-timeout-ms caps the upstream's time.
func TestRouterHeaders(t *testing.T) {
	s := start(t, upstream(host.Answer(503, "no")), func(o *host.Options) {
		o.Route.RetryOn, o.Route.NumRetries = "5xx,connect-failure", 2
	})
	q := s.get("rqh=rep:0:x-envoy-max-retries:0")
	s.Advance(time.Second)
	if n := len(q.Attempts()); n != 1 || q.Response().Status != 503 || q.Upstream().Headers.Has("x-envoy-max-retries") {
		t.Fatalf("%d attempts, %+v", n, q.Upstream().Headers)
	}
	s = start(t, silentUpstream, func(o *host.Options) { o.Route.Timeout = 5 * time.Second })
	q = s.get("rqh=rep:0:x-envoy-upstream-rq-timeout-ms:300")
	s.Advance(299 * time.Millisecond)
	if q.Done() {
		t.Fatal("too early")
	}
	s.Advance(time.Millisecond)
	ended(t, q, 504, "upstream request timeout", "response_timeout", "UT")
}

// Section 4: x-envoy-attempt-count of a client reaches the filter as it is;
// include_request_attempt_count sets it for the upstream.
func TestAttemptCount(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Route.AttemptCount = true })
	q := s.Request(host.Request{Headers: host.H("x-probe", "rqh=get:0:x-envoy-attempt-count", "x-envoy-attempt-count", "9")})
	s.saw(`"x-envoy-attempt-count") = ok "9"`)
	if got := q.Upstream().Headers.Get("x-envoy-attempt-count"); got != "1" {
		t.Fatal(got)
	}
}

// Section 8: what the connection manager removes from clients, and what not.
func TestSanitizedHeaders(t *testing.T) {
	s := start(t, func(o *host.Options) { o.UseRemoteAddress = true })
	q := s.Request(host.Request{Headers: host.H("x-envoy-internal", "true", "x-forwarded-client-cert", "c",
		"x-envoy-original-path", "/p", "x-internal-secret", "s", "x-forwarded-for", "203.0.113.9")})
	h := q.Upstream().Headers
	if h.Has("x-envoy-internal") || h.Has("x-forwarded-client-cert") || h.Has("x-envoy-original-path") || h.Get("x-internal-secret") != "s" ||
		h.Get("x-forwarded-for") != "203.0.113.9,192.0.2.1" {
		t.Fatal(h)
	}
}
