package server

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// readyTimeout bounds one question to all parts.
const readyTimeout = 2 * time.Second

// AdminHandler serves the operator's side:
//
//	GET /healthz  200 while the process serves at all
//	GET /readyz   200 where batches should be sent here; else 503; how each part is
//	GET /readyz/{part}  the same of one part
//	GET /metrics  Prometheus text
//
// and what MountAdmin added.
func (s *Server) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		// Nothing else is asked: to restart a bridge does not bring its store back.
		writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
	})
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /readyz/{part}", s.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.cfg.Registry, promhttp.HandlerOpts{}))
	for prefix, h := range s.mounts.admin {
		mux.Handle(prefix, h)
	}
	return mux
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
