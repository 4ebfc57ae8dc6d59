package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// discardLog takes what net/http says of clients that break off.
var discardLog = log.New(io.Discard, "", 0)

// admin is the handler of --admin.
func admin(l *loop, t *tracer) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "LIVE") })
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var metrics []host.Metric
		if !l.call(func() { metrics = l.h.Metrics() }) {
			http.Error(w, "ending", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		writeMetrics(w, metrics)
	})
	mux.HandleFunc("GET /trace", func(w http.ResponseWriter, r *http.Request) {
		n := t.keep
		if v := r.URL.Query().Get("n"); v != "" {
			var err error
			if n, err = strconv.Atoi(v); err != nil || n < 1 {
				http.Error(w, "n must be a number from 1", http.StatusBadRequest)
				return
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		t.write(w, n)
	})
	return &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute, ErrorLog: discardLog}
}

// writeMetrics writes the filter's metrics in Prometheus' text format, named as
// Envoy names them: what is no letter, digit or underscore becomes one.
func writeMetrics(w io.Writer, metrics []host.Metric) {
	for _, m := range metrics {
		name := strings.Map(func(r rune) rune {
			if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, m.Name)
		switch m.Kind {
		case "histogram":
			var sum uint64
			for _, v := range m.Samples {
				sum += v
			}
			fmt.Fprintf(w, "# TYPE %s summary\n%s_sum %d\n%s_count %d\n", name, name, sum, name, len(m.Samples))
		case "gauge":
			fmt.Fprintf(w, "# TYPE %s gauge\n%s %d\n", name, name, int64(m.Value))
		default:
			fmt.Fprintf(w, "# TYPE %s counter\n%s %d\n", name, name, m.Value)
		}
	}
}
