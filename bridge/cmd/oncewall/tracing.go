package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/bridge/tracing"
)

// lastExport bounds how long the end of the process waits for the collector.
const lastExport = 5 * time.Second

// startTracing starts what sends spans. Where none are wanted tracer is nil and
// there are no parts. stop sends what is left.
func startTracing(cfg *config.Config, log *slog.Logger, reg prometheus.Registerer) (tracer trace.Tracer, parts []health.Part, stop func(), err error) {
	t := &cfg.Tracing
	if t.Endpoint == "" {
		return nil, nil, func() {}, nil
	}
	tlsConfig, err := t.Client()
	if err != nil {
		return nil, nil, nil, err
	}
	e, err := tracing.Start(tracing.Config{
		Endpoint: t.Endpoint,
		Protocol: tracing.Protocol(t.Protocol),
		Headers:  t.Headers,
		TLS:      tlsConfig,
		Ratio:    t.Share(),
		Version:  version,
		Log:      log,
		Registry: reg,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastExport)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			log.Warn("spans were lost at the end", "error", err)
		}
	}
	return e.Tracer(), []health.Part{e.Part()}, stop, nil
}

// linesPerSecond is log.sample_per_second as the server takes it, to which 0 is
// its default.
func linesPerSecond(cfg *config.Config) int {
	if cfg.Log.SamplePerSecond == 0 {
		return -1
	}
	return cfg.Log.SamplePerSecond
}
