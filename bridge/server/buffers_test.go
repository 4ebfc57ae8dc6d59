package server

import "testing"

// A large buffer is the next large batch's, and stays with no job.
func TestSharedBuffers(t *testing.T) {
	small, huge := make([]byte, 1, maxKept), make([]byte, 1, maxShared+1)
	if got := keep(small); cap(got) != maxKept || len(got) != 0 {
		t.Errorf("a small buffer: %d of %d bytes", len(got), cap(got))
	}
	if keep(huge) != nil {
		t.Error("a huge buffer stays")
	}
	if keep(make([]byte, 1, 1<<20)) != nil {
		t.Error("a large buffer stays with its job")
	}
	if got := roomFor(small, maxKept); cap(got) != maxKept {
		t.Errorf("for what fits: %d bytes", cap(got))
	}
	// The pool may drop what it holds at any time, so this is tried again.
	for range 100 {
		keep(make([]byte, 1, 1<<20))
		if got := roomFor(nil, 1<<20); cap(got) == 1<<20 && len(got) == 0 {
			return
		}
	}
	t.Error("a large buffer is never used again")
}
