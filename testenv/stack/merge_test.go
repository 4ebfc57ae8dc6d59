package stack

import (
	"reflect"
	"testing"
)

func parse(t *testing.T, text string) document {
	t.Helper()
	c, err := parseYAML("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, base, patch, want string }{
		{"maps member by member", `{a: {b: 1, c: 2}}`, `{a: {c: 3, d: 4}}`, `{a: {b: 1, c: 3, d: 4}}`},
		{"null removes", `{a: {b: 1, c: 2}}`, `{a: {b: null}}`, `{a: {c: 2}}`},
		{"null removes in what is new", `{a: 1}`, `{b: {c: null, d: 1}}`, `{a: 1, b: {d: 1}}`},
		{"scalars replace", `{a: {b: 1}}`, `{a: 5}`, `{a: 5}`},
		{"named items merge", `{l: [{name: x, v: 1}, {name: y, v: 2}]}`, `{l: [{name: y, w: 3}]}`,
			`{l: [{name: x, v: 1}, {name: y, v: 2, w: 3}]}`},
		{"new item before the next known one", `{l: [{name: x}, {name: y}]}`, `{l: [{name: n}, {name: y}]}`,
			`{l: [{name: x}, {name: n}, {name: y}]}`},
		{"new item behind the last known one", `{l: [{name: x}, {name: y}]}`, `{l: [{name: x}, {name: n}, {name: m}]}`,
			`{l: [{name: x}, {name: n}, {name: m}, {name: y}]}`},
		{"new items alone go to the end", `{l: [{name: x}]}`, `{l: [{name: n}, {name: m}]}`,
			`{l: [{name: x}, {name: n}, {name: m}]}`},
		{"new filters alone go to the front", `{http_filters: [{name: x}, {name: router}]}`, `{http_filters: [{name: n}, {name: m}]}`,
			`{http_filters: [{name: n}, {name: m}, {name: x}, {name: router}]}`},
		{"one item without a name merges into one", `{l: [{v: 1, w: 2}]}`, `{l: [{v: 3}]}`, `{l: [{v: 3, w: 2}]}`},
		{"other lists replace", `{l: [1, 2]}`, `{l: [3]}`, `{l: [3]}`},
		{"more than one without a name replace", `{l: [{v: 1}, {v: 2}]}`, `{l: [{v: 3}]}`, `{l: [{v: 3}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := merge(map[string]any(parse(t, c.base)), map[string]any(parse(t, c.patch)))
			if want := map[string]any(parse(t, c.want)); !reflect.DeepEqual(got, want) {
				t.Errorf("merge(%s, %s) = %v, want %v", c.base, c.patch, got, want)
			}
		})
	}
}
