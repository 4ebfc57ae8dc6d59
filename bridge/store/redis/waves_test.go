package redis

import (
	"fmt"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
)

func TestWaves(t *testing.T) {
	op := func(name byte, owner string) store.Operation {
		return store.Operation{Name: store.Name{31: name}, Owner: []byte(owner)}
	}
	for _, c := range []struct {
		ops  []store.Operation
		want string
	}{
		{[]store.Operation{op(1, "a")}, "[[0]]"},
		{[]store.Operation{op(1, "a"), op(2, "a"), op(3, "a")}, "[[0 1 2]]"},
		{[]store.Operation{op(1, "a"), op(1, "b"), op(1, "c")}, "[[0 1 2]]"},
		{[]store.Operation{op(1, "a"), op(1, "a"), op(2, "a")}, "[[0 2] [1]]"},
		// What follows one that waits, waits, whoever's it is.
		{[]store.Operation{op(1, "a"), op(1, "a"), op(1, "b"), op(1, "a"), op(2, "b")}, "[[0 4] [1 2] [3]]"},
	} {
		idx := make([]int, len(c.ops))
		for i := range idx {
			idx[i] = i
		}
		if got := fmt.Sprint(waves(c.ops, idx)); got != c.want {
			t.Errorf("waves %s, want %s", got, c.want)
		}
	}
}
