package host

import (
	"fmt"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/testenv/host/abi"
)

func init() { define("env", "proxy_http_call", "iiiiiiiiii", httpCall) }

// maxCallBody is the largest body of a callout's answer (runtime
// http.async_response_buffer_limit).
const maxCallBody = 32 << 20

// callout is an HTTP call of a root context.
type callout struct {
	root   *fctx
	token  uint32
	router *router
	answer callAnswer
	// synchronous is set while the call is being made: what fails then is the
	// call's status, and there is no callback.
	synchronous, failed bool
	over                bool
}

// callAnswer is what a callout was answered.
type callAnswer struct {
	headers  Headers
	body     []byte
	trailers *Headers
}

// httpCall is proxy_http_call: an HTTP request of the root context. It outlives
// the stream in whose callback it is made, and its callback comes with the root
// context's id.
//
//	in   cluster, header pairs, body, trailer pairs, each by address and size;
//	     timeout in ms, 0 for none
//	out  token of the callback, 32 bits
//
// OK; bad argument: unknown cluster, no :method, :path or :authority, negative
// timeout; internal failure: no healthy host or circuit breaker open, and no
// callback then. All other failures are answers: 503, 504, or no headers at all
// after a late reset. Trailers are not sent.
//
//	proxy_http_call("bridge", POST /v1/batch, 120 bytes, 0 pairs, 1000) = ok 4
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_http_call
func httpCall(c *call) Status {
	cluster, body := c.str(0), c.str(4)
	pairs, _ := abi.DecodePairs([]byte(c.str(2)))
	trailers, _ := abi.DecodePairs([]byte(c.str(6)))
	timeout := int32(c.u32(8))
	var h Headers
	for _, p := range pairs {
		h.Add(p[0], p[1])
	}
	c.show("%q, %s %s, %d bytes, %d pairs, %d", cluster, h.Get(":method"), h.Get(":path"), len(body), len(trailers), timeout)
	c.setU32(9, 0)
	host := c.vm.h
	if timeout < 0 || host.o.Clusters[cluster] == nil || !h.Has(":path") || !h.Has(":method") || !h.Has(":authority") {
		return StatusBadArgument
	}
	if body != "" {
		h.put("content-length", strconv.Itoa(len(body)))
	}
	h.put("x-envoy-internal", "true")
	if !h.Has(":scheme") {
		h.put(":scheme", "http")
	}
	c.vm.nextHTTPCall += 4
	o := &callout{root: c.ctx().root, token: c.vm.nextHTTPCall, synchronous: true}
	route := &Route{Cluster: cluster, Timeout: time.Duration(timeout) * time.Millisecond}
	o.router = &router{h: host, owner: o, route: route, callout: true}
	o.root.calls[o.token] = o
	o.router.headers(&h, body == "")
	if body != "" {
		o.router.data([]byte(body), true)
	}
	o.synchronous = false
	if o.failed {
		delete(o.root.calls, o.token)
		return StatusInternalFailure
	}
	c.setU32(9, o.token)
	return c.got("%d", o.token)
}

func (o *callout) routed(*Exchange)  {}
func (o *callout) attempted(int)     {}
func (o *callout) routerFlags(Flags) {}

// routerReply is an answer that Envoy makes up, unless the response has begun:
// then the call fails without one.
func (o *callout) routerReply(r localReply, _ Flags) {
	if o.synchronous {
		o.failed = true
		return
	}
	if o.answer.headers != nil {
		o.fail()
		return
	}
	h := Headers{{":status", strconv.Itoa(r.status)}}
	if r.body != "" {
		h.Add("content-length", strconv.Itoa(len(r.body)))
		h.Add("content-type", "text/plain")
	}
	for _, p := range r.headers {
		h.Add(p[0], p[1])
	}
	o.answer = callAnswer{headers: h, body: []byte(r.body)}
	o.deliver()
}

func (o *callout) routerHeaders(h Headers, end bool) {
	o.answer.headers = h
	if end {
		o.deliver()
	}
}

func (o *callout) routerData(b []byte, end bool) {
	o.answer.body = append(o.answer.body, b...)
	if len(o.answer.body) > maxCallBody {
		o.router.abort()
		o.fail()
		return
	}
	if end {
		o.deliver()
	}
}

func (o *callout) routerTrailers(t Headers) {
	o.answer.trailers = &t
	o.deliver()
}

// deliver calls the root context with the answer.
func (o *callout) deliver() {
	x := o.root
	if o.over || x.calls[o.token] != o {
		return
	}
	o.over = true
	v := x.vm
	trailers := 0
	if o.answer.trailers != nil {
		trailers = len(*o.answer.trailers)
	}
	x.answer = &o.answer
	v.after = append(v.after, func() {
		x.answer = nil
		delete(x.calls, o.token)
	})
	x.callback(o.token, len(o.answer.headers), len(o.answer.body), trailers)
}

// fail calls the root context without an answer.
func (o *callout) fail() {
	x := o.root
	if o.over || x.calls[o.token] != o {
		return
	}
	o.over = true
	x.statusCode, x.statusMessage = uint32(StatusBrokenConnection), "reset"
	x.vm.after = append(x.vm.after, func() {
		x.statusMessage = ""
		delete(x.calls, o.token)
	})
	x.callback(o.token, 0, 0, 0)
}

// callback calls proxy_on_http_call_response. A trap in it answers nobody.
func (x *fctx) callback(token uint32, headers, body, trailers int) {
	const name = "proxy_on_http_call_response"
	if x.vm.failed || !x.vm.has(name) {
		return
	}
	defer x.vm.afterCall()
	x.vm.invoke(x, name, fmt.Sprintf("token=%d, headers=%d, body=%d, trailers=%d", token, headers, body, trailers), nil,
		uint64(token), uint64(headers), uint64(body), uint64(trailers))
}

// cancelCalls gives up the calls of a root context that ends: no callback comes.
func (x *fctx) cancelCalls() {
	for _, o := range x.calls {
		o.over = true
		o.router.abort()
	}
	for _, g := range x.grpcCalls {
		g.cancel()
	}
}
