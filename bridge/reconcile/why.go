package reconcile

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// idle says why nothing here asks about a record; "": it can be asked about.
func (r *Reconciler) idle(record *store.Record) string {
	switch record.Policy.Recovery {
	case wire.Probe:
		if len(record.Identity) == 0 || r.cfg.Sealer == nil {
			return whyNoIdentity
		}
		return ""
	case wire.Reacquire:
		if record.Held || record.Policy.MaxAttempts > 0 && int64(record.Attempts) >= record.Policy.MaxAttempts {
			return whyHeld
		}
		return whyReacquire
	}
	return whyHold
}

// Why says why an overdue record has no final word, as far as this bridge knows: in
// the words of the metric oncewall_bridge_stuck_records. "probe" is one that
// another bridge looks after, or that has not been asked about yet.
func (r *Reconciler) Why(name store.Name, record *store.Record) string {
	if !record.State.Unresolved() || !record.LeaseOver {
		return ""
	}
	if why := r.idle(record); why != "" {
		return why
	}
	if why := r.memory.why(name, record.Fence); why != "" && why != whyNew {
		return why
	}
	return "probe"
}

// why is what is known of a record; "": nothing.
func (m *memory) why(name store.Name, fence uint64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.shares {
		if n := known[name]; n != nil && n.fence == fence {
			return n.why
		}
	}
	return ""
}
