package filter

import "github.com/oncewall/oncewall/filter/wire"

// headerTraceparent carries a request's trace (W3C Trace Context, level 1).
const headerTraceparent = "traceparent"

// traceOf returns the traceparent of a sampled request. It is "" where there is
// none, where it is not sampled, and where it is malformed or there are several,
// which the specification treats as none. The bridge makes spans of what has a
// trace; all else costs nothing.
func traceOf(r Request) string {
	if l := r.Header(headerTraceparent); len(l) == 1 && wire.SampledTrace(l[0]) {
		return l[0]
	}
	return ""
}

// traceFor is the trace that an operation carries: all but a renewal, which says
// nothing of the request, are worth a span.
func (s *Stream) traceFor(k wire.Kind) string {
	if k == wire.Renew {
		return ""
	}
	return s.trace
}
