package server

import "github.com/oncewall/oncewall/filter/wire"

// sampled returns the trace of an operation where it is one, so that nothing else
// gets into a record, a log line or a span. A trace that is none is no fault of the
// operation.
func sampled(trace string) string {
	if wire.SampledTrace(trace) {
		return trace
	}
	return ""
}
