package conformance

import (
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// calloutScenes are section 3.
var calloutScenes = []Scenario{{
	Name: "callout-outlives-stream", Short: true,
	Fact: "fact 1: a callout survives the client's disconnect, as does one from proxy_on_log; the stream is gone then",
	Play: func(s *Stage) {
		c := s.Get("rqh=call:@bridge:/a:5000,1;log=call:@bridge:/from-log:5000;cb=eff:0")
		a := s.Bridge()
		c.Go()
		s.Gone(1)
		b := s.Bridge()
		a.Respond(200, "one")
		s.Saw("cb", 1)
		b.Respond(200, "three")
		s.Saw("cb", 2)
	},
},
	refused("unknown-cluster", "call:nowhere:/:0", Cluster{}),
	refused("no-path", "rawcall:@bridge:0:%3amethod=GET:%3aauthority=a", Cluster{}),
	refused("no-authority", "rawcall:@bridge:0:%3amethod=GET:%3apath=/", Cluster{}),
	refused("no-method", "rawcall:@bridge:0:%3apath=/:%3aauthority=a", Cluster{}),
	refused("negative-timeout", "call:@bridge:/:-1", Cluster{}),
	refused("no-hosts", "call:@bridge:/:0", Cluster{NoHosts: true}),
	{
		Name: "callout-breaker", Short: true, Fact: "3: max_requests 4 lets four calls through, the next are status 10 at once",
		Setup: Setup{Bridge: Cluster{HTTP2: true, MaxRequests: 4}},
		Play: func(s *Stage) {
			c := s.Get("rqh=" + strings.Repeat("call:@bridge:/:5000,", 6) + "1;cb4=eff:0,cont:0")
			for i := range 4 {
				s.Bridge().Respond(200, "")
				s.Saw("cb", i+1)
			}
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	},
	answered("ok", "3: an answer with headers and a body", Cluster{}, func(s *Stage, b *Upstream) { b.Respond(201, "hello", "x-a", "1") }),
	answered("ok-h2-trailers", "3: an answer with trailers", Cluster{HTTP2: true}, func(s *Stage, b *Upstream) {
		b.Begin(200)
		b.Send("b", false)
		b.Trailers("x-t", "1")
	}),
	answered("refused", "3: a refused connection is 503 with a text", Cluster{Refuse: true}, nil),
	answered("timeout", "3: a timeout is 504 with a text", Cluster{}, func(s *Stage, b *Upstream) { s.Saw("cb", 1) }),
	answered("closed", "3: a connection closed before headers is 503", Cluster{}, func(s *Stage, b *Upstream) { b.Reset(host.ConnectionTermination) }),
	answered("reset", "3: a stream reset before headers is 503", Cluster{HTTP2: true}, func(s *Stage, b *Upstream) { b.Reset(host.RemoteReset) }),
	answered("refused-stream", "3: REFUSED_STREAM before headers is 503", Cluster{HTTP2: true}, func(s *Stage, b *Upstream) { b.Reset(host.RemoteRefused) }),
	answered("broken", "3: a reset after headers is no headers, and status 11", Cluster{HTTP2: true}, func(s *Stage, b *Upstream) {
		b.Begin(200)
		b.Send("half", false)
		s.Pass(100 * time.Millisecond)
		b.Reset(host.RemoteReset)
	}),
	answered("20mb", "3: 20 MB are delivered whole", Cluster{}, func(s *Stage, b *Upstream) { b.Respond(200, strings.Repeat("b", 20_000_000)) }),
	answered("33mb", "3: more than 32 MiB is no headers", Cluster{}, func(s *Stage, b *Upstream) { b.Respond(200, strings.Repeat("b", 34_000_000)) }),
	{
		Name: "callout-status-sticks", Fact: "3: the status code stays 11 after a later success, its message does not",
		Setup: Setup{OwnVM: true, Bridge: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Get("rqh=status,call:@bridge:/:5000,call:@bridge:/:5000,1;cb=status,pairs:6,eff:0,cont:0")
			a, b := s.Bridge(), s.Bridge()
			a.Begin(200)
			a.Send("half", false)
			s.Pass(100 * time.Millisecond)
			a.Reset(host.RemoteReset)
			s.Saw("cb", 1)
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
			b.Respond(200, "")
			s.Saw("cb", 2)
		},
	}, {
		Name: "callout-headers", Short: true, Fact: "3: Envoy adds x-envoy-internal and the timeout, and nothing of the client's",
		Play: func(s *Stage) {
			c := s.Get("rqh=post:@bridge:/p:4000:data,1;cb=eff:0,reply:200:d:")
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "callout-headers-h2", Fact: "3: the same on HTTP/2", Setup: Setup{Bridge: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Get("rqh=post:@bridge:/p:4000:data,1;cb=eff:0,reply:200:d:")
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "callout-no-timeout", Fact: "3: a timeout of 0 is none",
		Play: func(s *Stage) {
			c := s.Get("rqh=call:@bridge:/:0,1;cb=eff:0,reply:200:d:")
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "callout-retries", Fact: "3: retry headers on the callout are honoured and stripped",
		Play: func(s *Stage) {
			c := s.Get("rqh=call:@bridge:/:5000:x-envoy-retry-on=5xx:x-envoy-max-retries=1,1;cb=get:6:%3astatus,eff:0,reply:200:d:")
			s.Bridge().Respond(503, "")
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "callout-from-callback", Fact: "3: a second callout from inside a callback",
		Play: func(s *Stage) {
			c := s.Get("rqh=call:@bridge:/1:5000,1;cb1=call:@bridge:/2:5000;cb2=eff:0,reply:200:d:")
			s.Bridge().Respond(200, "")
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "callout-from-response", Fact: "3: fire and forget from the response headers",
		Play: func(s *Stage) {
			c, up := s.ask("rsh=call:@bridge:/fire:5000")
			up.Respond(200, "ok")
			c.Await()
			s.Gone(1)
			s.Bridge().Respond(200, "")
			s.Saw("cb", 1)
		},
	}, {
		Name: "tick", Fact: "3: ticks come to the root context", Setup: Setup{OwnVM: true, Config: "configure=tick:200,1;tick1=call:@bridge:/tick:0;tick3=tick:0"},
		Startup: true,
		Play:    func(s *Stage) { s.Saw("tick", 6) },
	}}

// refused is a call that is refused at once, without a callback.
func refused(name, op string, bridge Cluster) Scenario {
	return Scenario{
		Name: "callout-" + name, Short: name == "no-hosts", Fact: "3, fact 9: calls that are refused at once, without a callback",
		Setup: Setup{Bridge: bridge},
		Play: func(s *Stage) {
			c := s.Get("rqh=" + op + ",reply:200:d:")
			c.Await()
			s.Gone(1)
		},
	}
}

// answered is a call and what the callback sees of its answer.
func answered(name, fact string, bridge Cluster, play func(*Stage, *Upstream)) Scenario {
	return Scenario{
		Name: "answer-" + name, Short: name == "timeout" || name == "closed", Fact: fact, Setup: Setup{Bridge: bridge, OwnVM: name == "broken"},
		Play: func(s *Stage) {
			timeout := "10000"
			if name == "timeout" {
				timeout = "300"
			}
			c := s.Get("rqh=call:@bridge:/:" + timeout + ",1;cb=status,pairs:6,get:6:%3astatus,buf:4:0:200,bufst:4,pairs:7,eff:0,reply:200:d:")
			if play != nil {
				play(s, s.Bridge())
			}
			c.Await()
			s.Gone(1)
		},
	}
}
