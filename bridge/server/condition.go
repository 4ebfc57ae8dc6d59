package server

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// quietAfter is how long everything must succeed before what failed counts as
// well again: with one dead node of several, batches fail and succeed in turn,
// and that is one failure, not many.
const quietAfter = 5 * time.Second

// condition turns many outcomes into one log line per change.
type condition struct {
	log       *slog.Logger
	bad, good string // the two lines
	// lastFailure is the Unix time in nanoseconds; 0 while all is well.
	lastFailure atomic.Int64
}

func (c *condition) failed(err error, attrs ...any) {
	if c.lastFailure.Swap(time.Now().UnixNano()) == 0 {
		c.log.Warn(c.bad, append(attrs, "error", err)...)
	}
}

func (c *condition) answered() {
	last := c.lastFailure.Load()
	if last == 0 || time.Since(time.Unix(0, last)) < quietAfter {
		return
	}
	if c.lastFailure.CompareAndSwap(last, 0) {
		c.log.Info(c.good)
	}
}
