package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

const testTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestTraceOfRequest: exactly one well-formed line of a sampled request counts.
func TestTraceOfRequest(t *testing.T) {
	for what, c := range map[string]struct {
		h    []wire.HeaderLine
		want string
	}{
		"none":      {[]wire.HeaderLine{{Name: "x-user-id", Value: "u"}}, ""},
		"sampled":   {[]wire.HeaderLine{{Name: "traceparent", Value: testTrace}}, testTrace},
		"unsampled": {[]wire.HeaderLine{{Name: "traceparent", Value: testTrace[:53] + "00"}}, ""},
		"malformed": {[]wire.HeaderLine{{Name: "traceparent", Value: testTrace[:53]}}, ""},
		"two lines": {[]wire.HeaderLine{{Name: "traceparent", Value: testTrace}, {Name: "traceparent", Value: testTrace}}, ""},
	} {
		if got := traceOf(headers{lines: c.h}); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	none := Request(headers{lines: []wire.HeaderLine{{Name: "x-user-id", Value: "u"}}})
	if n := testing.AllocsPerRun(100, func() { traceOf(none) }); n != 0 {
		t.Errorf("%v allocations for a request without a trace", n)
	}
}

// TestTraceTravels: the claim and what settles it carry the request's trace, a
// renewal does not.
func TestTraceTravels(t *testing.T) {
	g := newRig(t, true)
	s := g.w.Open(1, g.w.Match("POST", "/orders"), "POST", "/orders")
	s.RequestHeaders(g.now, headers{lines: []wire.HeaderLine{
		{Name: "x-user-id", Value: "u"}, {Name: "idempotency-key", Value: "k"}, {Name: headerTraceparent, Value: testTrace},
	}}, true)
	for kind, want := range map[wire.Kind]string{
		wire.Claim: testTrace, wire.Executed: testTrace, wire.Complete: testTrace, wire.Release: testTrace,
		wire.Unknown: testTrace, wire.Renew: "",
	} {
		if got := s.operation(kind).Trace; got != want {
			t.Errorf("kind %d: trace %q, want %q", kind, got, want)
		}
	}
}
