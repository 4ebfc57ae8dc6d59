package host

import (
	"strconv"
	"time"

	"github.com/oncewall/oncewall/testenv/host/abi"
)

func init() {
	define("env", "proxy_grpc_call", "iiiiiiiiiiii", startGRPCCall)
	define("env", "proxy_grpc_stream", "iiiiiiiii", startGRPCStream)
	define("env", "proxy_grpc_send", "iiii", grpcSend)
	define("env", "proxy_grpc_close", "i", grpcClose)
	define("env", "proxy_grpc_cancel", "i", grpcCancel)
}

// grpcCluster is the cluster that a service names: a GrpcService message with
// envoy_grpc.cluster_name, or the name itself.
func grpcCluster(service string) string {
	if f, ok := protoFields([]byte(service)); ok && f[1] != nil {
		if g, ok := protoFields(f[1]); ok && g[1] != nil {
			return string(g[1])
		}
	}
	return service
}

func (c *call) startGRPC(stream bool, timeout time.Duration) (*grpcCall, Status) {
	cluster, service, method := grpcCluster(c.str(0)), c.str(2), c.str(4)
	pairs, _ := abi.DecodePairs([]byte(c.str(6)))
	c.show("%q, %s/%s, %d pairs", cluster, service, method, len(pairs))
	v := c.vm
	if v.h.o.Clusters[cluster] == nil {
		return nil, StatusParseFailure
	}
	g := &grpcCall{root: c.ctx().root, stream: stream, synchronous: true}
	if stream {
		v.nextGRPCStream += 4
		g.token = v.nextGRPCStream
	} else {
		v.nextGRPCCall += 4
		g.token = v.nextGRPCCall
	}
	h := H(":method", "POST", ":path", "/"+service+"/"+method, ":authority", cluster, ":scheme", "http",
		"te", "trailers")
	if timeout > 0 {
		h.Add("grpc-timeout", strconv.FormatInt(timeout.Milliseconds(), 10)+"m")
	}
	h.Add("content-type", "application/grpc")
	for _, p := range pairs {
		h.Add(p[0], p[1])
	}
	h.put("x-envoy-internal", "true")
	g.router = &router{h: v.h, owner: g, callout: true, route: &Route{Cluster: cluster, Timeout: timeout}}
	g.root.grpcCalls[g.token] = g
	g.router.headers(&h, false)
	g.synchronous = false
	if g.failed {
		// Envoy tells of the failure twice: here, and by a close with the token that
		// the filter was not given.
		g.end()
		v.after = append(v.after, func() { g.close(14, "") })
		return nil, StatusInternalFailure
	}
	return g, StatusOK
}

// startGRPCCall is proxy_grpc_call: a unary call of the root context, answered by
// proxy_on_grpc_receive, or proxy_on_grpc_close where it fails.
//
//	in   service (cluster name, or a GrpcService message), service name, method,
//	     metadata pairs, message, each by address and size; timeout in ms
//	out  token, 32 bits
//
// OK; parse failure: unknown cluster; internal failure: no healthy host.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_grpc_call
func startGRPCCall(c *call) Status {
	message := c.str(8)
	g, st := c.startGRPC(false, time.Duration(c.u32(10))*time.Millisecond)
	if st != StatusOK {
		return st
	}
	g.router.data(frame([]byte(message)), true)
	c.setU32(11, g.token)
	return c.got("%d", g.token)
}

// startGRPCStream is proxy_grpc_stream: like a call, without message and
// timeout. Its callbacks are those of metadata, messages and the close.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_grpc_stream
func startGRPCStream(c *call) Status {
	g, st := c.startGRPC(true, 0)
	if st != StatusOK {
		return st
	}
	c.setU32(8, g.token)
	return c.got("%d", g.token)
}

// grpcOf finds what a token stands for. Tokens of calls are 1, and those of
// streams 2, modulo 4.
func (c *call) grpcOf(token uint32) (*grpcCall, Status) {
	if k := token & 3; k != 1 && k != 2 {
		return nil, StatusBadArgument
	}
	g := c.ctx().root.grpcCalls[token]
	if g == nil {
		return nil, StatusNotFound
	}
	return g, StatusOK
}

// grpcSend is proxy_grpc_send: a message on a stream.
//
//	in   token; message by address and size; whether it is the last
//
// OK; bad argument: no stream's token; not found.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_grpc_send
func grpcSend(c *call) Status {
	message := c.str(1)
	c.show("%d, %d bytes, %d", c.u32(0), len(message), c.u32(3))
	if c.u32(0)&3 != 2 {
		return StatusBadArgument
	}
	g, st := c.grpcOf(c.u32(0))
	if st == StatusOK {
		g.router.data(frame([]byte(message)), c.u32(3) != 0)
	}
	return st
}

// grpcClose is proxy_grpc_close: ends the filter's side of a stream, or gives a
// call up.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_grpc_close
func grpcClose(c *call) Status {
	c.show("%d", c.u32(0))
	g, st := c.grpcOf(c.u32(0))
	if st != StatusOK {
		return st
	}
	switch {
	case !g.stream:
		g.cancel()
	case g.closed:
		g.end()
	default:
		g.localClosed = true
		g.router.data(nil, true)
	}
	return StatusOK
}

// grpcCancel is proxy_grpc_cancel: gives a call or stream up; no callback comes.
//
// https://github.com/proxy-wasm/spec/tree/main/abi-versions/v0.2.1#proxy_grpc_cancel
func grpcCancel(c *call) Status {
	c.show("%d", c.u32(0))
	g, st := c.grpcOf(c.u32(0))
	if st == StatusOK {
		g.cancel()
	}
	return st
}
