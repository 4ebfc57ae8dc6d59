package config

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Bounds of log and tracing.
const (
	maxLogSample      = 1000
	maxTracingHeaders = 8
	maxHeaderName     = 64
)

// LogLevel is the least level that is logged.
type LogLevel string

// The levels.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// Log says what is logged.
type Log struct {
	Level LogLevel
	// SamplePerSecond bounds the lines about replays, and about refusals of each
	// code, in a second; 0: none at all.
	SamplePerSecond int
}

// Slog is the level as log/slog has it.
func (l LogLevel) Slog() slog.Level {
	return map[LogLevel]slog.Level{LogDebug: slog.LevelDebug, LogWarn: slog.LevelWarn, LogError: slog.LevelError}[l]
}

// TracingProtocol is how a collector is spoken to.
type TracingProtocol string

// The protocols of OTLP; HTTP carries protobuf.
const (
	TracingGRPC TracingProtocol = "grpc"
	TracingHTTP TracingProtocol = "http"
)

// Sample says which of the requests that come with a sampled trace get spans.
type Sample string

// All of them, or a share.
const (
	SampleParent Sample = "parent"
	SampleRatio  Sample = "ratio"
)

// Tracing says where spans go. Endpoint empty: there are none.
type Tracing struct {
	Endpoint string // http:// or https://, host and port; a path with HTTP only
	Protocol TracingProtocol
	Sample   Sample
	Ratio    float64 // with SampleRatio
	CAFile   string  // with https; empty: the system's authorities
	Headers  map[string]string
}

// Share is the part of sampled requests that get spans, 0 to 1.
func (t *Tracing) Share() float64 {
	if t.Sample == SampleRatio {
		return t.Ratio
	}
	return 1
}

// Client returns the TLS configuration towards the collector.
func (t *Tracing) Client() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CAFile == "" {
		return c, nil
	}
	pool, err := readPool(t.CAFile)
	if err != nil {
		return nil, fmt.Errorf("tracing.ca_file: %w", err)
	}
	c.RootCAs = pool
	return c, nil
}

// observeDefaults are the defaults of log and tracing.
func (r *raw) observeDefaults() {
	r.Log = Log{Level: LogInfo, SamplePerSecond: 10}
	r.Tracing = Tracing{Protocol: TracingGRPC, Sample: SampleParent, Ratio: 1}
}

// observeFields are the fields of log and tracing.
func (r *raw) observeFields() []field {
	t := []field{
		choice("log.level", &r.Log.Level, LogDebug, LogInfo, LogWarn, LogError),
		integer("log.sample_per_second", &r.Log.SamplePerSecond, 0, maxLogSample),
		text("tracing.otlp_endpoint", &r.Tracing.Endpoint),
		choice("tracing.protocol", &r.Tracing.Protocol, TracingGRPC, TracingHTTP),
		choice("tracing.sample", &r.Tracing.Sample, SampleParent, SampleRatio),
		fraction("tracing.ratio", &r.Tracing.Ratio),
		text("tracing.ca_file", &r.Tracing.CAFile),
	}
	for i := range r.tracingHeaders {
		at, n := fmt.Sprintf("tracing.headers[%d]", i), &r.tracingHeaders[i]
		t = append(t, text(at+".name", &n.id), text(at+".env", &n.env), text(at+".file", &n.file))
	}
	return t
}

// fraction is a number of 0 to 1.
func fraction(path string, dst *float64) field {
	return field{path: path, read: func(v any) error {
		f, ok := v.(float64)
		switch n := v.(type) {
		case string:
			var err error
			f, err = strconv.ParseFloat(n, 64)
			ok = err == nil
		case int64, uint64:
			i, _ := whole(n)
			f, ok = float64(i), true
		}
		if !ok || !(f >= 0 && f <= 1) {
			return fmt.Errorf("%s: must be a number, 0 to 1", show(v))
		}
		*dst = f
		return nil
	}}
}

func (r *raw) checkTracing(set map[string]bool, secrets secretReader, rep *report) {
	t := &r.Tracing
	if t.Endpoint == "" {
		for _, path := range slices.Sorted(maps.Keys(set)) {
			if strings.HasPrefix(path, "tracing.") && path != "tracing.otlp_endpoint" {
				rep.add(path, "needs tracing.otlp_endpoint")
			}
		}
		return
	}
	u, err := url.Parse(t.Endpoint)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || !validAddress(u.Host):
		// It may hold credentials, and is not shown.
		rep.add("tracing.otlp_endpoint", "must be http://host:port or https://host:port")
		return
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		rep.add("tracing.otlp_endpoint", "must have neither user, query nor fragment: credentials go into tracing.headers")
	case t.Protocol == TracingGRPC && u.Path != "" && u.Path != "/":
		rep.add("tracing.otlp_endpoint", "%s: a path is for protocol %s only", show(u.Path), TracingHTTP)
	case t.CAFile != "" && u.Scheme != "https":
		rep.add("tracing.ca_file", "needs an https endpoint")
	}
	if set["tracing.ratio"] && t.Sample != SampleRatio {
		rep.add("tracing.ratio", "needs sample: %s", SampleRatio)
	}
	if t.Sample == SampleRatio && !set["tracing.ratio"] {
		rep.add("tracing.ratio", "required with sample: %s", SampleRatio)
	}
	r.checkTracingHeaders(set, secrets, rep)
	if len(t.Headers) > 0 && u.Scheme == "http" && !isLoopback(u.Host) {
		r.Warnings = append(r.Warnings, "tracing.otlp_endpoint: not a loopback address and no https: tracing.headers cross the network in clear")
	}
}

// checkTracingHeaders resolves the headers' values, each of which may be a
// credential.
func (r *raw) checkTracingHeaders(set map[string]bool, secrets secretReader, rep *report) {
	for i, n := range r.tracingHeaders {
		at := fmt.Sprintf("tracing.headers[%d]", i)
		if !set[at+".name"] && !n.source.set() {
			continue
		}
		if !validHeaderName(n.id) {
			rep.add(at+".name", "%s: must be 1 to %d of a-z 0-9 _ -", show(n.id), maxHeaderName)
		}
		if !n.source.set() {
			rep.add(at, "env or file required")
			continue
		}
		value := secrets.get(at+".", n.source)
		if len(value) == 0 {
			continue
		}
		if slices.ContainsFunc(value, func(c byte) bool { return c < ' ' || c > '~' }) {
			rep.add(at, "must be printable ASCII: it travels in a header")
		}
		if _, ok := r.Tracing.Headers[n.id]; ok {
			rep.add(at+".name", "%s: used twice", show(n.id))
		}
		if r.Tracing.Headers == nil {
			r.Tracing.Headers = map[string]string{}
		}
		r.Tracing.Headers[n.id] = string(value)
	}
}

func validHeaderName(s string) bool {
	return len(s) > 0 && len(s) <= maxHeaderName && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}
