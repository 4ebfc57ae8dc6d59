package canon

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLeaveOut(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a member", `{"t":1,"a":2}`, `{"a":2}`},
		{"the only one", `{"t":{"x":[1]}}`, `{}`},
		{"the first of a nested object", `{"a":{"t":1,"b":2},"t":3}`, `{"a":{"b":2}}`},
		{"all of a nested object", `{"a":{"t":{"y":{}}},"b":{"c":1}}`, `{"a":{},"b":{"c":1}}`},
		{"in an array", `{"l":[{"t":1},{"t":2,"u":{}}]}`, `{"l":[{"t":1},{"u":{}}]}`},
		{"nothing there", `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"another case too", `{"t":1,"T":2}`, `{"t":1,"T":2}`},
		{"another case alone", `{"T":2}`, `{"T":2}`},
		{"another case on the path", `{"a":{"t":1},"A":{}}`, `{"a":{"t":1},"A":{}}`},
		{"escaped name", `{"\u0074":1,"a":2}`, `{"a":2}`},
		{"a name with ~ and /", `{"~/":1,"a":2}`, `{"a":2}`},
		{"an element of an array", `{"e":[1,2]}`, `{"e":[1,2]}`},
		{"the path ends in a scalar", `{"a":1}`, `{"a":1}`},
		{"an empty object on the path", `{"a":{}}`, `{"a":{}}`},
		{"the whole body", `"x"`, `"x"`},
	} {
		got, err := appendWithout(nil, []byte(c.body), []string{"/a/t", "/e/0", "/l/1/t", "/t", "/~0~1"})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	if _, err := appendWithout(nil, []byte(`{"t":1,"t":2}`), []string{"/t"}); err == nil {
		t.Error("a member that comes twice is left out")
	}
}

// Leaving out is what is left when the oracle's tree loses the member: nothing
// else is taken along.
func TestLeaveOutFollowsTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := treeGen(3).Draw(t, "tree")
		body := spell(t, tree)
		pointer := rapid.SampledFrom([]string{"/a", "/b", "/a/b", "/b/a", "/a/0/b", "/ab", "/", "//a", "/é"}).Draw(t, "pointer")
		names := strings.Split(pointer[1:], "/")
		want, ok := removed(tree, names)
		if !ok {
			want = tree
		}
		got, err := appendWithout(nil, []byte(body), []string{pointer})
		if err != nil {
			t.Fatal(err)
		}
		left, ok := parseTree(got)
		if again, err := Append(nil, got); !ok || err != nil || !bytes.Equal(again, got) || !sameTree(left, want) {
			t.Fatalf("%s without %s is %s, want %v", body, pointer, got, want)
		}
	})
}

// removed returns the tree without the member at a path; ok is false where there
// is none, or where a name on the path is there in another case.
func removed(tree any, path []string) (out any, ok bool) {
	switch v := tree.(type) {
	case map[string]any:
		for name := range v {
			if name != path[0] && strings.EqualFold(name, path[0]) {
				return nil, false
			}
		}
		inner, there := v[path[0]]
		if !there {
			return nil, false
		}
		m := map[string]any{}
		for name, w := range v {
			m[name] = w
		}
		if len(path) == 1 {
			delete(m, path[0])
			return m, true
		}
		m[path[0]], ok = removed(inner, path[1:])
		return m, ok
	case []any:
		for i := range v {
			if fmt.Sprint(i) == path[0] && len(path) > 1 {
				l := slices.Clone(v)
				l[i], ok = removed(v[i], path[1:])
				return l, ok
			}
		}
	}
	return nil, false
}
