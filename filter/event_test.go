package filter

import "testing"

// TestFlagsOfOneTry: one flag that says that the request was not sent is enough,
// unless another says that something else happened to it.
func TestFlagsOfOneTry(t *testing.T) {
	const reset, timeout, downstream = flagUR, 0x4, 0x4000
	for _, c := range []struct {
		trail Trail
		want  bool
	}{
		{Trail{}, true},
		{Trail{Flags: timeout}, false},
		{Trail{Attempts: 1}, false},
		{Trail{Attempts: 1, Flags: flagUF}, true},
		{Trail{Attempts: 1, Flags: flagUF | flagURX}, true},
		{Trail{Attempts: 1, Flags: flagUF | reset}, false},
		{Trail{Attempts: 1, Flags: flagUH | downstream}, false},
		{Trail{Attempts: 1, Flags: flagUO}, false},
		{Trail{Attempts: 1, Flags: flagUO, Overflow: true}, true},
		{Trail{Attempts: 1, Flags: flagUO | timeout, Overflow: true}, false},
		{Trail{Attempts: 1, Flags: reset, Refused: true}, true},
		{Trail{Attempts: 1, Flags: reset | timeout, Refused: true}, false},
		{Trail{Attempts: 2, Flags: flagUF}, false},
	} {
		if got := c.trail.NeverForwarded(); got != c.want {
			t.Errorf("%+v: %v", c.trail, got)
		}
	}
}
