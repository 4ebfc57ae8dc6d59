// Package tracing sends the bridge's spans to an OpenTelemetry collector by OTLP.
//
// Spans are made for requests that came with a sampled W3C traceparent, and for
// no others. They are exported in the background: a collector that is slow or away
// costs spans, never a request. Its failures are counted, logged once until spans
// get through again, and shown as a part of the bridge's health that nothing
// depends on.
package tracing

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/oncewall/oncewall/bridge/health"
)

// ServiceName is the resource attribute service.name of every span.
const ServiceName = "oncewall-bridge"

// scopeName is the instrumentation scope.
const scopeName = "github.com/oncewall/oncewall/bridge"

// Bounds of what waits for the collector.
const (
	queueSize     = 4096 // spans; what comes when it is full is dropped
	batchSize     = 512  // spans of one export
	DefaultEvery  = 2 * time.Second
	exportTimeout = 10 * time.Second // one export with its retries
)

// Protocol is how the collector is spoken to.
type Protocol string

// The protocols of OTLP. HTTP carries protobuf.
const (
	GRPC Protocol = "grpc"
	HTTP Protocol = "http"
)

// Config says where spans go. OTEL_EXPORTER_OTLP_* variables have no say in it;
// OTEL_RESOURCE_ATTRIBUTES adds to the resource.
type Config struct {
	// Endpoint is http://host:port or https://host:port; with HTTP a path may
	// follow, default /v1/traces.
	Endpoint string
	Protocol Protocol
	Headers  map[string]string // sent with every export; may hold credentials
	TLS      *tls.Config       // with https; nil: the system's authorities
	// Ratio is the share of sampled requests that get spans, chosen by trace ID, so
	// that all bridges choose alike; 0 to 1.
	Ratio float64
	Every time.Duration // between exports; default DefaultEvery

	Version  string
	Log      *slog.Logger          // default: discard
	Registry prometheus.Registerer // default: a new one
}

// Exporter makes spans and sends them.
type Exporter struct {
	provider *sdktrace.TracerProvider
	watched  *watched
}

// Start returns an exporter at work. It does not wait for the collector, which may
// come later. It sets the process's OpenTelemetry error handler.
func Start(c Config) (*Exporter, error) {
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, fmt.Errorf("tracing: endpoint %q: must be http://host:port or https://host:port", c.Endpoint)
	}
	to, err := exporter(&c, endpoint)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { c.Log.Debug("opentelemetry", "error", err) }))
	w := newWatched(to, c.Log, c.Registry)
	batches := sdktrace.NewBatchSpanProcessor(w, sdktrace.WithMaxQueueSize(queueSize), sdktrace.WithMaxExportBatchSize(batchSize),
		sdktrace.WithBatchTimeout(c.Every), sdktrace.WithExportTimeout(exportTimeout))
	sampled := sdktrace.AlwaysSample()
	if c.Ratio < 1 {
		sampled = sdktrace.TraceIDRatioBased(c.Ratio)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(counting{batches, w.ended}),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", ServiceName),
			attribute.String("service.version", c.Version),
			attribute.String("service.instance.id", instance()),
		)),
		// Every span has a remote parent; whatever had none would cost nothing.
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample(), sdktrace.WithRemoteParentSampled(sampled))),
	)
	return &Exporter{provider: provider, watched: w}, nil
}

func instance() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Tracer makes the spans.
func (e *Exporter) Tracer() trace.Tracer { return e.provider.Tracer(scopeName) }

// Part is the exporter as a part of the bridge's health: degraded while spans do
// not get through.
func (e *Exporter) Part() health.Part {
	return health.Part{Name: "tracing", Optional: true, Check: func(context.Context) health.Report {
		if e.watched.failing.Load() {
			return health.Report{State: health.Degraded, Detail: "the collector takes no spans: see the log"}
		}
		return health.Report{}
	}}
}

// Close sends what is left, until ctx ends.
func (e *Exporter) Close(ctx context.Context) error { return e.provider.Shutdown(ctx) }
