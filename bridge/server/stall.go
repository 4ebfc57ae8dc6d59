package server

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A bridge that stood still (a frozen machine, a suspended process, a starved
// container) finds, when it goes on, requests whose senders gave up long ago,
// and the resets that say so right behind them. A claim that is granted before
// its reset has been read belongs to nobody: its key is held for a whole lease.
const (
	// beatPeriod is how often a running bridge notes that it runs.
	beatPeriod = 50 * time.Millisecond
	// stallAfter is the silence that counts as a stall.
	stallAfter = 250 * time.Millisecond
	// stallPatience is how long batches that arrive in a stall's wake wait for
	// their reset.
	stallPatience = 50 * time.Millisecond
)

// heart tells whether the process has been running all the time.
type heart struct{ last atomic.Int64 }

// beat notes the time until stop is closed.
func (h *heart) beat(start time.Time, stop <-chan struct{}) {
	t := time.NewTicker(beatPeriod)
	defer t.Stop()
	for {
		h.last.Store(int64(time.Since(start)))
		select {
		case <-t.C:
		case <-stop:
			h.last.Store(0)
			return
		}
	}
}

// stalled reports whether the latest beat is too old at now, counted from the
// same start.
func (h *heart) stalled(now time.Duration) bool {
	last := time.Duration(h.last.Load())
	return last > 0 && now-last > stallAfter
}

// gone reports whether the filter has given a batch up. After a stall it waits a
// little for the word.
func (s *Server) gone(r *http.Request) bool {
	if s.heart.stalled(time.Since(s.start)) {
		s.metrics.stalls.Inc()
		t := time.NewTimer(stallPatience)
		defer t.Stop()
		select {
		case <-r.Context().Done():
		case <-t.C:
		}
	}
	return r.Context().Err() != nil
}
