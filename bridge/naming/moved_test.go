package naming

import (
	"bytes"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// TestNameFrom: before the moment records are named under the old secret alone,
// from it on they are looked for there first.
func TestNameFrom(t *testing.T) {
	r, err := NewRing(
		Secret{ID: "new", Bytes: bytes.Repeat([]byte{2}, MinSecretBytes), NameFrom: noon},
		Secret{ID: "old", Bytes: bytes.Repeat([]byte{1}, MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration][]string{-time.Nanosecond: {"old"}, 0: {"old", "new"}} {
		var got []string
		for _, k := range r.Clients(noon.Add(at)) {
			got = append(got, k.ID())
		}
		if len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s from the time set: %v, want %v", at, got, want)
		}
	}
}

func TestLink(t *testing.T) {
	both, old := ring(t, 2, 1), ring(t, 1)
	newKey := both.Keys()[0]
	from, to := store.Name{1}, store.Name{2}
	link := newKey.Link(from, to)
	if len(link) != store.PointerBytes {
		t.Fatalf("link of %d bytes", len(link))
	}
	if k, name, ok := both.Follow(from, link); !ok || k != newKey || name != to {
		t.Fatalf("own link: %v %v", name, ok)
	}
	if _, _, ok := old.Follow(from, link); ok {
		t.Error("a link under a secret that is not there was followed")
	}
	if _, _, ok := both.Follow(store.Name{3}, link); ok {
		t.Error("a link was followed from another record")
	}
	for i := range link {
		forged := bytes.Clone(link)
		forged[i] ^= 1
		if _, _, ok := both.Follow(from, forged); ok {
			t.Errorf("byte %d does not count", i)
		}
	}
	if _, _, ok := both.Follow(from, link[1:]); ok {
		t.Error("a cut link was followed")
	}
}

func TestCaller(t *testing.T) {
	a, b := ring(t, 1).Keys()[0], ring(t, 2).Keys()[0]
	one := a.Caller("n", "p")
	if len(one) != CallerBytes || !bytes.Equal(one, a.Caller("n", "p")) {
		t.Fatalf("%x is not stable", one)
	}
	for name, other := range map[string][]byte{
		"another principal": a.Caller("n", "q"), "another namespace": a.Caller("m", "p"),
		"shifted parts": a.Caller("np", ""), "another secret": b.Caller("n", "p"),
	} {
		if bytes.Equal(one, other) {
			t.Errorf("%s has the same digest", name)
		}
	}
}
