package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/oncewall/oncewall/testenv/story"
)

// bytesCodec leaves messages as they are.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), b...)
	return nil
}
func (bytesCodec) Name() string { return "proto" }
func (a *around) executions(t *testing.T, key string) int {
	t.Helper()
	x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return x.Count
}

// grpc: a unary call runs once, and a gRPC library understands what a repeat is
// told.
func (a *around) grpc(t *testing.T) {
	conn, err := grpc.NewClient("passthrough:///"+a.Gateway(0), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	call := func(key, message string, more ...string) error {
		ctx, cancel := context.WithTimeout(t.Context(), rawLimit)
		defer cancel()
		ctx = metadata.AppendToOutgoingContext(ctx, append([]string{"x-user-id", "ada", "idempotency-key", key}, more...)...)
		in, out := []byte(message), []byte(nil)
		err := conn.Invoke(ctx, "/shop.Shop/Order", &in, &out)
		if err == nil && len(out) == 0 {
			t.Errorf("an empty reply to %s", key)
		}
		return err
	}
	told := func(what string, err error, code codes.Code, reason string, meta map[string]string) {
		t.Helper()
		st := grpcstatus.Convert(err)
		var info *errdetails.ErrorInfo
		retry := false
		for _, d := range st.Details() {
			switch d := d.(type) {
			case *errdetails.ErrorInfo:
				info = d
			case *errdetails.RetryInfo:
				retry = d.RetryDelay.AsDuration() > 0
			}
		}
		if st.Code() != code || info.GetReason() != reason || info.GetDomain() != "oncewall" || retry != (code == codes.Aborted) || strings.HasPrefix(st.Message(), "{") {
			t.Errorf("%s: %v %q, details %v", what, st.Code(), st.Message(), st.Details())
		}
		for k, v := range meta {
			if info.GetMetadata()[k] != v {
				t.Errorf("%s: %v, want %s=%s", what, info.GetMetadata(), k, v)
			}
		}
	}
	key := a.key()
	if err := call(key, "m"); err != nil {
		t.Fatal(err)
	}
	told("executed", call(key, "m"), codes.AlreadyExists, "RESPONSE_NOT_KEPT", map[string]string{"original_status": "200", "http_status": "409"})
	told("another message", call(key, "n"), codes.InvalidArgument, "KEY_REUSED", map[string]string{"parts": "body"})
	if n := a.executions(t, key); n != 1 {
		t.Errorf("ran %d times", n)
	}

	key = a.key()
	slow := make(chan error, 1)
	go func() { slow <- call(key, "m", "x-shop-delay", "1500ms") }()
	eventually(t, "the call to run", 10*time.Second, func() bool { return a.executions(t, key) == 1 })
	told("in flight", call(key, "m"), codes.Aborted, "IN_FLIGHT", nil)
	if err := <-slow; err != nil {
		t.Error(err)
	}

	// A call that failed in the application has been executed; one whose stream
	// was reset may have been.
	key = a.key()
	if err := call(key, "m", "x-shop-status", "500"); grpcstatus.Code(err) != codes.Unknown {
		t.Errorf("failed: %v", err)
	}
	told("failed", call(key, "m"), codes.AlreadyExists, "RESPONSE_NOT_KEPT", nil)
	key = a.key()
	if err := call(key, "m", "x-shop-fault", "rst"); err == nil {
		t.Error("a reset stream has an answer")
	}
	told("reset", call(key, "m"), codes.Aborted, "OUTCOME_UNKNOWN", nil)
	if n := a.executions(t, key); n != 1 {
		t.Errorf("ran %d times", n)
	}
}

// open sends a request and returns the connection once the answer's headers are
// there, whose status must be as said.
func (a *around) open(t *testing.T, status int, path string, lines [][2]string) (net.Conn, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", a.Gateway(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(rawLimit)); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nhost: shop.example\r\ncontent-length: 2\r\n", path)
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\r\n", l[0], l[1])
	}
	if _, err := io.WriteString(conn, b.String()+"\r\n{}"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("status %d, want %d", resp.StatusCode, status)
	}
	return conn, resp
}

// events pass as they come, and so do other streams; the key is known to be
// executed before the first.
func (a *around) events(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "application/x-ndjson"} {
		t.Run(kind, func(t *testing.T) { a.eventsOf(t, kind) })
	}
}

func (a *around) eventsOf(t *testing.T, kind string) {
	c := door(t, a.Stack)
	key := a.key()
	const n, apart = 5, 700 * time.Millisecond
	knobs := [][2]string{{"x-shop-events", fmt.Sprintf("%d,%s", n, apart)}, {"x-shop-header", "content-type: " + kind}}
	_, resp := a.open(t, 201, "/orders", order(key, knobs...))
	br := bufio.NewReader(resp.Body)
	line, err := br.ReadString('\n')
	if err != nil || line != "id: 1\n" || resp.Header.Get("Content-Type") != kind {
		t.Fatalf("%q, %v", line, err)
	}
	first := time.Now()
	// The stream is open, and a repeat is told so: never "in flight" without end.
	again := c.Send(t.Context(), story.Post("/orders", key).Body("{}").With(knobs[0][0], knobs[0][1]))
	wantKind(t, "repeat while events come", again, "409 response-not-kept")
	rest, err := io.ReadAll(br)
	if err != nil || strings.Count(string(rest), "id: ") != n-1 {
		t.Errorf("%d more events, %v", strings.Count(string(rest), "id: "), err)
	}
	if open := time.Since(first); open < (n-2)*apart {
		t.Errorf("the first event came %s before the end: it was held", open)
	}
	wantRuns(t, a.Stack, key, 1)
}

// cut: an answer that ends early never becomes a result, and its request never
// runs again.
func (a *around) cut(t *testing.T) {
	for _, p := range []struct {
		name     string
		protocol story.Protocol
	}{{"h1", story.HTTP1}, {"h2c", story.HTTP2}} {
		c := client(t, a.Gateway(0), p.protocol)
		for _, v := range []struct {
			name  string
			knobs [][2]string
			retry string
		}{
			{"shorter than it said", nil, "409 outcome-unknown"},
			{"between chunks", [][2]string{{"x-shop-chunked", "1"}, {"x-shop-body-bytes", "100000"}}, "409 outcome-unknown"},
			{"too large to be kept", [][2]string{{"x-shop-body-bytes", "3000000"}}, "409 response-not-kept"},
			{"too large, in chunks", [][2]string{{"x-shop-chunked", "1"}, {"x-shop-body-bytes", "3000000"}}, "409 response-not-kept"},
			{"events", [][2]string{{"x-shop-events", "6,10ms"}}, "409 response-not-kept"},
		} {
			t.Run(p.name+"/"+v.name, func(t *testing.T) {
				r, key := a.post("/orders")
				for _, k := range v.knobs {
					r = r.With(k[0], k[1])
				}
				if got := c.Send(t.Context(), r.With("x-shop-fault", "half")); got.Err == nil && got.Status < 500 {
					t.Errorf("half an answer looks whole: %s", got)
				}
				wantKind(t, "retry", c.Send(t.Context(), r), v.retry)
				wantRuns(t, a.Stack, key, 1)
			})
		}
	}
}

// rss is the memory that a process has resident, in bytes.
func rss(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// slowReader: large answers wait at the backend for clients that do not read, not
// in Envoy and not in the filter.
func (a *around) slowReader(t *testing.T) {
	const clients, size = 8, 50_000_000
	pid := a.PID("gateway")
	before := rss(t, pid)
	var bodies []*http.Response
	var keys []string
	for range clients {
		key := a.key()
		_, resp := a.open(t, 201, "/orders", order(key, [2]string{"x-shop-body-bytes", strconv.Itoa(size)}))
		bodies, keys = append(bodies, resp), append(keys, key)
	}
	// What Envoy takes without being asked for more: a repeat of each, and then
	// some, has gone by meanwhile.
	c := door(t, a.Stack)
	for range 20 {
		for _, key := range keys {
			r := story.Post("/orders", key).Body("{}").With("x-shop-body-bytes", strconv.Itoa(size))
			wantKind(t, "repeat while it passes", c.Send(t.Context(), r), "409 response-not-kept")
		}
	}
	if grown := rss(t, pid) - before; grown > clients*size/4 {
		t.Errorf("Envoy holds %d MB more for %d clients that do not read", grown>>20, clients)
	}
	n, err := io.Copy(io.Discard, bodies[0].Body)
	if err != nil || n != size {
		t.Errorf("%d bytes came, %v", n, err)
	}
	if grown := rss(t, pid) - before; grown > clients*size/4 {
		t.Errorf("Envoy holds %d MB more after one has read", grown>>20)
	}
	for _, key := range keys {
		wantRuns(t, a.Stack, key, 1)
	}
}

// streams: under a rule for streams the request goes on while it comes, and its
// claim lives as long as the call, beyond lease and route timeout.
func (a *around) streams(t *testing.T) {
	c := door(t, a.Stack)
	key := a.key()
	body, end := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 2*rawLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+a.Gateway(0)+"/uploads", body)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range order(key, [2]string{"x-shop-delay", "16s"}) {
		req.Header[l[0]] = []string{l[1]}
	}
	type result struct {
		resp *http.Response
		err  error
	}
	done := make(chan result, 1)
	go func() {
		resp, err := (&http.Transport{}).RoundTrip(req)
		done <- result{resp, err}
	}()
	if _, err := end.Write([]byte("first part")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the request to reach upstream before its end", 10*time.Second, func() bool { return a.executions(t, key) == 1 })
	began := time.Now()
	if _, err := end.Write([]byte("second part")); err != nil {
		t.Fatal(err)
	}
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	repeat := story.Post("/uploads", key)
	eventually(t, "more than a lease to pass", 15*time.Second, func() bool {
		if got := c.Send(t.Context(), repeat); got.Kind() != "409 in-flight" {
			t.Fatalf("after %s: %s", time.Since(began), got)
		}
		return time.Since(began) > 12*time.Second
	})
	r := <-done
	if r.err != nil || r.resp.StatusCode != 201 || r.resp.Header.Get("Idempotency-Status") != "created" {
		t.Fatalf("%+v, %v", r.resp, r.err)
	}
	if err := r.resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "repeat", c.Send(t.Context(), repeat), "409 response-not-kept")
	wantRuns(t, a.Stack, key, 1)
}
