package host

import (
	"fmt"
	"time"
)

// trapped reports whether the VM of a stream's context is dead, and answers the
// stream for that, once: 503 without a body and code details wasm_fail_stream.
// Only callbacks of the stream itself come here. A stream that waits for
// something else, a callout or a tick, waits for ever.
func (x *fctx) trapped() bool {
	if x.vm != nil && !x.vm.failed {
		return false
	}
	if !x.failed {
		x.failed = true
		x.stream.localReply(localReply{status: 503, details: "wasm_fail_stream", grpc: 14})
		x.refused = true
	}
	return true
}

// trapped notes that a VM has died; what it held is not told.
func (h *Host) trapped(v *vm) {
	for _, root := range v.roots {
		h.stopTimer(root.tick)
	}
	for _, root := range v.pending {
		h.stopTimer(root.tick)
	}
}

// handle decides what a new stream meets: the filter in a VM that lives, a
// context without a VM that refuses, or nothing at all.
func (w *Worker) handle(s *Stream) *fctx {
	h := w.h
	if w.vm.failed && h.o.FailurePolicy == FailReload && h.now-w.loaded >= h.o.ReloadBackoff {
		w.reload()
	}
	if w.vm.failed {
		if h.o.FailurePolicy == FailOpen {
			return nil
		}
		return &fctx{stream: s}
	}
	return w.vm.newContext(h.plugin, w.vm.roots[h.plugin], s)
}

// reload replaces a dead VM. Its streams stay with it.
func (w *Worker) reload() {
	w.loaded = w.h.now
	dead := w.vm
	if err := w.load(); err != nil {
		w.vm = dead
		w.h.record(LogLine{w.name, LogError, "reload: " + err.Error()})
	}
}

// Failed reports whether the worker's VM has trapped and was not replaced.
func (w *Worker) Failed() bool { return w.vm.failed }

// blame records a fault of the filter; it fails the test when the current event
// ends.
func (h *Host) blame(v *vm, err error) {
	if h.fault == nil {
		h.fault = fmt.Errorf("%s: %w", v.name, err)
	}
}

func (h *Host) fail(err error) {
	switch {
	case h.o.T != nil:
		h.o.T.Helper()
		h.o.T.Fatalf("host: the filter is at fault: %v", err)
	case h.o.Fail != nil:
		h.o.Fail(err)
	default:
		panic(err)
	}
}

// backoff is the reload backoff that Options ask for.
func backoff(d time.Duration) time.Duration {
	if d == 0 {
		return DefaultReloadBackoff
	}
	return d
}
