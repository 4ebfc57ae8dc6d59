package conformance

import (
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// replyScenes are section 2: local replies.
var replyScenes = []Scenario{
	replied("details", true, "fact 5: a local reply runs through the filter's own callbacks; spaces in details become underscores",
		"rqh=reply:409:my details here:busy,0;rsh=pairs:2,size:2,prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count,prop:upstream|address", Request{}),
	replied("from-body", false, "2: a reply from the request body", "rqb=reply:418:d:b", Request{Open: true}),
	replied("from-trailers", false, "2: a reply from the request trailers", "rqt=reply:418:d:b", Request{HTTP2: true, Open: true}),
	replied("headers", true, "2: headers are appended in order; what Envoy drops and replaces",
		"rqh=reply:200:d:body:Set-Cookie=a:set-cookie=b:x-y=1:x-y=2:content-type=text/html:content-length=99"+
			":transfer-encoding=chunked:connection=close:date=D:server=mine:x-envoy-upstream-service-time=5;rsh=pairs:2", Request{}),
	replied("pseudo", false, "2: pseudo headers in a reply", "rqh=reply:200:d:body:%3astatus=404:%3apath=/x;rsh=pairs:2", Request{}),
	replied("pseudo-h2", false, "2: pseudo headers in a reply, HTTP/2", "rqh=reply:200:d:body:%3astatus=404;rsh=pairs:2", Request{HTTP2: true}),
	replied("empty", false, "2: an empty body loses content-type and content-length", "rqh=reply:200:d::content-type=a/b:content-length=3;rsh=pairs:2", Request{}),
	replied("empty-h2", false, "2: the same on HTTP/2", "rqh=reply:200:d::content-type=a/b:content-length=3;rsh=pairs:2", Request{HTTP2: true}),
	replied("head", false, "2: HEAD keeps the body's length", "rqh=reply:200:d:four", Request{Method: "HEAD"}),
	replied("head-empty", false, "2: HEAD without a body is chunked", "rqh=reply:200:d:", Request{Method: "HEAD"}),
	replied("204-body", true, "fact 7: a body behind 204 goes onto the wire", "rqh=reply:204:d:leak", Request{}),
	replied("304-body", false, "fact 7: a body behind 304 goes onto the wire", "rqh=reply:304:d:leak", Request{}),
	replied("204-empty", false, "2: 204 without a body is clean", "rqh=reply:204:d:", Request{}),
	replied("crlf", true, "fact 7: a line break in a value goes out as it is", "rqh=reply:200:d:b:x-a=1%0d%0ax-b%3a 2", Request{}),
	replied("name-space", false, "fact 7: a name with a space goes out as it is", "rqh=reply:200:d:b:x a=1", Request{}),
	replied("status-999", false, "fact 7: status 999 goes out", "rqh=reply:999:d:b", Request{}),
	replied("1024-pairs", false, "fact 7: 1024 header pairs are kept", "rqh=manyhdrs:1024", Request{HTTP2: true}),
	replied("1025-pairs", false, "fact 7: more than 1024 header pairs are dropped, the reply is sent", "rqh=manyhdrs:1025", Request{}),
	replied("gzip", false, "2: bytes with a content-encoding pass", "rqh=reply:200:d:%1f%8b%00%ff:content-encoding=gzip", Request{}),
	replied("grpc", true, "2: a gRPC request gets trailers only, with the given status",
		"rqh=grpc:10:409:line%0abreak;rsh=pairs:2", Request{HTTP2: true, Open: true, Headers: host.H("content-type", "application/grpc")}),
	replied("grpc-mapped", false, "2: a gRPC status from the HTTP status, headers kept",
		"rqh=reply:503:d:no:x-a=1;rsh=pairs:2", Request{HTTP2: true, Open: true, Headers: host.H("content-type", "application/grpc")}),
	replied("not-grpc", false, "2: on other requests the gRPC status is ignored", "rqh=grpc:10:409:no", Request{}),
	replied("large", false, "2: 20 MB go out in one piece", "rqh=bigreply:200:20000000;rsh=prop:response|code_details", Request{}),
	replied("early", false, "11: a reply before an HTTP/1 request has arrived closes the connection", "rqh=reply:409:d:busy", Request{Open: true}),
	replied("close", false, "2: close_stream resets the stream", "rqh=close:0,1;log=prop:response|code_details,prop:response|flags", Request{}),
	replied("twice", false, "2: a second reply in one callback", "rqh=reply:401:first:a,reply:402:second:b;rsh=prop:response|code_details", Request{}),
	{
		Name: "reply-from-callout", Short: true, Fact: "2: a reply from a callout's callback", Setup: Setup{AllowStop: true},
		Play: func(s *Stage) {
			c := s.Post("rqh=call:@bridge:/:5000,1;rqb=2;cb=eff:0,reply:418:d:b;rsh=prop:response|code_details", "x")
			s.Saw("rqb", 2)
			s.Bridge().Respond(200, "")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "reply-from-root", Fact: "2: a reply from a root context is OK and does nothing",
		Play: func(s *Stage) {
			c := s.Get("rqh=call:@bridge:/:5000,1;cb=reply:500:d:b")
			s.Bridge().Respond(200, "")
			s.Saw("cb", 1)
			s.Quiet(100 * time.Millisecond)
			c.Go()
			s.Gone(1)
		},
	}, {
		Name: "earlier-filter", Short: true, Fact: "4: streams that an earlier filter refuses make no request callbacks", Setup: Setup{Deny: true},
		Play: func(s *Stage) {
			c := s.Get("")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "later-filter", Fact: "4: a later filter's reply runs the response callbacks; never sent", Setup: Setup{Abort: 429},
		Play: func(s *Stage) {
			c := s.Get("rsh=pairs:2,prop:response|code_details,prop:response|flags,prop:upstream|request_attempt_count")
			c.Await()
			s.Gone(1)
		},
	},
}

func replied(name string, short bool, fact, script string, r Request) Scenario {
	return Scenario{
		Name: "reply-" + name, Short: short, Fact: fact,
		Play: func(s *Stage) {
			q := r
			q.Script = script
			c := s.Open(q)
			if name == "from-body" {
				s.Head("upstream")
				c.Send("x", true)
			}
			if name == "from-trailers" {
				c.Send("b", false)
				s.Head("upstream")
				c.Trailers(host.H("x-t", "1"))
			}
			c.Await()
			s.Gone(1)
		},
	}
}
