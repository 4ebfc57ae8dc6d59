package wire

import "testing"

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		code    Code
		retried bool
		ageMS   int64
		want    Class
	}{
		{Created, true, 0, 0},
		{KeyExpired, true, 0, 0},
		{Unavailable, false, 0, 0},
		{KeyReused, true, 0, Reused},
		{InFlight, false, 60_000, DoubleClick},
		{InFlight, true, 0, GatewayRetry},
		{Replayed, false, DoubleClickMS, DoubleClick},
		{Replayed, false, DoubleClickMS + 1, ClientRetry},
		{Replayed, true, DoubleClickMS + 1, GatewayRetry},
		{KeyUsed, false, 60_000, ClientRetry},
		{ResponseNotKept, false, 60_000, ClientRetry},
		{OutcomeUnknown, false, 60_000, ClientRetry},
	} {
		if got := ClassOf(c.code, c.retried, c.ageMS); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	seen := map[string]bool{"": true}
	for c := DoubleClick; c <= SuspectedNew; c++ {
		if seen[c.String()] {
			t.Errorf("class %d has no name of its own", c)
		}
		seen[c.String()] = true
	}
}
