package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/health"
)

// roundLimit is how long the looks at all shares may take before something is
// wrong: every call of the store has an end of its own well before it.
const roundLimit = 2 * time.Minute

// Part is the reconciler as a part of the bridge's health, "recovery". It is
// degraded where overdue records cannot be looked at, or a scope's backend does not
// answer; batches are served without it. Before Run has looked once it is well.
func (r *Reconciler) Part() health.Part {
	return health.Part{Name: "recovery", Optional: true, Check: func(context.Context) health.Report { return r.health(time.Now()) }}
}

func (r *Reconciler) health(now time.Time) health.Report {
	var out health.Report
	for _, s := range r.scopes {
		m := health.Member{Name: s.Scope.Scope, Role: "probe"}
		s.mu.Lock()
		if s.failed {
			m.State, m.Detail = health.Degraded, "the last question got no answer that can be used: see the log"
			out.State, out.Detail = health.Degraded, "a probe fails: what became of its scope's overdue records is not known"
		}
		s.mu.Unlock()
		out.Members = append(out.Members, m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch n := len(r.unread); {
	case !r.looked.IsZero() && now.Sub(r.looked) > r.cfg.Interval+roundLimit:
		out.State, out.Detail = health.Degraded, fmt.Sprintf("no look at the overdue records for %s", now.Sub(r.looked).Round(time.Second))
	case n > 0:
		out.State, out.Detail = health.Degraded, fmt.Sprintf("%d of %d shares of the records cannot be read", n, r.cfg.Store.Shares())
	}
	return out
}

// read notes whether a share could be read.
func (r *Reconciler) read(share int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readLocked(share, err)
}

func (r *Reconciler) readLocked(share int, err error) {
	if err != nil {
		r.unread[share] = true
	} else {
		delete(r.unread, share)
	}
}
