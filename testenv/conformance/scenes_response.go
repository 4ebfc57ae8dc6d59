package conformance

import (
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// ask sends a GET and waits for it at the upstream.
func (s *Stage) ask(script string) (*Client, *Upstream) {
	c := s.Get(script)
	return c, s.Up()
}

// fill sends n chunks of 15,000 bytes, each when the filter has seen the one
// before: small enough to be read in one piece. Five are more than 64 KiB.
func (u *Upstream) fill(n int) {
	for i := range n {
		u.Send(strings.Repeat("r", 15_000), false)
		if i+1 < n {
			u.s.Saw("rsb", i+1)
		}
	}
}

// responseScenes are section 1.2.
var responseScenes = []Scenario{{
	Name: "response-waits", Short: true, Merge: true,
	Fact:  "1.2: a pause in the response headers holds headers and body; continuing from a callout releases them",
	Setup: Setup{BufferLimit: 64 << 10, Upstream: Cluster{BufferLimit: 32 << 10}},
	Play: func(s *Stage) {
		c, up := s.ask("rsh=call:@bridge:/:5000,1;cb=eff:0,cont:1")
		up.Begin(200)
		b := s.Bridge()
		up.Send(strings.Repeat("r", 300_000), true)
		s.Quiet(150 * time.Millisecond)
		b.Respond(200, "")
		c.Await()
		s.Gone(1)
	},
},
	recorded("1"), recorded("2"),
	{
		Name: "response-too-large", Short: true,
		Fact:  "fact 3: a body buffered beyond the limit, headers held: 500 past the filter, whose log sees it",
		Setup: Setup{BufferLimit: 64 << 10, AllowStop: true},
		Play: func(s *Stage) {
			c, up := s.ask("rsh=1;rsb=1;log=prop:response|code,prop:response|code_details,prop:response|flags,pairs:2")
			up.Begin(200)
			up.fill(5)
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "response-watermark", Merge: true,
		Fact:  "fact 3: 2 from the body callback with a cap below the limit streams a megabyte",
		Setup: Setup{BufferLimit: 64 << 10, AllowStop: true},
		Play: func(s *Stage) {
			c, up := s.ask("rsh=1;rsb1=2;rsb2=2;rsb=0")
			up.Begin(200)
			up.Send(strings.Repeat("r", 15_000), false)
			s.Saw("rsb", 1)
			up.Send(strings.Repeat("r", 15_000), false)
			s.Saw("rsb", 2)
			up.Send(strings.Repeat("r", 970_000), true)
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "response-stall", Merge: true,
		Fact:  "fact 3: with a cap above the limit the response stalls until the route's timeout",
		Setup: Setup{BufferLimit: 64 << 10, AllowStop: true, Route: host.Route{Timeout: time.Second}},
		Play: func(s *Stage) {
			c, up := s.ask("rsh=1;rsb=2")
			up.Begin(200)
			up.fill(5)
			s.Saw("rsb", 5)
			c.Await()
			s.Gone(1)
		},
	}, {
		Name:  "overflow-after-headers",
		Fact:  "1.2: overflow after the headers went out cuts the response; the log keeps 200",
		Setup: Setup{BufferLimit: 1000},
		Play: func(s *Stage) {
			c, up := s.ask("rsb=1;log=prop:response|code,prop:response|code_details,prop:response|flags")
			up.Begin(200)
			up.Send(strings.Repeat("r", 600), false)
			s.Saw("rsb", 1)
			up.Send(strings.Repeat("r", 600), false)
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "overflow-after-headers-h2",
		Fact: "1.2: the same on HTTP/2", Setup: Setup{StreamWindow: 65535},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rsb=1;log=prop:response|code,prop:response|code_details,prop:response|flags", HTTP2: true})
			up := s.Up()
			up.Begin(200)
			up.fill(5)
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "response-no-buffer",
		Fact: "1.2: 3 from the body callback loses the data",
		Play: func(s *Stage) {
			c, up := s.ask("rsb1=3;rsbe=0")
			up.Begin(200)
			up.Send("chunks", false)
			s.Saw("rsb", 1)
			up.Send("", true)
			c.Await()
			s.Gone(1)
		},
	},
	bodiless("204", 204, Request{}), bodiless("304", 304, Request{}), bodiless("head", 200, Request{Method: "HEAD"}),
	bodiless("empty", 200, Request{}),
	{
		Name: "cut-body-h1", Short: true,
		Fact: "1.2, 4: a body that is cut short never ends for the filter; the log sees UPE",
		Play: func(s *Stage) { s.cut(host.ProtocolError) },
	}, {
		Name: "cut-body-h2", Fact: "1.2, 4: the same on HTTP/2: UR", Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) { s.cut(host.RemoteReset) },
	}, {
		Name: "cut-connection-h2", Fact: "1.2, 4: an HTTP/2 upstream's connection closed in a body: UC", Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) { s.cut(host.ConnectionTermination) },
	},
	responseTrailers("h1", false), responseTrailers("h2", true),
	{
		Name:  "route-timeout-while-response-paused",
		Fact:  "1.2: no timeout fires for a paused response that has arrived whole",
		Setup: Setup{Route: host.Route{Timeout: 300 * time.Millisecond}},
		Play: func(s *Stage) {
			c, up := s.ask("rsh=call:@bridge:/:5000,1;cb=eff:0,cont:1")
			up.Respond(200, "ok")
			b := s.Bridge()
			s.Quiet(600 * time.Millisecond)
			b.Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name:  "route-timeout-while-response-blocked",
		Fact:  "1.2: 504 past the filter for a paused response that is held back; the callback finds the stream gone",
		Setup: Setup{BufferLimit: 32 << 10, Upstream: Cluster{BufferLimit: 32 << 10}, Route: host.Route{Timeout: 400 * time.Millisecond}},
		Play: func(s *Stage) {
			c, up := s.ask("rsh=call:@bridge:/:5000,1;cb=eff:0,cont:1;log=prop:response|code,prop:response|flags,prop:response|code_details")
			up.Begin(200)
			b := s.Bridge()
			up.Send(strings.Repeat("r", 4_000_000), true)
			c.Await()
			s.Gone(1)
			b.Respond(200, "")
			s.Saw("cb", 1)
		},
	},
	lateReply("headers", "rsh=reply:409:mine:no"),
	lateReply("body", "rsh=1;rsb=1;rsbe=reply:409:mine:no"),
	lateReply("callout", "rsh=1;rsb=1;rsbe=call:@bridge:/:5000,1;cb=eff:0,reply:409:mine:no"),
	lateReply("too-late", "rsbe=reply:409:mine:no"),
	{
		Name:  "response-headers-added",
		Fact:  "1.2: the filter sees a response that the route has changed; server is set later",
		Setup: Setup{Route: host.Route{ResponseHeadersToAdd: host.H("x-vh", "1"), AttemptCount: true}},
		Play: func(s *Stage) {
			c, up := s.ask("rqh=get:0:x-envoy-attempt-count;rsh=pairs:2,prop:upstream|request_attempt_count,prop:xds|cluster_name")
			up.Respond(200, "ok", "date", "Mon, 01 Jan 2026 00:00:00 GMT", "server", "shop", "x-a", "1", "x-a", "2", "set-cookie", "a", "set-cookie", "b")
			c.Await()
			s.Gone(1)
		},
	},
}

func recorded(ret string) Scenario {
	return Scenario{
		Name: "record-before-respond-" + ret, Short: ret == "1",
		Fact:  "1.2: headers and body held until a callout is answered; buffered with 1 the body is readable in the callback",
		Setup: Setup{AllowStop: true, Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			// Behind 2 the chunk is gone when its callback has returned: Envoy crashes
			// where it is asked for.
			look := ""
			if ret == "1" {
				look = "buf:1:0:99,bufst:1,"
			}
			c, up := s.ask("rsh=1;rsbe=call:@bridge:/:5000," + ret + ";rsb=buf:1:0:99," + ret + ";cb=eff:0," + look + "cont:1")
			up.Begin(200)
			up.Send("abc", false)
			s.Saw("rsb", 1)
			up.Send("def", true)
			b := s.Bridge()
			b.Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}
}

func bodiless(name string, status int, r Request) Scenario {
	return Scenario{
		Name: "bodiless-" + name, Fact: "1.2: HEAD, 204 and 304 end with the headers", Short: name == "204",
		Play: func(s *Stage) {
			r.Script = "rsh=pairs:2"
			c := s.Open(r)
			body := ""
			if r.Method == "HEAD" {
				body = "body"
			}
			s.Up().Respond(status, body)
			c.Await()
			s.Gone(1)
		},
	}
}

func (s *Stage) cut(reason host.ResetReason) {
	c, up := s.ask("rsh=prop:response|code_details,prop:response|flags;log=prop:response|flags,prop:response|code_details,prop:response|code")
	up.Begin(200)
	up.Send("half", false)
	s.Saw("rsb", 1)
	up.Reset(reason)
	c.Await()
	s.Gone(1)
}

func responseTrailers(name string, http2 bool) Scenario {
	return Scenario{
		Name: "response-trailers-" + name, Fact: "1.2: HTTP/1 upstreams' trailers make no callback; HTTP/2's do",
		Setup: Setup{Upstream: Cluster{HTTP2: http2}}, Short: http2,
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rst=get:3:x-sum,add:3:x-more:2;log=pairs:3", HTTP2: http2})
			up := s.Up()
			up.Begin(200)
			up.Send("b", false)
			s.Saw("rsb", 1)
			up.Trailers("x-sum", "1")
			c.Await()
			s.Gone(1)
		},
	}
}

func lateReply(name, script string) Scenario {
	return Scenario{
		Name: "late-reply-" + name, Short: name == "callout",
		Fact:  "1.2: a local reply while the response is held replaces it past the filters; after its headers it cuts it",
		Setup: Setup{AllowStop: true},
		Play: func(s *Stage) {
			c, up := s.ask(script + ";log=prop:response|code,prop:response|code_details")
			up.Begin(200)
			up.Send("ok", true)
			if strings.Contains(script, "call") {
				s.Bridge().Respond(200, "")
			}
			c.Await()
			s.Gone(1)
		},
	}
}
