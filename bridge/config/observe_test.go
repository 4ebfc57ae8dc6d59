package config

import (
	"log/slog"
	"maps"
	"strings"
	"testing"
)

func TestLogAndTracing(t *testing.T) {
	c, err := load(minimal, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Log != (Log{LogInfo, 10}) || c.Log.Level.Slog() != slog.LevelInfo || c.Tracing.Endpoint != "" {
		t.Errorf("defaults: %+v, %+v", c.Log, c.Tracing)
	}
	c, err = load(minimal+`
log: {level: warn, sample_per_second: 0}
tracing:
  otlp_endpoint: https://collector:4317
  sample: ratio
  ratio: 0.25
  headers:
  - {name: authorization, file: /run/password}
  - {name: x-tenant, env: TENANT}
`, false, "TENANT=blue")
	if err != nil {
		t.Fatal(err)
	}
	if c.Log.Level.Slog() != slog.LevelWarn || c.Log.SamplePerSecond != 0 {
		t.Errorf("%+v", c.Log)
	}
	if c.Tracing.Protocol != TracingGRPC || c.Tracing.Share() != 0.25 ||
		!maps.Equal(c.Tracing.Headers, map[string]string{"authorization": "p w", "x-tenant": "blue"}) {
		t.Errorf("%+v", c.Tracing)
	}
	c, err = load(minimal+"tracing: {otlp_endpoint: 'http://10.0.0.1:4318/x', protocol: http, headers: [{name: a, file: /run/a}]}", false)
	if err != nil || c.Tracing.Share() != 1 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "in clear") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestLogAndTracingFaults(t *testing.T) {
	for yaml, want := range map[string]string{
		"log: {level: loud}":                                                                                  "log.level",
		"log: {sample_per_second: 1001}":                                                                      "log.sample_per_second",
		"log: {sample_per_second: -1}":                                                                        "log.sample_per_second",
		"tracing: {protocol: http}":                                                                           "tracing.protocol: needs tracing.otlp_endpoint",
		"tracing: {otlp_endpoint: 'collector:4317'}":                                                          "tracing.otlp_endpoint: must be",
		"tracing: {otlp_endpoint: 'http://collector'}":                                                        "tracing.otlp_endpoint: must be",
		"tracing: {otlp_endpoint: 'ftp://c:1'}":                                                               "tracing.otlp_endpoint: must be",
		"tracing: {otlp_endpoint: 'http://u:hunter2@c:1'}":                                                    "credentials go into tracing.headers",
		"tracing: {otlp_endpoint: 'http://c:1/v1'}":                                                           "a path is for protocol http only",
		"tracing: {otlp_endpoint: 'http://c:1', ca_file: /x}":                                                 "tracing.ca_file: needs an https endpoint",
		"tracing: {otlp_endpoint: 'http://c:1', protocol: udp}":                                               "tracing.protocol",
		"tracing: {otlp_endpoint: 'http://c:1', ratio: 0.5}":                                                  "tracing.ratio: needs sample: ratio",
		"tracing: {otlp_endpoint: 'http://c:1', sample: ratio}":                                               "tracing.ratio: required",
		"tracing: {otlp_endpoint: 'http://c:1', sample: ratio, ratio: 1.5}":                                   "tracing.ratio: 1.5: must be a number, 0 to 1",
		"tracing: {otlp_endpoint: 'http://c:1', sample: ratio, ratio: .nan}":                                  "tracing.ratio",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: A, env: T}]}":                                "tracing.headers[0].name",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: a}]}":                                        "tracing.headers[0]: env or file required",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: a, file: /run/binary}]}":                     "printable ASCII",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: a, file: /run/a}, {name: a, file: /run/b}]}": "used twice",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: a, value: secret}]}":                         "tracing.headers[0].value: unknown field",
		"tracing: {otlp_endpoint: 'http://c:1', headers: [{name: a, env: NOT_SET_ANYWHERE}]}":                 "the variable is not set",
	} {
		_, err := load(minimal+yaml, false, "T=x")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", yaml, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), secretA)) {
			t.Errorf("%s: a secret is in the error", yaml)
		}
	}
}
