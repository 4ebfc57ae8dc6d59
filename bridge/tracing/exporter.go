package tracing

import (
	"context"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/credentials"
)

// exporter makes the OTLP client. Every option is given, so that no environment
// variable decides.
func exporter(c *Config, endpoint *url.URL) (sdktrace.SpanExporter, error) {
	const first, most = 500 * time.Millisecond, 5 * time.Second // between retries
	secure := endpoint.Scheme == "https"
	if c.Protocol == GRPC {
		options := []otlptracegrpc.Option{
			otlptracegrpc.WithEndpoint(endpoint.Host), otlptracegrpc.WithHeaders(c.Headers), otlptracegrpc.WithTimeout(exportTimeout),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
				Enabled: true, InitialInterval: first, MaxInterval: most, MaxElapsedTime: exportTimeout,
			}),
		}
		if secure {
			options = append(options, otlptracegrpc.WithTLSCredentials(credentials.NewTLS(c.TLS)))
		} else {
			options = append(options, otlptracegrpc.WithInsecure())
		}
		return otlptracegrpc.New(context.Background(), options...)
	}
	path := endpoint.Path
	if path == "" || path == "/" {
		path = "/v1/traces"
	}
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpoint(endpoint.Host), otlptracehttp.WithURLPath(path), otlptracehttp.WithHeaders(c.Headers),
		otlptracehttp.WithTimeout(exportTimeout), otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: first, MaxInterval: most, MaxElapsedTime: exportTimeout,
		}),
	}
	if secure {
		options = append(options, otlptracehttp.WithTLSClientConfig(c.TLS))
	} else {
		options = append(options, otlptracehttp.WithInsecure())
	}
	return otlptracehttp.New(context.Background(), options...)
}

// watched is an exporter whose failures are counted, and logged once per change.
type watched struct {
	sdktrace.SpanExporter
	log          *slog.Logger
	failing      atomic.Bool
	ended        prometheus.Counter
	good, failed prometheus.Counter
}

func newWatched(to sdktrace.SpanExporter, log *slog.Logger, reg prometheus.Registerer) *watched {
	ended := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "oncewall_bridge_spans_ended_total", Help: "Spans made. Those that were neither exported nor failed wait, or were dropped for want of room.",
	})
	exported := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_spans_exported_total", Help: "Spans handed to the collector, by result.",
	}, []string{"result"})
	reg.MustRegister(ended, exported)
	return &watched{SpanExporter: to, log: log, ended: ended, good: exported.WithLabelValues("ok"), failed: exported.WithLabelValues("failed")}
}

// ExportSpans returns no error: whoever calls it would only log it once more.
func (w *watched) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := w.SpanExporter.ExportSpans(ctx, spans); err != nil {
		w.failed.Add(float64(len(spans)))
		if !w.failing.Swap(true) {
			w.log.Warn("spans are not exported", "error", err)
		}
		return nil
	}
	w.good.Add(float64(len(spans)))
	if w.failing.Swap(false) {
		w.log.Info("spans are exported again")
	}
	return nil
}

// counting counts the spans that end, before any is dropped.
type counting struct {
	sdktrace.SpanProcessor
	ended prometheus.Counter
}

func (c counting) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.ended.Inc()
	}
	c.SpanProcessor.OnEnd(s)
}
