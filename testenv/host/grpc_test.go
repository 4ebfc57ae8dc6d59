package host_test

import (
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

func grpcCluster(o *host.Options) { o.Clusters["grpc"] = &host.Cluster{HTTP2: true} }

// A unary call is answered by its message, or closed with its status.
func TestGRPCCall(t *testing.T) {
	s := start(t, grpcCluster, config("grecv=buf:5:0:99;gclose=status"))
	s.get("rqh=gcall:grpc:question,gcall:none:x,1")
	s.saw(`proxy_grpc_call("none", svc/Method, 0 pairs) = parse_failure`)
	x := s.Pending("grpc")[0]
	if x.Headers.Get(":path") != "/svc/Method" || string(x.Messages()[0]) != "question" || !x.Ended {
		t.Fatalf("%+v", x)
	}
	x.SendHeaders(200, host.H("content-type", "application/grpc"), false)
	x.SendMessage([]byte("answer"))
	x.SendTrailers(host.H("grpc-status", "0"))
	s.saw("proxy_get_buffer_bytes(grpc_message, 0, 99) = ok 6 bytes")
	s.callbacks(create, rqh, "proxy_on_grpc_receive(ctx=1, token=5, size=6)")

	s.get("rqh=gcall:grpc:question,1")
	s.Pending("grpc")[0].SendHeaders(200, host.H("content-type", "application/grpc", "grpc-status", "5", "grpc-message", "not%20here"), true)
	s.saw(`proxy_get_status() = ok 5 "not here{via_upstream}"`)
	s.saw("proxy_on_grpc_close(ctx=1, token=9, status=5)")
}

// A stream: metadata, messages both ways, trailing metadata, close.
func TestGRPCStream(t *testing.T) {
	s := start(t, grpcCluster, config("ginit=get:4:x-m;gtrail=get:5:x-t"))
	s.get("rqh=gstream:grpc,gsend:last:one:0,gsend:last:two:1,gsend:4:x:0,gclose:99,gclose:97,gcancel:8,1")
	s.saw("proxy_grpc_send(4, 1 bytes, 0) = bad_argument")
	s.saw("proxy_grpc_close(99) = bad_argument")
	s.saw("proxy_grpc_close(97) = not_found")
	s.saw("proxy_grpc_cancel(8) = bad_argument")
	x := s.Pending("grpc")[0]
	if m := x.Messages(); len(m) != 2 || string(m[1]) != "two" || !x.Ended {
		t.Fatalf("%q", m)
	}
	x.SendHeaders(200, host.H("x-m", "1"), false)
	x.SendMessage([]byte("a"))
	x.SendMessage([]byte("bc"))
	x.SendTrailers(host.H("grpc-status", "0", "x-t", "2"))
	s.saw(`proxy_get_header_map_value(grpc_initial, "x-m") = ok "1"`)
	s.saw(`proxy_get_header_map_value(grpc_trailing, "x-t") = ok "2"`)
	s.callbacks(create, rqh, "proxy_on_grpc_receive_initial_metadata(ctx=1, token=6", "proxy_on_grpc_receive(ctx=1, token=6, size=1)",
		"proxy_on_grpc_receive(ctx=1, token=6, size=2)", "proxy_on_grpc_receive_trailing_metadata(ctx=1, token=6", "proxy_on_grpc_close(ctx=1, token=6, status=0)")
}

// A cancelled call has no callback, and its request is reset.
func TestGRPCCancel(t *testing.T) {
	s := start(t, grpcCluster)
	s.get("rqh=gstream:grpc,gcancel:last,1")
	if n := len(s.Pending("grpc")); n != 0 {
		t.Fatal(n)
	}
	s.callbacks(create, rqh)
}

// A call to a cluster without hosts fails at once, and is closed besides with a
// token that the filter was never given; the status stays.
func TestGRPCWithoutHosts(t *testing.T) {
	s := start(t, func(o *host.Options) { o.Clusters["empty"] = &host.Cluster{NoHosts: true} })
	s.get("rqh=gcall:empty:x,status,1")
	s.saw(`proxy_grpc_call("empty", svc/Method, 0 pairs) = internal_failure`)
	s.callbacks(create, rqh, "proxy_on_grpc_close(ctx=1, token=5, status=14)")
	s.get("rqh=status,1")
	s.saw(`proxy_get_status() = ok 14 ""`)
}
