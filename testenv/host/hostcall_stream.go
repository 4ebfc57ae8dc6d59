package host

import "github.com/oncewall/oncewall/testenv/host/abi"

func init() {
	define("env", "proxy_continue_stream", "i", continueStream)
	define("env", "proxy_close_stream", "i", closeStream)
	define("env", "proxy_send_local_response", "iiiiiiii", sendLocalResponse)
	define("env", "proxy_set_effective_context", "i", setEffectiveContext)
	define("env", "proxy_done", "", proxyDone)
}

var streamTypes = [...]string{"request", "response", "downstream", "upstream"}

func (c *call) streamType() bool {
	if t := c.u32(0); t >= uint32(len(streamTypes)) {
		c.show("%d", t)
		c.misuse("no such stream type")
		return false
	}
	c.show("%s", streamTypes[c.u32(0)])
	return true
}

// continueStream is proxy_continue_stream: goes on with what was paused, once
// the running callback has returned. The filter's hold of the request's headers
// and body ends, whichever side it continued.
//
//	in   0 request, 1 response, 2 downstream, 3 upstream
//
// OK, in a root context and after the stream's end too, without effect;
// unimplemented: upstream; bad argument: no such type.
//
// Continuing what is not paused breaks an assertion of Envoy's and fails the
// test.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_continue_stream
func continueStream(c *call) Status {
	if !c.streamType() {
		return StatusBadArgument
	}
	x := c.ctx()
	switch c.u32(0) {
	case 0, 1:
	case 2:
		if x.conn != nil {
			c.vm.after = append(c.vm.after, x.conn.proceed)
		}
		return StatusOK
	default:
		return StatusUnimplemented
	}
	if s := x.stream; s != nil {
		p := &s.dec
		if c.u32(0) == 1 {
			p = &s.enc
		}
		c.vm.after = append(c.vm.after, p.proceed)
	}
	x.reqHeaders, x.reqBody, x.reqTrailers, x.staleReq = nil, nil, nil, false
	return StatusOK
}

// closeStream is proxy_close_stream: resets the stream once the running callback
// has returned, with code details wasm_close_stream.
//
//	in   0 request, 1 response, 2 downstream, 3 upstream
//
// OK, without effect in a root context; bad argument: no such type.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_close_stream
func closeStream(c *call) Status {
	if !c.streamType() {
		return StatusBadArgument
	}
	if k := c.ctx().conn; k != nil && c.u32(0) >= 2 {
		c.vm.after = append(c.vm.after, func() { k.close(closeLocal) })
	}
	if s := c.ctx().stream; s != nil && c.u32(0) < 2 {
		if s.details == "" {
			s.details = "wasm_close_stream"
		}
		c.vm.after = append(c.vm.after, func() { s.reset("local reset") })
	}
	return StatusOK
}

// sendLocalResponse is proxy_send_local_response: answers the stream from here
// once the running callback has returned, whatever that returns.
//
//	in   status; details, body and header pairs, each by address and size;
//	     gRPC status, -1 for none
//
// OK always; without effect in a root context. Envoy validates nothing: status,
// names, line breaks in values and a body of 204 go out as they are. Pairs that
// cannot be decoded, above 1024 or 1 MiB are no headers.
//
//	proxy_send_local_response(409, "busy", 2 bytes, 1 pairs, -1) = ok
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_send_local_response
func sendLocalResponse(c *call) Status {
	details, body := c.str(1), c.str(3)
	pairs, _ := abi.DecodePairs([]byte(c.str(5)))
	grpc := int32(c.u32(7))
	c.show("%d, %q, %d bytes, %d pairs, %d", c.u32(0), details, len(body), len(pairs), grpc)
	if c.ctx().logging {
		c.misuse("in proxy_on_log: the reply ends the stream, which is logged, until Envoy's stack is full")
		return StatusOK
	}
	if s := c.ctx().stream; s != nil {
		r := localReply{status: int(c.u32(0)), details: spacesToUnderscores(details), body: body, grpc: -1}
		for _, p := range pairs {
			r.headers = append(r.headers, p)
		}
		if grpc >= 0 && grpc <= 16 {
			r.grpc = int(grpc)
		}
		c.vm.after = append(c.vm.after, func() { s.localReply(r) })
	}
	c.vm.stop = true
	return StatusOK
}

// setEffectiveContext is proxy_set_effective_context: later calls of this
// callback act on that context.
//
//	in   context id
//
// OK; bad argument: the context is gone.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_set_effective_context
func setEffectiveContext(c *call) Status {
	c.show("%d", c.u32(0))
	if c.vm.contexts[c.u32(0)] == nil {
		return StatusBadArgument
	}
	c.vm.effective = c.u32(0)
	return StatusOK
}

// proxyDone is proxy_done: the root context that answered proxy_on_done with
// false may be deleted, once the running callback has returned.
//
// OK; not found: the root context is not waiting for this.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_done
func proxyDone(c *call) Status {
	v, p := c.vm, c.ctx().plugin
	root := v.pending[p]
	if root == nil {
		return StatusNotFound
	}
	delete(v.pending, p)
	v.after = append(v.after, root.delete)
	return StatusOK
}
