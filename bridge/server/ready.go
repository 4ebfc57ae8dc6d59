package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/bridge/store"
)

// AddPart adds a part to what /readyz tells. It must be called before Run.
func (s *Server) AddPart(p health.Part) { s.parts = append(s.parts, p) }

// ownParts are the parts that every server has.
func (s *Server) ownParts() []health.Part {
	return []health.Part{
		{Name: "server", Check: s.selfHealth},
		{Name: "store", Check: s.storeHealth},
		{Name: "sealing", Optional: true, Check: s.sealingHealth},
	}
}

func (s *Server) selfHealth(context.Context) health.Report {
	switch n := s.inFlight.Load(); {
	case s.draining.Load():
		return health.Report{State: health.Failed, Detail: "draining"}
	case n >= int64(s.cfg.MaxInFlight):
		return health.Report{State: health.Degraded, Detail: fmt.Sprintf("%d batches in flight: max_in_flight is %d", n, s.cfg.MaxInFlight)}
	}
	return health.Report{}
}

// storeHealth looks at single nodes where the store has some. A master that is
// away costs the keys that it holds, on this bridge as on any other; a bridge that
// called itself not ready for it would take all other keys away too, and every
// bridge would do so at once. Eviction is another matter: it forgets records, and
// a forgotten record is a request that runs again.
func (s *Server) storeHealth(ctx context.Context) health.Report {
	p, ok := s.cfg.Store.(store.Prober)
	if !ok {
		if err := s.cfg.Store.Ready(ctx); err != nil {
			return health.Report{State: health.Failed, Detail: err.Error()}
		}
		return health.Report{}
	}
	nodes, err := p.Nodes(ctx)
	if err != nil {
		return health.Report{State: health.Failed, Detail: err.Error()}
	}
	var r health.Report
	masters, away, evicting := 0, 0, 0
	for _, n := range nodes {
		m := health.Member{Name: n.Address, Role: "replica", Detail: n.Fault}
		if n.Master {
			m.Role = "master"
			masters++
		}
		switch {
		case n.Evicts:
			m.State = health.Failed
			evicting++
		case n.Fault == "":
		case n.Master:
			m.State = health.Failed
			away++
		default:
			m.State = health.Degraded
			r.State = health.Degraded
			r.Detail = "a replica does not answer"
		}
		r.Members = append(r.Members, m)
	}
	switch {
	case evicting > 0:
		r.State, r.Detail = health.Failed, fmt.Sprintf("%d of %d nodes may evict records", evicting, len(nodes))
	case away == masters:
		r.State, r.Detail = health.Failed, "no master takes writes"
	case away > 0:
		r.State = health.Degraded
		r.Detail = fmt.Sprintf("%d of %d masters take no writes: their keys are unavailable, all others are served", away, masters)
	}
	return r
}

func (s *Server) sealingHealth(context.Context) health.Report {
	switch {
	case s.opening.lastFailure.Load() != 0:
		return health.Report{State: health.Degraded, Detail: "recorded results do not open: see the log and oncewall_bridge_unreadable_results_total"}
	case s.cfg.Sealer == nil:
		return health.Report{Detail: "off: results are stored in clear"}
	}
	return health.Report{}
}

// ready serves /readyz, and /readyz/{part} for one part alone.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	parts := s.parts
	if name := r.PathValue("part"); name != "" {
		parts = nil
		for _, p := range s.parts {
			if p.Name == name {
				p.Optional = false // asked for alone, it speaks for itself
				parts = append(parts, p)
			}
		}
		if parts == nil {
			writeJSON(w, http.StatusNotFound, map[string]string{"status": "no such part"})
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	sum := health.Check(ctx, parts)
	for name, report := range sum.Parts {
		s.metrics.health.WithLabelValues(name).Set(float64(report.State))
	}
	status := http.StatusOK
	if !sum.Ready {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, sum)
}
