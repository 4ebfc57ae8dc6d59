package conformance

import (
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
)

// hostcallScenes are sections 5, 6 and 8: host calls in and outside their time,
// properties, filter state, foreign functions, metrics, header maps.
var hostcallScenes = []Scenario{
	tried("maps-outside", "header maps outside their time",
		"get:2:%3astatus,add:2:a:b,rep:2:a:b,del:2:a,size:2,pairs:2,get:6:a,pairs:6,size:6,get:0:none,size:0,get:1:a,add:1:a:b,pairs:1,setpairs:2:a=b,pairs:4,get:5:a"),
	tried("maps-names", "names of any case; several values of a header",
		"get:0:X-CLIENT,rep:0:X-A:3,get:0:x-a,add:0:x-a:4,pairs:0,del:0:X-a,get:0:x-a,del:0:none,add:0:x-empty:,get:0:x-empty"),
	tried("no-such", "maps, buffers, streams, levels and metric types that do not exist",
		"get:9:a,pairs:9,add:9:a:b,size:9,buf:9:0:1,bufst:9,setbuf:9:0:0:x,cont:7,close:7,log:9:x,def:9:x,inc:none:1,val:none,rec:none:1"),
	tried("bad-pointer", "a pointer outside the memory", "badptr"),
	tried("buffers-outside", "8: buffers outside their time",
		"buf:0:0:9,bufst:0,buf:1:0:9,buf:7:0:9,bufst:7,buf:4:0:9,bufst:4,buf:6:0:9,bufst:6,buf:5:0:9,buf:8:0:9,bufst:8,buf:2:0:9,buf:3:0:9,setbuf:6:0:3:x,setbuf:4:0:0:x,setbuf:0:0:0:x,setbuf:7:0:0:x"),
	tried("properties", "5: properties of the request, the route and the plugin",
		"prop:plugin_name,prop:plugin_root_id,prop:plugin_vm_id,prop:request|url_path,prop:request|path,prop:request|query,prop:request|method,prop:request|host,"+
			"prop:request|scheme,prop:request|protocol,prop:request|size,prop:request|total_size,prop:request|time,prop:request|id,prop:request|duration,prop:request|referer,prop:request|useragent,"+
			"prop:request|headers|x-client,prop:request|headers|none,prop:request|none,prop:none,prop:,prop:request,prop:response|code,prop:response|code_details,prop:response|flags,"+
			"prop:response|size,prop:response|total_size,prop:response|headers|a,prop:connection|id,prop:connection_id,prop:connection|mtls,prop:connection|requested_server_name,prop:connection|termination_details,"+
			"prop:connection|subject_peer_certificate,prop:source|address,prop:source|port,prop:destination|address,prop:upstream|address,prop:upstream|request_attempt_count,"+
			"prop:route_name,prop:cluster_name,prop:node,prop:listener_direction,prop:filter_state,prop:xds|route_name,prop:xds|cluster_name,prop:xds|none,"+
			"prop:metadata|filter_metadata|none,prop:upstream|cx_pool_ready_duration"),
	{
		Name: "route-metadata", Short: true, Fact: "5: parameters of a route by xds.route_metadata",
		Setup: Setup{Route: host.Route{Name: "route1", Metadata: map[string]map[string]any{"ns": {"key": "val", "flag": true, "num": 1.5,
			"deep": map[string]any{"a": "b"}}}}},
		Play: func(s *Stage) {
			const ns = "prop:xds|route_metadata|filter_metadata|ns"
			c := s.Get("rqh=prop:xds|route_name," + ns + "|key," + ns + "|flag," + ns + "|num," + ns + "|deep|a," + ns + "|deep," + ns + "|none,prop:route_name,reply:200:d:")
			c.Await()
			s.Gone(1)
		},
	},
	tried("filter-state", "5: set_property makes filter state that the access log sees, and reads it back",
		"prop:decision,setprop:decision:replayed,prop:decision,setprop:decision:again,prop:decision,prop:wasm.decision,prop:filter_state|wasm.decision,setprop:other:,prop:other"),
	tried("envoy-filter-state", "5: set_envoy_filter_state takes registered factories only",
		"ff:set_envoy_filter_state:%0a%0cenvoy.string%12%05hello,prop:filter_state|envoy.string,ff:set_envoy_filter_state:%0a%01x%12%01y,ff:set_envoy_filter_state:junk"),
	tried("foreign", "5: foreign functions",
		"ff:none:x,ff:compress:aaaa,ff:uncompress:junk,ff:uncompress:x%9cKLLL%04%00%03%ce%01%85,ff:clear_route_cache:,ff:declare_property:%0a%01p,ff:declare_property:%0a%01p,ff:declare_property:junk"),
	tried("declared-property", "5: a property that was declared", "ff:declare_property:%0a%02pp,setprop:pp:v,prop:pp,setprop:pp:w,prop:pp"),
	{
		Name: "foreign-not-modelled", Fact: "5: foreign functions of Envoy that the host does not have; sign is of 1.40",
		Play: func(s *Stage) {
			c := s.Get("rqh=ff:sign:,ff:verify_signature:,ff:expr_create:x,ff:expr_evaluate:x,ff:expr_delete:x,reply:200:d:")
			c.Await()
			s.Gone(1)
		},
	},
	tried("status", "the status of the last call outside a callback; proxy_done of nothing", "status,done,time,level,eff:0,eff:99999,cont:2,cont:3"),
	{
		Name: "log-maps", Short: true, Fact: "header maps in proxy_on_log: readable, not changeable",
		Play: func(s *Stage) {
			c := s.Get("log=get:0:%3apath,get:1:a,get:2:%3astatus,get:3:a,add:0:a:b,rep:2:a:b,size:0,pairs:1,pairs:3,buf:0:0:9,buf:1:0:9,get:0:none," +
				"prop:response|code,setprop:decision:late;done=get:0:%3apath,get:2:%3astatus,prop:response|code;delete=get:0:%3apath,prop:response|code")
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "maps-after-continue", Fact: "header maps once they have gone on",
		Play: func(s *Stage) {
			c := s.Post("rqb=get:0:%3apath,pairs:0,size:0,add:0:a:b;rsh=get:0:%3apath,size:0;rsb=get:2:%3astatus,pairs:2,size:2,add:2:a:b", "x")
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "header-changes", Short: true, Fact: "a header is replaced as a whole; adding to a fixed slot joins; setting pairs replaces the map",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=rep:0:X-A:3,add:0:accept:y,add:0:x-b:1,add:0:x-b:2,del:0:x-probe,del:0:none,add:0:user-agent:z,add:0:cookie:c=d,pairs:0;" +
				"rsh=add:2:content-type:more,add:2:x-r:1,rep:2:server:mine,del:2:content-type,pairs:2",
				Headers: host.H("x-a", "1", "x-a", "2", "accept", "x", "cookie", "a=b", "user-agent", "u")})
			s.Up().Respond(200, "ok", "content-type", "text/plain")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "set-pairs", Fact: "setting pairs replaces the map",
		Play: func(s *Stage) {
			c := s.Get("rqh=setpairs:0:%3amethod=GET:%3apath=/new:%3aauthority=a:%3ascheme=http:x-forwarded-proto=http:x-client=0,pairs:0;rsh=setpairs:2:%3astatus=202:x-a=1:x-a=2,pairs:2")
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "repeated-headers", Short: true, Fact: "8: get gives the first of repeated headers, the property joins them, pairs list all",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=get:0:x-foo,prop:request|headers|x-foo,pairs:0,size:0,prop:request|headers|cookie", Headers: host.H("x-foo", "1", "x-foo", "2", "cookie", "a=1", "cookie", "b=2")})
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	},
	sanitized("inside", false, ""), sanitized("edge", true, ""), sanitized("edge-outside", true, "203.0.113.9"), sanitized("forwarded", false, "203.0.113.9"),
	sanitized("forwarded-private", false, "10.1.2.3"), sanitized("edge-private", true, "10.1.2.3"),
	{
		Name: "no-forwarded-proto", Fact: "a request whose x-forwarded-proto the filter removed has no route",
		Play: func(s *Stage) {
			c := s.Get("rqh=del:0:x-forwarded-proto;rsh=prop:response|code_details,prop:response|flags")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "cookies-h2", Fact: "cookies of HTTP/2",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=pairs:0,get:0:cookie", Headers: host.H("cookie", "a=1", "x-b", "1", "cookie", "b=2"), HTTP2: true})
			s.Up().Respond(200, "ok", "set-cookie", "a", "set-cookie", "b")
			c.Await()
			s.Gone(1)
		},
	},
	fragment("fragment", false), fragment("fragment-h2", true),
	nominated("alone", "x-hop", "", ""), nominated("with-te", "TE, x-hop", "trailers", ""), nominated("te", "te", "trailers, gzip", ""),
	nominated("te-gzip", "x-hop, TE", "gzip", ""), nominated("te-unnamed", "x-hop, Cookie", "trailers", ""),
	nominated("length", "content-length", "", "body"), nominated("nine", "x-hop,1,2,3,4,5,6,7,8", "", ""), {
		Name: "nominated-refused", Unlogged: true, Fact: "a connection header that names x-forwarded-for, or more than nine, is 400",
		Play: func(s *Stage) {
			for _, names := range []string{"x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", ":path", "0,1,2,3,4,5,6,7,8,9"} {
				s.Open(Request{Headers: host.H("connection", names)}).Await()
			}
			s.Gone(5)
		},
	}, {
		Name: "too-many-headers", Unlogged: true, Fact: "8: more than 100 request headers are 431",
		Play: func(s *Stage) {
			h := host.Headers{}
			for i := range 100 {
				h.Add("x-"+itoa(i), "v")
			}
			c := s.Open(Request{Headers: h})
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "headers-too-large", Unlogged: true, Fact: "8: request headers above 60 KiB are 431, the filter hears of create and log only",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "log=get:0:%3apath,prop:response|code,prop:response|code_details,prop:response|flags", Headers: host.H("x-large", strings.Repeat("x", 65_000))})
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "expect-100", Fact: "1.1: Expect: 100-continue is answered by Envoy; the paused request still gets the body",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: pauseAndCall + ";rqb1=get:0:expect", Open: true, Headers: host.H("expect", "100-continue", "content-length", "4")})
			b := s.Bridge()
			b.Respond(200, "")
			up := s.Head("upstream")
			c.Send("body", true)
			up.AwaitEnd()
			up.Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "metrics", Short: true, Fact: "6: counters take nothing below 1, gauges do; histograms only record; a name twice is one metric",
		Setup: Setup{OwnVM: true},
		Play: func(s *Stage) {
			c := s.Get("rqh=def:0:conf_c,inc:conf_c:2,def:0:conf_c,inc:conf_c:3,inc:conf_c:0,inc:conf_c:-1,rec:conf_c:1,val:conf_c,def:1:conf_g,inc:conf_g:-5,rec:conf_g:9,inc:conf_g:-2,val:conf_g," +
				"def:2:conf_h,rec:conf_h:12,inc:conf_h:1,val:conf_h,def:0:conf.dotted-name,inc:conf.dotted-name:1,val:conf.dotted-name,reply:200:d:")
			c.Await()
			s.Gone(1)
			s.Metric("counter", "conf_c")
			s.Metric("gauge", "conf_g")
		},
	}, {
		Name: "shared-data", Fact: "shared data with its compare and swap", Setup: Setup{OwnVM: true},
		Play: func(s *Stage) {
			c := s.Get("rqh=shget:k,shset:k:v1:0,shget:k,shset:k:bad:77,shget:k,shset:k:v2:last,shget:k,shset:k::0,shget:k,shset:new:x:9,reply:200:d:")
			c.Await()
			s.Gone(1)
		},
	}, {
		Name: "shared-queue", Fact: "shared queues: the root context that registered last is told of each entry",
		Setup: Setup{OwnVM: true, Config: "configure=qreg:q,1;queue=qpop:last,qpop:last"},
		Play: func(s *Stage) {
			c := s.Get("rqh=qres:other:q,qpush:99:x,qpop:99,qres:shared-queue:none,qres:shared-queue:q,qpush:last:one,reply:200:d:")
			c.Await()
			s.Gone(1)
			s.Saw("queue", 1)
		},
	},
}

// tried is a list of host calls in the request headers, and a reply.
func tried(name, fact, ops string) Scenario {
	return Scenario{
		Name: "calls-" + name, Fact: fact, Short: name == "properties" || name == "buffers-outside" || name == "filter-state",
		Play: func(s *Stage) {
			c := s.Open(Request{Script: "rqh=" + ops + ",reply:200:d:", Path: "/p/q?a=b"})
			c.Await()
			s.Gone(1)
		},
	}
}

// sanitized is what the connection manager makes of a client's headers.
func sanitized(name string, edge bool, forwarded string) Scenario {
	return Scenario{
		Name: "sanitized-" + name, Fact: "8: what is removed from a client's headers before the filter, and what is added",
		Setup: Setup{UseRemote: edge},
		Play: func(s *Stage) {
			h := host.H("x-envoy-internal", "true", "x-forwarded-client-cert", "c", "x-envoy-original-path", "/p", "x-envoy-decorator-operation", "o",
				"x-internal-secret", "s", "x-jwt-payload", "j", "x-envoy-attempt-count", "9", "x-envoy-retry-on", "5xx", "x-envoy-max-retries", "3",
				"x-envoy-upstream-rq-timeout-ms", "9000", "x-envoy-expected-rq-timeout-ms", "1", "x-envoy-external-address", "1.2.3.4", "x-request-id", "mine",
				"x-forwarded-proto", "https", "x-envoy-force-trace", "1", "te", "trailers", "via", "1.1 me", "x-envoy-upstream-alt-stat-name", "a",
				"x-envoy-hedge-on-per-try-timeout", "true", "x-envoy-ip-tags", "t", "x-envoy-downstream-service-cluster", "d", "keep-alive", "timeout=5")
			if forwarded != "" {
				h.Add("x-forwarded-for", forwarded)
			}
			c := s.Open(Request{Script: "rqh=pairs:0;rsh=pairs:2;log=pairs:0", Headers: h})
			s.Up().Respond(200, "ok", "x-envoy-attempt-count", "7", "x-envoy-upstream-service-time", "99", "keep-alive", "timeout=5", "connection", "x-hop", "x-hop", "1")
			c.Await()
			s.Gone(1)
		},
	}
}

// fragment is a path that has one.
func fragment(name string, http2 bool) Scenario {
	return Scenario{
		Name: name, Unlogged: true, Fact: "a path with a fragment is 400 past the filter, which hears of create, log and the end only",
		Play: func(s *Stage) {
			c := s.Open(Request{Path: "/a#b", HTTP2: http2, Script: "log=get:0:%3apath,prop:response|code,prop:response|code_details,prop:response|flags"})
			c.Await()
			s.Gone(1)
		},
	}
}

// nominated is a request on HTTP/1 whose connection header names others.
func nominated(name, connection, te, body string) Scenario {
	return Scenario{
		Name: "nominated-" + name, Unlogged: true, Fact: "what a connection header names: removed, and of te all but trailers",
		Play: func(s *Stage) {
			h := host.H("connection", connection, "x-hop", "1", "cookie", "c", "x-kept", "1")
			if te != "" {
				h.Add("te", te)
			}
			c := s.Open(Request{Script: "rqh=pairs:0", Headers: h, Body: body})
			s.Up().Respond(200, "ok")
			c.Await()
			s.Gone(1)
		},
	}
}
