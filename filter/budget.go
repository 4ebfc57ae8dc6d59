package filter

import (
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
)

// Budgets of a worker's memory. A wasm VM has 1 GiB at most, and running out of
// it ends every stream of the worker: each kind of bytes that clients or
// upstreams can make grow has a bound, and what comes beyond it is refused, or
// passes and is not kept, and is counted. The memory of finished keys is bounded
// in cache.go, what waits for an acknowledgement in settle.go.
const (
	// maxCaptureBytes bounds the response bytes that all streams of a worker hold.
	// Above it an answer passes through and is not kept.
	maxCaptureBytes = 64 << 20
	// maxReadBytes bounds the request bytes that all streams of a worker hold until
	// their bodies are complete. Above it a request is refused as unavailable.
	maxReadBytes = 64 << 20
)

// reads makes room for n more bytes of the request's body; false: there is none,
// and the request is refused.
func (s *Stream) reads(n int) bool {
	if s.w.read+n > maxReadBytes {
		s.w.count(MetricOverBudget)
		if s.undecided {
			s.lets(CodeUnavailable)
		} else {
			s.reply(problemUnavailable, extra{retryAfterMS: 1000})
		}
		return false
	}
	s.w.read += n
	s.held += n
	return true
}

// dropBody forgets the request's body.
func (s *Stream) dropBody() {
	s.w.read -= s.held
	s.held, s.body = 0, nil
}

// own gives a task that may wait for long texts of its own: those that came with
// the request share the memory of all its headers.
func (t *task) own() {
	if t.owns {
		return
	}
	t.owns = true
	op := &t.op
	op.Principal, op.Key, op.Trace = strings.Clone(op.Principal), strings.Clone(op.Key), strings.Clone(op.Trace)
}

// Held is what a worker holds at a moment.
type Held struct {
	Pending  int // operations that are not acknowledged
	Waiting  int // requests that wait for a concurrent one
	Bodies   int // bytes of request and response bodies, and of results that are not acknowledged
	Memory   int // bytes of the memory of finished keys
	Callouts int // batches and long polls under way
}

// Held tells what the worker holds.
func (w *Worker) Held() Held {
	return Held{
		Pending:  w.pending,
		Waiting:  w.room.n,
		Bodies:   w.read + w.captured + w.pendingBytes,
		Memory:   w.done.bytes,
		Callouts: len(w.b.flights) + len(w.room.polls),
	}
}

// Worker is the worker that the stream belongs to.
func (s *Stream) Worker() *Worker { return s.w }

// Abort takes a stream out of the worker that has been answered outside it, after
// a fault of the filter. A claim under which nothing was forwarded is given back, the
// outcome of what was forwarded is unknown, unless it is known to be executed.
func (s *Stream) Abort(now int64) {
	was := s.state
	s.state, s.alive = stateDone, false
	s.leaveGroup()
	s.dropBody()
	switch {
	case s.observed != nil:
		s.observeAborted(now)
	case s.rule == nil:
	case was == stateClaiming:
		s.giveBack(now)
	case was == stateForwarded, was == stateCapturing:
		s.settle(now, s.operation(wire.Unknown))
	case was == stateSettling, was == stateStreaming:
		s.cutWhileStreaming(now)
	}
	s.dropCapture()
	s.led(now)
}
