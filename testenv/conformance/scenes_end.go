package conformance

import (
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// seen is what the filter looks at in the response headers and in the log.
const seen = "rsh=get:2:%3astatus,prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count,prop:upstream|address," +
	"prop:upstream|cx_pool_ready_duration,prop:upstream|transport_failure_reason;log=prop:response|code,prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count," +
	"prop:upstream|transport_failure_reason"

var (
	retries = host.Route{RetryOn: "5xx,connect-failure", NumRetries: 2}
	short   = 400 * time.Millisecond
)

// endScenes are sections 4 and 11: how a stream ended.
var endScenes = []Scenario{
	ends("503-after-retries", Setup{Route: retries}, func(s *Stage) {
		for range 3 {
			s.Up().Respond(503, "no")
		}
	}),
	ends("refused", Setup{Upstream: Cluster{Refuse: true}}, nil),
	ends("no-hosts", Setup{Upstream: Cluster{NoHosts: true}}, nil),
	ends("breaker", Setup{Upstream: Cluster{MaxRequests: -1}}, nil),
	ends("no-cluster", Setup{Route: host.Route{Cluster: "gone"}}, nil),
	ends("direct-response", Setup{Route: host.Route{DirectResponse: &host.Reply{Status: 403, Body: "x"}}}, nil),
	ends("route-timeout", Setup{Route: host.Route{Timeout: short}}, func(s *Stage) { s.Up().AwaitAborted() }),
	ends("per-try-timeout", Setup{Route: host.Route{RetryOn: "5xx", NumRetries: 1, PerTryTimeout: short}}, func(s *Stage) { s.Up(); s.Up() }),
	ends("closed", Setup{}, func(s *Stage) { s.Up().Reset(host.ConnectionTermination) }),
	ends("h2-reset", Setup{Upstream: Cluster{HTTP2: true}}, func(s *Stage) { s.Up().Reset(host.RemoteReset) }),
	ends("h2-refused-stream", Setup{Upstream: Cluster{HTTP2: true}}, func(s *Stage) { s.Up().Reset(host.RemoteRefused) }),
	ends("h2-closed", Setup{Upstream: Cluster{HTTP2: true}}, func(s *Stage) { s.Up().Reset(host.ConnectionTermination) }),
	ends("closed-with-retries", Setup{Route: retries}, func(s *Stage) {
		for range 3 {
			s.Up().Reset(host.ConnectionTermination)
		}
	}),
	ends("refused-with-retries", Setup{Route: retries, Upstream: Cluster{Refuse: true}}, nil),
	ends("idle-while-response-held", Setup{StreamIdle: short, Config: ""}, func(s *Stage) { s.Up().Respond(200, "ok") }),
	{
		Name: "client-goes", Short: true, Fact: "4: a client that disconnects: DC, no response callback, the upstream request is given up",
		Play: func(s *Stage) {
			c := s.Get(seen)
			up := s.Up()
			c.Go()
			s.Gone(1)
			up.AwaitAborted()
		},
	}, {
		Name: "client-resets-h2", Fact: "4: RST_STREAM of a client: DR", Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: seen, HTTP2: true})
			up := s.Up()
			c.Go()
			s.Gone(1)
			up.AwaitAborted()
		},
	}, {
		Name: "client-goes-while-paused", Fact: "4: a client that disconnects before the request went on: never sent",
		Play: func(s *Stage) {
			c := s.Get(seen + ";rqh=1")
			s.Saw("rqh", 1)
			c.Go()
			s.Gone(1)
		},
	}, {
		Name: "client-goes-response-held", Fact: "4: a client that disconnects while the response is held",
		Play: func(s *Stage) {
			c := s.Get("rsh=1;log=prop:response|code,prop:response|code_details,prop:response|flags,pairs:2")
			s.Up().Respond(200, "ok")
			s.Saw("rsh", 1)
			c.Go()
			s.Gone(1)
		},
	}, {
		Name: "max-retries-0", Short: true, Fact: "11: x-envoy-max-retries: 0 of a filter switches the route's retries off", Setup: Setup{Route: retries},
		Play: func(s *Stage) {
			c := s.Get("rqh=rep:0:x-envoy-max-retries:0")
			s.Up().Respond(503, "no")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "upstream-timeout-header", Fact: "11: x-envoy-upstream-rq-timeout-ms of a filter caps the upstream's time", Setup: Setup{Route: host.Route{Timeout: 10 * time.Second}},
		Play: func(s *Stage) {
			c := s.Get("rqh=rep:0:x-envoy-upstream-rq-timeout-ms:300")
			s.Up()
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "router-headers-outside", Fact: "11: the same for a client from outside", Setup: Setup{UseRemote: true, Route: retries},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=pairs:0,rep:0:x-envoy-max-retries:0;log=pairs:0", Headers: host.H("x-forwarded-for", "203.0.113.9")})
			s.Up().Respond(503, "no")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "attempt-count", Fact: "4: a client's x-envoy-attempt-count reaches the filter; the route sets it for the upstream", Setup: Setup{Route: host.Route{AttemptCount: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=get:0:x-envoy-attempt-count", Headers: host.H("x-envoy-attempt-count", "9")})
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	},
}

// ends is a row of the observed table.
func ends(name string, setup Setup, play func(*Stage)) Scenario {
	return Scenario{
		Name: "end-" + name, Fact: "4, observed table: " + name, Setup: setup,
		Short: name == "refused" || name == "closed" || name == "route-timeout" || name == "no-cluster",
		Play: func(s *Stage) {
			script := seen
			if name == "idle-while-response-held" {
				script += ";rsh1=get:2:%3astatus,1"
			}
			c := s.Get(script)
			if play != nil {
				play(s)
			}
			c.Await()
			s.Gone(1)
		},
	}
}
