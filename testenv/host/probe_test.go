package host_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

var outDir = filepath.Join("..", "..", "build", "out")

// probe is the scriptable filter of testdata/probe, built and compiled once.
var probe = sync.OnceValues(func() (*host.Binary, error) {
	wasm := filepath.Join(outDir, "probe.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", wasm, "./testdata/probe")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	code, err := os.ReadFile(wasm)
	if err != nil {
		return nil, err
	}
	return host.Compile(context.Background(), code, host.CompileOptions{CacheDir: filepath.Join(outDir, "wazero-cache")})
})

// scene is one Envoy with the probe.
type scene struct {
	*host.Host
	t *testing.T
}

// start makes a scene with an upstream that answers 200 "ok" and a bridge that
// answers nothing; change alters its options.
func start(t *testing.T, change ...func(*host.Options)) *scene {
	t.Helper()
	bin, err := probe()
	if err != nil {
		t.Fatal(err)
	}
	o := host.Options{T: t, Binary: bin, Clusters: map[string]*host.Cluster{
		"upstream": host.Answer(200, "ok"),
		"bridge":   {HTTP2: true},
	}}
	for _, f := range change {
		f(&o)
	}
	h, err := host.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	h.Trace().Reset()
	return &scene{h, t}
}

func allowStop(o *host.Options) { o.AllowOnHeadersStopIteration = true }

func limit(n int) func(*host.Options) { return func(o *host.Options) { o.BufferLimit = n } }

func config(c string) func(*host.Options) {
	return func(o *host.Options) { o.PluginConfig = []byte(c) }
}

func upstream(c *host.Cluster) func(*host.Options) {
	return func(o *host.Options) { o.Clusters["upstream"] = c }
}

func bridgeCluster(c *host.Cluster) func(*host.Options) {
	return func(o *host.Options) { o.Clusters["bridge"] = c }
}

// get sends a GET with a script; post a POST whose body is complete; open a POST
// whose body follows.
func (s *scene) get(script string) *host.Stream {
	return s.Request(host.Request{Headers: host.H("x-probe", script)})
}

func (s *scene) post(script, body string) *host.Stream {
	return s.Request(host.Request{Method: "POST", Headers: host.H("x-probe", script), Body: []byte(body)})
}

func (s *scene) open(script string) *host.Stream {
	return s.Request(host.Request{Method: "POST", Headers: host.H("x-probe", script), Open: true})
}

// callbacks checks the callbacks on the worker since the last look, by the
// prefix of each.
func (s *scene) callbacks(want ...string) {
	s.t.Helper()
	got := s.Trace().Callbacks("worker0")
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		s.t.Fatalf("callbacks\n\t%s\nwant\n\t%s\ntrace\n%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"), s.Trace())
	}
	s.Trace().Reset()
}

// saw checks that the trace has a line with all of these texts, in one line.
func (s *scene) saw(parts ...string) {
	s.t.Helper()
	for _, e := range s.Trace().Entries() {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(e.Text, p) }) {
			return
		}
	}
	s.t.Fatalf("no line with %q in\n%s", parts, s.Trace())
}

// ended checks the client's side and the access log's.
func ended(t *testing.T, s *host.Stream, status int, body, details string, flags string) {
	t.Helper()
	r := s.Response()
	if r.Status != status || body != "*" && string(r.Body) != body || s.Details() != details || s.Flags().String() != flags || !s.Done() {
		t.Fatalf("got %d %q %q %s done=%t reset=%q, want %d %q %q %s", r.Status, cut(r.Body), s.Details(), s.Flags(), s.Done(), r.Reset,
			status, body, details, flags)
	}
}

func cut(b []byte) []byte { return b[:min(len(b), 80)] }

// streamEnd are the callbacks that end every stream, in their order.
var streamEnd = []string{"proxy_on_log(ctx=2", "proxy_on_done(ctx=2", "proxy_on_delete(ctx=2"}

func then(first ...string) []string { return append(first, streamEnd...) }

const (
	create = "proxy_on_context_create(ctx=2, root=1)"
	rqh    = "proxy_on_request_headers(ctx=2"
	rqb    = "proxy_on_request_body(ctx=2"
	rqt    = "proxy_on_request_trailers(ctx=2"
	rsh    = "proxy_on_response_headers(ctx=2"
	rsb    = "proxy_on_response_body(ctx=2"
	rst    = "proxy_on_response_trailers(ctx=2"
	cb     = "proxy_on_http_call_response(ctx=1"
)
