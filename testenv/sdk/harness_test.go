package sdk

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// inHarness runs requests in testenv/host, one host for each filter. What it
// has no way for is two programs' VMs in one host: a queue between them.
type inHarness struct{ hosts map[string]*host.Host }

func (p *inHarness) do(t *testing.T, a ask) (answer message, reached *message) {
	t.Helper()
	r := host.Request{Path: a.path, Headers: headersOf(a.headers), Body: []byte(a.body), Trailers: headersOf(a.trailers), HTTP2: true}
	if a.body != "" {
		r.Method = http.MethodPost
	}
	h := p.hosts[a.filter]
	s := h.Request(r)
	h.Advance(time.Second)
	if !s.Done() {
		t.Fatal("no answer: the stream hangs")
	}
	got := s.Response()
	answer = message{status: got.Status, headers: headerOf(got.Headers), trailers: headerOf(got.Trailers),
		body: string(got.Body), cut: !got.Complete}
	if x := s.Upstream(); x != nil {
		reached = seenBy(x)
	}
	return answer, reached
}

func seenBy(x *host.Exchange) *message {
	return &message{headers: headerOf(x.Headers), trailers: headerOf(x.Trailers), body: string(x.Body)}
}

func (p *inHarness) logged(t *testing.T, text string) {
	t.Helper()
	for _, h := range p.hosts {
		if strings.Contains(h.LogText(), text) {
			return
		}
	}
	t.Errorf("no log has %q", text)
}

// headersOf gives the lines in an order that does not change.
func headersOf(h http.Header) (out host.Headers) {
	for k, lines := range h {
		for _, v := range lines {
			out.Add(strings.ToLower(k), v)
		}
	}
	slices.SortStableFunc(out, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

func headerOf(h host.Headers) http.Header {
	out := http.Header{}
	for _, l := range h {
		out.Add(l[0], l[1])
	}
	return out
}

// answerAs plays upstream.
func answerAs(x *host.Exchange) {
	headers, trailers, body := reply(x.Headers.Get(":path"), *seenBy(x))
	x.SendHeaders(200, headersOf(headers), false)
	x.Send([]byte(body), trailers == nil)
	if trailers != nil {
		x.SendTrailers(headersOf(trailers))
	}
}

// newHost loads one of the filters.
func newHost(t *testing.T, program, vmConfig, config string, env map[string]string) *host.Host {
	t.Helper()
	code, err := os.ReadFile(wasm[program])
	if err != nil {
		t.Fatal(err)
	}
	binary, err := host.Compile(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { binary.Close(context.Background()) })
	trace := host.LogTrace
	h, err := host.New(t.Context(), host.Options{
		Binary: binary, T: t, LogLevel: &trace, Env: env,
		VMID: vmConfig, VMConfig: []byte(vmConfig), PluginConfig: []byte(config),
		Clusters: map[string]*host.Cluster{"upstream": {HTTP2: true, Handle: answerAs}},
		Route:    host.Route{Metadata: map[string]map[string]any{"sdk": {"colour": "blue"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestCollector runs the requests of one filter while the collector runs all
// the time: what the host has written must stay until it is read.
func TestCollector(t *testing.T) {
	h := newHost(t, "http", "", "http", map[string]string{"GOGC": "1"})
	h.Trace().Off()
	p := &inHarness{hosts: map[string]*host.Host{"http": h}}
	for range 100 {
		for _, c := range tests {
			if c.filter == "http" {
				c.log = ""
				c.run(t, p)
			}
		}
	}
}

// TestHarness runs the tests of HTTP filters in the harness.
func TestHarness(t *testing.T) {
	p := &inHarness{hosts: map[string]*host.Host{
		"http":     newHost(t, "http", "", "http", nil),
		"receiver": newHost(t, "shared", "receiver", "first", nil),
		"panics":   newHost(t, "panics", "", "http", nil),
	}}
	runTests(t, p, "http", "receiver", "panics")
	t.Run("who is refused", func(t *testing.T) { whoIsRefused(t, p.hosts["panics"]) })
	t.Run("end of a plugin", func(t *testing.T) {
		h := p.hosts["receiver"]
		if err := h.Reconfigure([]byte("third")); err != nil {
			t.Fatal(err)
		}
		h.Drain()
		h.Advance(time.Second)
		p.logged(t, "leaving first")
		if !slices.Contains(h.Trace().Callbacks("worker0"), "proxy_on_delete(ctx=1)") {
			t.Error("the plugin context is not deleted after proxy_done")
		}
		if err := h.Reconfigure([]byte("refuse")); err == nil {
			t.Error("a refused configuration is in use")
		}
	})
	t.Run("coverage", func(t *testing.T) {
		var lines strings.Builder
		for _, h := range p.hosts {
			lines.WriteString(h.Trace().String())
		}
		covered(t, onlyEnvoy, func(call string) bool { return strings.Contains(lines.String(), "< "+call+"(") },
			func(callback string) bool { return strings.Contains(lines.String(), "> "+callback+"(") })
	})
}

// onlyEnvoy are the parts of the interface that the harness has no way to show:
// TCP, and memory, which it allocates without a line in the trace.
var onlyEnvoy = []string{
	"proxy_close_stream", "proxy_on_new_connection", "proxy_on_downstream_data", "proxy_on_upstream_data",
	"proxy_on_downstream_connection_close", "proxy_on_upstream_connection_close", "proxy_on_memory_allocate",
}

// whoIsRefused checks which paused streams a panic costs: one in a callout's
// callback the stream that asked, one in a tick all, and none that has ended.
func whoIsRefused(t *testing.T, h *host.Host) {
	waiting := h.Request(host.Request{Path: "/wait"})
	other := h.Request(host.Request{Path: "/callout"})
	if other.Response().Status != 500 || waiting.Done() {
		t.Fatalf("after a callout's panic: the asking stream got %d, the other one ended: %v", other.Response().Status, waiting.Done())
	}
	h.Request(host.Request{Path: "/tick"})
	h.Advance(time.Second)
	if waiting.Response().Status != 500 {
		t.Errorf("after a tick's panic: a paused stream got %d, want 500", waiting.Response().Status)
	}
}
