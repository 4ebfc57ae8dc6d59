package host_test

import (
	"context"
	"fmt"

	"github.com/oncewall/oncewall/testenv/host"
)

// A test of a filter: start Envoy, send a request, look at what came of it.
func ExampleNew() {
	filter, _ := probe() // host.Compile(ctx, wasm)
	h, err := host.New(context.Background(), host.Options{Binary: filter,
		Clusters: map[string]*host.Cluster{"upstream": host.Answer(200, "hello")}})
	if err != nil {
		panic(err)
	}
	defer h.Close()
	s := h.Request(host.Request{Path: "/greet", Headers: host.H("x-probe", "rqh=rep:0:x-seen:yes")})

	fmt.Println(s.Response().Status, string(s.Response().Body))
	fmt.Println(s.Upstream().Headers.Get("x-seen"))
	// Output:
	// 200 hello
	// yes
}

// A callout that a test answers by hand, and the trace of what the filter did.
func ExampleHost_Pending() {
	filter, _ := probe()
	h, _ := host.New(context.Background(), host.Options{Binary: filter, Clusters: map[string]*host.Cluster{
		"upstream": host.Answer(200, "hello"), "auth": {HTTP2: true}}})
	defer h.Close()
	h.Trace().Reset()
	h.Request(host.Request{Headers: host.H("x-probe", "rqh=call:auth:/check:250,1;cb=eff:0,get:6:%3astatus,reply:403:denied:no")})
	h.Pending("auth")[0].Respond(401, nil, nil)
	fmt.Print(h.Trace().Of("worker0"))
	// Output:
	// > proxy_on_context_create(ctx=2, root=1)
	// > proxy_on_request_headers(ctx=2, n=7, end=1)
	//   < proxy_get_header_map_value(request, "x-probe") = ok "rqh=call:auth:/check:250,1;cb=eff:0,get:6:%3astatus,reply:403:denied:no"
	//   < proxy_http_call("auth", GET /check, 0 bytes, 0 pairs, 250) = ok 4
	//   = pause
	// > proxy_on_http_call_response(ctx=1, token=4, headers=3, body=0, trailers=0)
	//   < proxy_set_effective_context(2) = ok
	//   < proxy_get_header_map_value(call, ":status") = ok "401"
	//   < proxy_send_local_response(403, "denied", 2 bytes, 0 pairs, -1) = ok
	// > proxy_on_response_headers(ctx=2, n=3, end=0)
	//   = continue
	// > proxy_on_response_body(ctx=2, n=2, end=1)
	//   = continue
	// > proxy_on_log(ctx=2)
	// > proxy_on_done(ctx=2)
	//   = true
	// > proxy_on_delete(ctx=2)
}
