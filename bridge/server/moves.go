package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/store"
)

// moves counts how records are found while a secret or a scope changes. As long as
// "earlier" grows the old one is in use and may not be dropped.
type moves struct{ earlier, moved, lost prometheus.Counter }

func newMoves(reg prometheus.Registerer) moves {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_renamed_operations_total",
		Help: "Operations on records that have more than one name: earlier, the record was found under one that is not the current; moved, it was sent on; lost, to a secret that is not configured here.",
	}, []string{"found"})
	reg.MustRegister(v)
	return moves{v.WithLabelValues("earlier"), v.WithLabelValues("moved"), v.WithLabelValues("lost")}
}

func (m *moves) count(j *job, walks []*walk, replies []store.Reply) {
	// Most batches hold no operation with several places.
	for i := range replies {
		if i < len(j.places) && j.places[i] != nil && replies[i].Err == nil && j.ops[i].Name != j.places[i][len(j.places[i])-1].name {
			m.earlier.Inc()
		}
	}
	for _, w := range walks {
		if replies[w.index].Err == errLost {
			m.lost.Inc()
		} else {
			m.moved.Inc()
		}
	}
}
