package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyTimeout bounds one question to the store.
const readyTimeout = 2 * time.Second

// AdminHandler serves the operator's side:
//
//	GET /healthz  200 while the process serves at all
//	GET /readyz   200 where batches should be sent here; else 503, the reason by part
//	GET /metrics  Prometheus text
//
// and what MountAdmin added.
func (s *Server) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{}))
	if s.mounts.admin != nil {
		mux.Handle(s.mounts.adminPrefix, s.mounts.admin)
	}
	return mux
}

// readiness is the body of /readyz. Each part is "ok" or what is wrong with it.
type readiness struct {
	Ready bool              `json:"ready"`
	Parts map[string]string `json:"parts"`
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	answer := readiness{Ready: true, Parts: map[string]string{"server": "ok", "store": "ok"}}
	if s.draining.Load() {
		answer.Ready = false
		answer.Parts["server"] = "draining"
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.cfg.Store.Ready(ctx); err != nil {
		answer.Ready = false
		answer.Parts["store"] = err.Error()
	}
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, answer)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
