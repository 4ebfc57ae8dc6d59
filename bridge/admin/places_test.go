package admin

import "testing"

func TestPlaces(t *testing.T) {
	p := newPlaces(4, share(4, 2)) // leastShare is more than there is
	if p.each != 4 {
		t.Errorf("each %d", p.each)
	}
	p = newPlaces(4, 2)
	for i, want := range []bool{true, true, false} {
		if got := p.take("a"); got != want {
			t.Errorf("a's %d.: %t", i, got)
		}
	}
	for i, want := range []bool{true, true, false} {
		if got := p.take("b"); got != want {
			t.Errorf("b's %d.: %t", i, got)
		}
	}
	if p.take("c") {
		t.Error("a fifth of four")
	}
	p.leave("a")
	if !p.take("c") || p.take("b") {
		t.Error("what a left is c's alone")
	}
	for _, id := range []string{"a", "b", "b", "c"} {
		p.leave(id)
	}
	if p.taken != 0 || len(p.by) != 0 {
		t.Errorf("%d taken, %v", p.taken, p.by)
	}
}

func TestShare(t *testing.T) {
	for _, c := range [][3]int{{256, 0, 256}, {256, 1, 256}, {256, 2, 128}, {256, 32, 8}, {256, 200, 8}, {1, 3, 1}} {
		if got := share(c[0], c[1]); got != c[2] {
			t.Errorf("one of %d has %d of %d, want %d", c[1], got, c[0], c[2])
		}
	}
}
