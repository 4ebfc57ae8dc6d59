package filter

import (
	"testing"
	"time"
)

// TestLocalTakeOverIsOfTheSameRequest: a lease that is over frees a key for its own
// request alone.
func TestLocalTakeOverIsOfTheSameRequest(t *testing.T) {
	m := newShared()
	g := localRig(t, m, reacquires)
	g.alone("k")
	m.clock.Add(int64(time.Minute))
	s := g.open("PUT", "/local", "k", true)
	for len(g.flights) > 0 {
		g.fail(0)
	}
	if s.code() != string(CodeKeyReused) {
		t.Errorf("%q", s.code())
	}
	if s := g.alone("k"); s.code() != string(CodeUnprotected) {
		t.Errorf("the same request: %q", s.code())
	}
}
