package tracing

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/testenv/collector"
)

// begin is a request's context, sampled or not, whose trace ID ends in n.
func begin(n uint64, sampled bool) context.Context {
	c := trace.SpanContextConfig{Remote: true, SpanID: trace.SpanID{1}}
	copy(c.TraceID[:], fmt.Sprintf("%016x", n)[:16])
	for i := range 8 {
		c.TraceID[8+i] = byte(n >> (56 - 8*i))
	}
	if sampled {
		c.TraceFlags = trace.FlagsSampled
	}
	return trace.ContextWithRemoteSpanContext(context.Background(), trace.NewSpanContext(c))
}

func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20s", what)
		}
	}
}

type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func value(t *testing.T, reg *prometheus.Registry, name, result string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == name && (result == "" || m.Label[0].GetValue() == result) {
				return m.Counter.GetValue()
			}
		}
	}
	return -1
}

// TestExport: spans arrive with the headers that are configured and none that the
// environment names; a collector that is away costs its spans, is logged once per
// change and shown, and the next spans get through again.
func TestExport(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-stray=1")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	for protocol, run := range map[Protocol]func() (*collector.Collector, error){GRPC: collector.GRPC, HTTP: collector.HTTP} {
		t.Run(string(protocol), func(t *testing.T) {
			c, err := run()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			reg, out := prometheus.NewRegistry(), &logs{}
			e, err := Start(Config{
				Endpoint: c.Endpoint, Protocol: protocol, Ratio: 1, Every: 10 * time.Millisecond, Version: "v1",
				Headers: map[string]string{"x-tenant": "blue"}, Log: slog.New(slog.NewJSONHandler(out, nil)), Registry: reg,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(t.Context())
			span := func() {
				_, s := e.Tracer().Start(begin(1, true), "s")
				s.End()
			}
			state := func() health.State { return health.Check(t.Context(), []health.Part{e.Part()}).State }
			span()
			poll(t, "a span", func() bool { return len(c.Spans()) == 1 })
			if got := c.Header("x-tenant"); len(got) != 1 || got[0] != "blue" || len(c.Header("x-stray")) != 0 {
				t.Errorf("headers x-tenant %q, x-stray %q", got, c.Header("x-stray"))
			}
			if s := c.Spans()[0]; s.Resource["service.name"] != ServiceName || s.Resource["service.version"] != "v1" {
				t.Errorf("%+v", s)
			}
			c.Away(true)
			for i := range 3 {
				span()
				poll(t, "a failure", func() bool { return value(t, reg, "oncewall_bridge_spans_exported_total", "failed") == float64(i+1) })
			}
			if state() != health.Degraded {
				t.Errorf("state %s with a collector that refuses", state())
			}
			c.Away(false)
			span()
			poll(t, "spans get through again", func() bool { return len(c.Spans()) == 2 && state() == health.OK })
			text := out.String()
			if strings.Count(text, "spans are not exported") != 1 || strings.Count(text, "spans are exported again") != 1 {
				t.Errorf("logged: %s", text)
			}
			if strings.Contains(text, "blue") {
				t.Error("a header's value is in the log")
			}
			if got := value(t, reg, "oncewall_bridge_spans_ended_total", ""); got != 5 {
				t.Errorf("%v spans ended, want 5", got)
			}
		})
	}
}

// TestSampling: requests that are not sampled get no span, of the others the share
// that is asked for, and another bridge would choose the same.
func TestSampling(t *testing.T) {
	chosen := func(ratio float64) map[uint64]bool {
		e, err := Start(Config{Endpoint: "http://127.0.0.1:1", Protocol: HTTP, Ratio: ratio, Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			e.Close(ctx)
		}()
		got := map[uint64]bool{}
		for i := range uint64(1000) {
			n := i * 0x9E3779B97F4A7C15 // spread over the numbers
			for _, sampled := range []bool{true, false} {
				_, s := e.Tracer().Start(begin(n, sampled), "s")
				if s.IsRecording() && !sampled {
					t.Fatal("a span of a request that is not sampled")
				}
				if s.IsRecording() {
					got[n] = true
				}
				s.End()
			}
		}
		return got
	}
	if n := len(chosen(1)); n != 1000 {
		t.Errorf("%d of 1000 with ratio 1", n)
	}
	if n := len(chosen(0)); n != 0 {
		t.Errorf("%d of 1000 with ratio 0", n)
	}
	first, second := chosen(0.25), chosen(0.25)
	if n := len(first); n < 200 || n > 300 {
		t.Errorf("%d of 1000 with ratio 0.25", n)
	}
	for n := range first {
		if !second[n] {
			t.Fatal("two bridges choose differently")
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, endpoint := range []string{"", "collector:4317", "ftp://collector:1", "http://", "://"} {
		if _, err := Start(Config{Endpoint: endpoint, Protocol: GRPC}); err == nil {
			t.Errorf("%q is accepted", endpoint)
		}
	}
}
