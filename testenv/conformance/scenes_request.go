package conformance

import (
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// pauseAndCall holds the request until the bridge answers.
const pauseAndCall = "rqh=call:@bridge:/:5000,1;cb=eff:0,cont:0"

// requestScenes are section 1.1: pauses and bodies of requests.
var requestScenes = []Scenario{{
	Name: "plain", Short: true,
	Fact: "1.2: what the filter sees of a plain request and its response",
	Play: func(s *Stage) {
		c := s.Get("rqh=pairs:0,size:0;rsh=pairs:2;log=pairs:0,pairs:2")
		s.Up().Respond(200, "ok", "content-type", "text/plain")
		c.Await()
		s.Gone(1)
	},
}, {
	Name: "pause-holds-body", Short: true,
	Fact: "1.1: without the flag a pause in the headers stops the body, too",
	Play: func(s *Stage) {
		c := s.Post(pauseAndCall, "body")
		b := s.Bridge()
		s.Quiet(100 * time.Millisecond)
		b.Respond(200, "")
		s.Up().Respond(200, "ok")
		c.Await()
		s.Gone(1)
	},
}, {
	Name: "flag-lets-body-unpause", Short: true,
	Fact:  "1.1, fact 6: with the flag the body callback runs while headers are paused; continuing from it sends them on",
	Setup: Setup{AllowStop: true},
	Play: func(s *Stage) {
		c := s.Post("rqh=call:@bridge:/:5000,1;rqb=0", "body")
		s.Up().Respond(200, "ok")
		c.Await()
		s.Gone(1)
		s.Bridge().Respond(200, "late")
		s.Saw("cb", 1)
	},
}, {
	Name: "headers-return-2", Fact: "1.1: 2 from the request headers is continue", Setup: Setup{AllowStop: true},
	Play: func(s *Stage) { s.returns("rqh=2") },
}, {
	Name: "headers-return-3", Fact: "1.1: 3 from the request headers stops all", Setup: Setup{AllowStop: true},
	Play: func(s *Stage) { s.returns("rqh=call:@bridge:/:5000,3;cb=eff:0,cont:0") },
}, {
	Name: "headers-return-4", Fact: "1.1: 4 from the request headers stops all", Setup: Setup{AllowStop: true},
	Play: func(s *Stage) { s.returns("rqh=call:@bridge:/:5000,4;cb=eff:0,cont:0") },
}, {
	Name: "back-pressure", Merge: true,
	Fact:  "1.1: 300 KB against 64 KiB after the default pause: no 413, all of it arrives after the callout",
	Setup: Setup{BufferLimit: 64 << 10},
	Play: func(s *Stage) {
		c := s.Post(pauseAndCall, strings.Repeat("x", 300_000))
		s.Bridge().Respond(200, "")
		s.Up().Respond(200, "ok")
		c.Await()
		s.Gone(1)
	},
}, {
	Name: "request-too-large", Short: true,
	Fact:  "1.1: with the flag, a body buffered beyond the limit is 413 through the response callbacks",
	Setup: Setup{BufferLimit: 64 << 10, AllowStop: true},
	Play: func(s *Stage) {
		c := s.Open(Request{Script: "rqh=1;rqb=1;rsh=prop:response|code_details", Open: true})
		for n := range 5 {
			c.Send(strings.Repeat("x", 15_000), false)
			s.Saw("rqb", n+1)
		}
		c.Await()
		s.Gone(1)
	},
}, {
	Name: "headers-while-paused", Short: true,
	Fact: "1.1: a paused filter changes request headers from the callout's callback; after continuing they are gone",
	Play: func(s *Stage) {
		c := s.Get("rqh=call:@bridge:/:5000,1;cb=eff:0,rep:0:x-new:v,cont:0,rep:0:x-late:v")
		s.Bridge().Respond(200, "")
		s.Up().Respond(200, "ok")
		c.Await()
		s.Gone(1)
	},
}, {
	Name:  "route-timeout-not-while-paused",
	Fact:  "1.1: the route timeout does not run while the request is paused",
	Setup: Setup{Route: host.Route{Timeout: 300 * time.Millisecond}},
	Play: func(s *Stage) {
		c := s.Get(pauseAndCall)
		b := s.Bridge()
		s.Quiet(600 * time.Millisecond)
		b.Respond(200, "")
		s.Up().Respond(200, "ok")
		c.Await()
		s.Gone(1)
	},
}, {
	Name:  "idle-timeout-while-paused",
	Fact:  "1.1, 4: the idle timeout runs while the request is paused: 504 through the response callbacks",
	Setup: Setup{StreamIdle: 400 * time.Millisecond},
	Play: func(s *Stage) {
		c := s.Get("rqh=call:@bridge:/:5000,1;rsh=prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count")
		s.Bridge()
		c.Await()
		s.Gone(1)
	},
}}

// returns plays a request whose headers' callback returns something; the bridge
// answers if it is asked.
func (s *Stage) returns(script string) {
	c := s.Post(script, "body")
	if strings.Contains(script, "call") {
		b := s.Bridge()
		s.Quiet(100 * time.Millisecond)
		b.Respond(200, "")
	}
	s.Up().Respond(200, "ok")
	c.Await()
	s.Gone(1)
}
