package host

import (
	"encoding/binary"
	"fmt"
	"net/url"
	"strconv"
)

// grpcCall is a gRPC call or stream of a root context. It is an HTTP/2 request
// that takes the router as any other does.
type grpcCall struct {
	root   *fctx
	token  uint32
	stream bool
	router *router

	synchronous, failed bool
	rest                []byte // of the answer, no whole message yet
	message             []byte // of a unary call
	got                 bool
	httpStatus          string
	details             string // response code details
	localClosed, closed bool
}

// frame puts a message behind its prefix: a zero byte, then its size in 4 bytes
// big endian.
func frame(b []byte) []byte {
	f := make([]byte, 5, 5+len(b))
	binary.BigEndian.PutUint32(f[1:], uint32(len(b)))
	return append(f, b...)
}

// splitMessages takes whole messages off a body and gives what is left of it.
func splitMessages(b []byte) (messages [][]byte, rest []byte) {
	for len(b) >= 5 {
		n := uint64(binary.BigEndian.Uint32(b[1:])) + 5
		if uint64(len(b)) < n {
			break
		}
		messages = append(messages, b[5:n])
		b = b[n:]
	}
	return messages, b
}

func (g *grpcCall) routed(*Exchange)  {}
func (g *grpcCall) attempted(int)     {}
func (g *grpcCall) routerFlags(Flags) {}

// routerReply is Envoy's own answer to a gRPC request: its status alone.
func (g *grpcCall) routerReply(r localReply, _ Flags) {
	if g.synchronous {
		g.failed = true
		return
	}
	g.details = r.details
	g.close(grpcStatus(r.status), r.body)
}

func (g *grpcCall) routerHeaders(h Headers, end bool) {
	g.httpStatus, g.details = h.Get(":status"), "via_upstream"
	if end {
		g.trailing(h)
		return
	}
	if g.stream {
		g.root.grpcInitial = &h
		g.event("proxy_on_grpc_receive_initial_metadata", "headers", len(h))
		g.root.grpcInitial = nil
	}
}

func (g *grpcCall) routerData(b []byte, end bool) {
	messages, rest := splitMessages(append(g.rest, b...))
	g.rest = append([]byte(nil), rest...)
	for _, m := range messages {
		if g.stream {
			g.receive(m)
		} else {
			g.message, g.got = append([]byte(nil), m...), true
		}
	}
	if end {
		g.close(2, "")
	}
}

func (g *grpcCall) routerTrailers(t Headers) { g.trailing(t) }

func (g *grpcCall) trailing(t Headers) {
	if g.stream {
		g.root.grpcTrailing = &t
		g.event("proxy_on_grpc_receive_trailing_metadata", "trailers", len(t))
		g.root.grpcTrailing = nil
	}
	code, err := strconv.Atoi(t.Get("grpc-status"))
	if err != nil {
		n, _ := strconv.Atoi(g.httpStatus)
		code = grpcStatus(n)
	}
	message := t.Get("grpc-message")
	if m, err := url.PathUnescape(message); err == nil {
		message = m
	}
	if !g.stream && code == 0 && g.got {
		g.receive(g.message)
		g.end()
		return
	}
	if !g.stream && code == 0 {
		code = 13
	}
	g.close(code, message)
}

func (g *grpcCall) receive(m []byte) {
	g.root.grpcMessage = m
	g.event("proxy_on_grpc_receive", "size", len(m))
	g.root.grpcMessage = nil
}

// close tells of the end. Envoy puts the response code details behind the
// message, in braces where there is one.
func (g *grpcCall) close(code int, message string) {
	if g.closed {
		return
	}
	switch {
	case g.details == "":
	case message == "":
		message = g.details
	default:
		message += "{" + g.details + "}"
	}
	g.closed = true
	g.root.statusCode, g.root.statusMessage = uint32(code), message
	g.event("proxy_on_grpc_close", "status", code)
	g.root.statusMessage = ""
	if !g.stream || g.localClosed {
		g.end()
	}
}

func (g *grpcCall) event(name, what string, n int) {
	if g.failed || g.root.grpcCalls[g.token] == g {
		g.root.event(name, fmt.Sprintf("token=%d, %s=%d", g.token, what, n), uint64(g.token), uint64(n))
	}
}

func (g *grpcCall) end() { delete(g.root.grpcCalls, g.token) }

func (g *grpcCall) cancel() {
	g.end()
	g.router.abort()
}
