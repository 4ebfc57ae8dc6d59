package filter

import "testing"

func TestHeapLimit(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ limit, live, want int64 }{
		{0, 0, 64},
		{64, 42, 64},
		{64, 43, 96},
		{96, 1, 96}, // memory that the VM has is not given back
		{64, 120, 192},
		{64, 511, 768},
		{64, 10_000, 768},
		{768, 10_000, 768},
	} {
		if got := HeapLimit(c.limit*mib, c.live*mib); got != c.want*mib {
			t.Errorf("limit %d MiB, live %d MiB: %d MiB, not %d", c.limit, c.live, got/mib, c.want)
		}
	}
}
