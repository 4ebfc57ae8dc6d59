package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// live puts a forwarded stream on the list of leases to renew. The first renewal
// leaves when a third of the lease is over, so that others can follow if it fails.
func (s *Stream) live(now int64) {
	s.renewAt = now + (s.lease-now)/3
	if !s.alive {
		s.alive = true
		s.w.live = append(s.w.live, s)
	}
	s.w.schedule()
}

// renewLeases renews the leases of streams that still wait for upstream, those whose
// time has come.
func (w *Worker) renewLeases(now int64) {
	kept := w.live[:0]
	for _, s := range w.live {
		if !s.alive || !s.owning() {
			s.alive = false
			continue
		}
		if s.renewAt <= now {
			s.renewAt = now + max((s.lease-now)/3, int64(time.Second))
			t := &task{op: s.operation(wire.Renew), rule: s.rule, stream: s, deadline: now + int64(w.cfg.Bridge.Timeout)}
			t.measure()
			w.enqueue(now, t)
		}
		kept = append(kept, s)
	}
	clear(w.live[len(kept):])
	w.live = kept
}

// owning reports whether the stream's claim has no final word yet.
func (s *Stream) owning() bool {
	return s.observes() || s.state == stateForwarded || s.state == stateCapturing || s.state == stateStreaming || s.state == stateHanded
}

// renewed takes the answer to a renewal whose batch left at sent.
func (s *Stream) renewed(r *wire.Result, sent int64) {
	if r.Code == wire.OK && r.LeaseMS > 0 {
		s.lease = max(s.lease, sent+r.LeaseMS*int64(time.Millisecond))
	}
}
