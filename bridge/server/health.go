package server

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// quietAfter is how long every batch must succeed before a failed store counts
// as well again: with one dead node of several, batches fail and succeed in
// turn, and that is one failure, not many.
const quietAfter = 5 * time.Second

// health turns the outcome of batches into one log line per change.
type health struct {
	log *slog.Logger
	// lastFailure is the Unix time in nanoseconds; 0 while the store is well.
	lastFailure atomic.Int64
}

func (h *health) failed(err error) {
	if h.lastFailure.Swap(time.Now().UnixNano()) == 0 {
		h.log.Warn("store unavailable", "error", err)
	}
}

func (h *health) answered() {
	last := h.lastFailure.Load()
	if last == 0 || time.Since(time.Unix(0, last)) < quietAfter {
		return
	}
	if h.lastFailure.CompareAndSwap(last, 0) {
		h.log.Info("store available again")
	}
}
