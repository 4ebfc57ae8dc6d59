package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/oncewall/oncewall/testenv/stack"
)

// callsRules has a rule for calls of one message and one for streams; /rpc.Open
// has none.
const callsRules = `{
  "namespace": "edge",
  "bridge": {"cluster": "oncewall_bridge", "wait_cluster": "oncewall_bridge_wait", "authority": "oncewall", "timeout": "1s"},
  "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "1MiB"},
  "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "20s",
    "recovery": {"action": "hold", "lease": "60s"}, "unavailable": "reject"},
  "rules": [
    {"name": "calls", "match": {"path": {"prefix": "/rpc.Calls"}}},
    {"name": "streams", "match": {"path": {"prefix": "/rpc.Streams"}}, "streaming": true, "upstream_timeout": "0s",
      "fingerprint": {"body": "none"}, "record": {"body": "none"}}
  ]
}`

const callsPatch = `
static_resources:
  listeners:
  - name: gateway
    filter_chains:
    - name: gateway
      filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          stream_idle_timeout: 8s
          route_config:
            virtual_hosts:
            - name: shop
              routes:
              - name: rpc
                match: {prefix: /rpc.}
                route: {cluster: rpc, timeout: 0s}
              - name: shop
  clusters:
  - name: rpc
    type: STATIC
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment: {cluster_name: rpc, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}]}]}
`

// calls is a gRPC server of every service, and what it has run by key. Methods:
//
//	Echo     answers each message as it comes
//	Collect  answers once, when all messages are here
//	Count    answers one message with three, the later ones when told to go on
type calls struct {
	mu   sync.Mutex
	runs map[string]int
	goOn chan struct{}
}

func (b *calls) count(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[key]
}

func (b *calls) handle(_ any, s grpc.ServerStream) error {
	in, _ := metadata.FromIncomingContext(s.Context())
	b.mu.Lock()
	b.runs[strings.Join(in.Get("idempotency-key"), ",")]++
	b.mu.Unlock()
	method, _ := grpc.MethodFromServerStream(s)
	method = method[strings.LastIndexByte(method, '/')+1:]
	var all []byte
	for {
		var m []byte
		if err := s.RecvMsg(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		all = append(all, m...)
		if method == "Echo" {
			if err := s.SendMsg(&m); err != nil {
				return err
			}
		}
	}
	switch method {
	case "Collect":
		return s.SendMsg(&all)
	case "Count":
		for i := range 3 {
			m := fmt.Append(nil, i)
			if err := s.SendMsg(&m); err != nil {
				return err
			}
			if i == 0 {
				select {
				case <-b.goOn:
				case <-s.Context().Done():
					return s.Context().Err()
				}
			}
		}
	}
	return nil
}

func startCalls(t *testing.T) (*calls, *grpc.ClientConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &calls{runs: map[string]int{}, goOn: make(chan struct{})}
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(b.handle))
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	rules, patch := filepath.Join(t.TempDir(), "rules.json"), filepath.Join(t.TempDir(), "patch.yaml")
	write(t, rules, callsRules)
	write(t, patch, fmt.Sprintf(callsPatch, l.Addr().(*net.TCPAddr).Port))
	s := start(t, stack.Options{Rules: rules, EnvoyPatch: patch})
	conn, err := grpc.NewClient("passthrough:///"+s.Gateway(0), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return b, conn
}

// rpc is one call, both of whose sides may stream.
type rpc struct {
	t *testing.T
	grpc.ClientStream
	end context.CancelFunc
}

func call(t *testing.T, conn *grpc.ClientConn, method, key string) rpc {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), rawLimit)
	t.Cleanup(cancel)
	ctx = metadata.AppendToOutgoingContext(ctx, "x-user-id", "ada", "idempotency-key", key)
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	return rpc{t, s, cancel}
}

func (r rpc) send(m string) {
	r.t.Helper()
	b := []byte(m)
	if err := r.SendMsg(&b); err != nil && !errors.Is(err, io.EOF) { // EOF: RecvMsg tells why
		r.t.Fatal(err)
	}
}

func (r rpc) want(m string) {
	r.t.Helper()
	var b []byte
	if err := r.RecvMsg(&b); err != nil || string(b) != m {
		r.t.Fatalf("%q, %v; want %q", b, err, m)
	}
}

// wantEnd wants no more messages, and a status.
func (r rpc) wantEnd(code codes.Code) {
	r.t.Helper()
	var b []byte
	err := r.RecvMsg(&b)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if got := grpcstatus.Code(err); got != code || len(b) > 0 {
		r.t.Fatalf("%q, %v; want %v", b, err, code)
	}
	r.end()
}

func (r rpc) close() {
	r.t.Helper()
	if err := r.CloseSend(); err != nil {
		r.t.Fatal(err)
	}
}

// TestGRPCStreams: a stream passes as it comes, and runs once where a rule covers
// it; under a rule for calls of one message nothing of it is answered wrong.
func TestGRPCStreams(t *testing.T) {
	t.Parallel()
	b, conn := startCalls(t)
	repeat := func(t *testing.T, method, key string, code codes.Code, messages ...string) {
		t.Helper()
		again := call(t, conn, method, key)
		for _, m := range messages {
			again.send(m)
		}
		again.close()
		again.wantEnd(code)
		if n := b.count(key); n != 1 {
			t.Errorf("%s ran %d times", method, n)
		}
	}
	for _, service := range []string{"/rpc.Streams/", "/rpc.Open/"} {
		covered := service == "/rpc.Streams/"
		t.Run(strings.Trim(service, "/")+"/both", func(t *testing.T) {
			s := call(t, conn, service+"Echo", "echo"+service)
			for i := range 3 {
				s.send(fmt.Sprint("m", i))
				s.want(fmt.Sprint("m", i))
				if covered {
					repeat(t, service+"Echo", "echo"+service, codes.AlreadyExists, "m0")
				}
			}
			s.close()
			s.wantEnd(codes.OK)
			if covered {
				repeat(t, service+"Echo", "echo"+service, codes.AlreadyExists, "m0", "m1", "m2")
			}
		})
		t.Run(strings.Trim(service, "/")+"/client", func(t *testing.T) {
			s := call(t, conn, service+"Collect", "collect"+service)
			s.send("a")
			eventually(t, "the call to run before its end", 10*time.Second, func() bool { return b.count("collect"+service) == 1 })
			if covered {
				repeat(t, service+"Collect", "collect"+service, codes.Aborted, "a")
			}
			s.send("b")
			s.close()
			s.want("ab")
			s.wantEnd(codes.OK)
			if covered {
				repeat(t, service+"Collect", "collect"+service, codes.AlreadyExists, "a", "b")
			}
		})
		t.Run(strings.Trim(service, "/")+"/server", func(t *testing.T) { b.counts(t, conn, service+"Count", covered, repeat) })
	}
	t.Run("rpc.Calls/server", func(t *testing.T) { b.counts(t, conn, "/rpc.Calls/Count", true, repeat) })
	t.Run("rpc.Calls/client", func(t *testing.T) {
		s := call(t, conn, "/rpc.Calls/Collect", "collect")
		s.send("a")
		s.send("b")
		if n := b.count("collect"); n != 0 {
			t.Errorf("ran %d times before all of it was there", n)
		}
		s.close()
		s.want("ab")
		s.wantEnd(codes.OK)
		repeat(t, "/rpc.Calls/Collect", "collect", codes.AlreadyExists, "a", "b")
		repeat(t, "/rpc.Calls/Collect", "collect", codes.InvalidArgument, "a", "c")
	})
	// Who waits for an answer before the end waits in vain: Envoy's timer ends it,
	// nothing has run, and the key is free.
	t.Run("rpc.Calls/both", func(t *testing.T) {
		s := call(t, conn, "/rpc.Calls/Echo", "vain")
		s.send("m")
		s.wantEnd(codes.Unknown) // Envoy's 408
		if n := b.count("vain"); n != 0 {
			t.Fatalf("ran %d times", n)
		}
		s = call(t, conn, "/rpc.Calls/Echo", "vain")
		s.send("m")
		s.close()
		s.want("m")
		s.wantEnd(codes.OK)
		repeat(t, "/rpc.Calls/Echo", "vain", codes.AlreadyExists, "m")
	})
}

// counts: of a stream from the server the first message is there before the next
// is made, and a repeat is told at once that the call has run.
func (b *calls) counts(t *testing.T, conn *grpc.ClientConn, method string, covered bool, repeat func(*testing.T, string, string, codes.Code, ...string)) {
	key := "count" + method
	s := call(t, conn, method, key)
	s.send("x")
	s.close()
	s.want("0")
	if covered {
		repeat(t, method, key, codes.AlreadyExists, "x")
	}
	b.goOn <- struct{}{}
	s.want("1")
	s.want("2")
	s.wantEnd(codes.OK)
	if covered {
		repeat(t, method, key, codes.AlreadyExists, "x")
	}
}
