package conformance

import "github.com/oncewall/oncewall/testenv/host"

// bodyScenes are sections 1.1 and 1.2: what the body callbacks of a request
// return, and what they change.
var bodyScenes = []Scenario{
	bodyStatus("1", "1: the body is buffered, the callback sees all of it"),
	bodyStatus("2", "2: the body is held, the callback sees the chunk"),
	bodyStatus("3", "3: the data is lost"),
	modified("replace", "setbuf:0:0:4:new", "start 0 and all of the length replaces"),
	modified("replace-more", "setbuf:0:0:99:new", "a length beyond the end replaces"),
	modified("prepend", "setbuf:0:0:0:new", "length 0 at start 0 prepends"),
	modified("append", "setbuf:0:4:0:new", "a start at the end appends"),
	modified("append-beyond", "setbuf:0:9:1:new", "a start beyond the end appends"),
	modified("partly", "setbuf:0:0:2:new", "a part at the start is a bad argument"),
	modified("middle", "setbuf:0:2:1:new", "a part in the middle is a bad argument"),
	{
		Name: "request-trailers", Short: true,
		Fact:  "trailers of HTTP/2 end a body without an end of stream in a chunk",
		Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqt=get:1:x-sum,add:1:x-more:2,pairs:1,size:1", Open: true, HTTP2: true})
			c.Send("b", false)
			s.Saw("rqb", 1)
			c.Trailers(host.H("x-sum", "1"))
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name:  "request-trailers-pause",
		Fact:  "a pause in the trailers holds what the filter holds",
		Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqb=1;rqt=call:@bridge:/:5000,1;cb=eff:0,buf:0:0:9,get:1:x-sum,cont:0", Open: true, HTTP2: true})
			c.Send("b", false)
			s.Saw("rqb", 1)
			c.Trailers(host.H("x-sum", "1"))
			s.Bridge().Respond(200, "")
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "request-trailers-h1",
		Fact: "trailers of HTTP/1 clients are dropped",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "", Open: true})
			c.Send("b", false)
			s.Saw("rqb", 1)
			c.Trailers(host.H("x-sum", "1"))
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name:  "added-trailers",
		Fact:  "a filter adds trailers at the end of the body by asking for the map",
		Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqbe=add:1:x-sum:9;rsbe=add:3:x-end:8", Open: true, HTTP2: true})
			c.Send("b", true)
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name:  "request-h2",
		Fact:  "1.1: a plain request on HTTP/2 both ways",
		Setup: Setup{Upstream: Cluster{HTTP2: true}},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=pairs:0,prop:request|protocol;rsh=pairs:2;log=prop:request|size,prop:request|total_size", Body: "body", HTTP2: true})
			s.Up().Respond(200, "ok", "content-type", "text/plain")
			c.Await()
			s.Gone(1)
		},
	},
}

// bodyStatus plays two chunks against a status of the body callback.
func bodyStatus(ret, fact string) Scenario {
	return Scenario{
		Name: "request-body-" + ret, Fact: "1.2, return codes: " + fact, Setup: Setup{AllowStop: true},
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=1;rqbe=buf:0:0:99,0;rqb=buf:0:0:99,bufst:0," + ret, Open: true})
			c.Send("abc", false)
			s.Saw("rqb", 1)
			c.Send("def", false)
			s.Saw("rqb", 2)
			c.Send("", true)
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}
}

func modified(name, op, fact string) Scenario {
	return Scenario{
		Name: "set-buffer-" + name, Fact: "1.2, a modified body: " + fact, Short: name == "replace" || name == "partly",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqb1=" + op + ",buf:0:0:99", Open: true})
			c.Send("body", false)
			s.Saw("rqb", 1)
			c.Send("", true)
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}
}
