package rules

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTargetsThatAreEqual(t *testing.T) {
	for _, test := range [][2]string{
		{"/a", "/a?"},
		{"/a", "/a?&&"},
		{"/%61", "/a"},
		{"/%7e", "/~"},
		{"/%2f", "/%2F"},
		{"/a?%61=%7e", "/a?a=~"},
		{"/a?x=%3d", "/a?x=%3D"},
		{"/a?b=2&a=1", "/a?a=1&b=2"},
		{"/a?b=2&a=1&a=0", "/a?a=1&b=2&a=0"},
		{"/a?b&&a", "/a?a&b"},
		{"/a?%62=1&a=2", "/a?a=2&b=1"},
	} {
		if !bytes.Equal(AppendTarget(nil, test[0]), AppendTarget(nil, test[1])) {
			t.Errorf("%s and %s differ", test[0], test[1])
		}
	}
}

func TestTargetsThatDiffer(t *testing.T) {
	all := []string{
		"", "/", "/a", "/A", "/a/", "//a", "/a/./b", "/a/b", "/%2f", "/%252f", "/+", "/%20", "/ ", "/%zz", "/%", "/%2",
		"/a?a", "/a?a=", "/a?=", "/a?=a", "/a?a=1", "/a?a=1&a=2", "/a?a=2&a=1", "/a?a=1&b=2", "/a?a=1%26b=2", "/a?a=1&b", "/a?a&b=1",
		"/a?" + strings.Repeat("a=1&a=2&", 10), "/a?" + strings.Repeat("a=1&", 10) + strings.Repeat("a=2&", 10),
		"/a?a=+", "/a?a=%20", "/a?a=1=2", "/a?a%3d1=2", "/a?a=1;b=2", "/a??", "/a?a=1#f", "/a#f", "/a?aa", "/a?a&a", "/a%3Fa",
	}
	seen := make(map[string]string)
	for _, path := range all {
		enc := string(AppendTarget(nil, path))
		if other, dup := seen[enc]; dup {
			t.Errorf("%q and %q are equal", path, other)
		}
		seen[enc] = path
	}
}

// Repeated names keep their order however many there are.
func TestTargetKeepsRepeatedNames(t *testing.T) {
	var path strings.Builder
	path.WriteString("/a?z=0")
	for i := range 50 {
		fmt.Fprintf(&path, "&b=%d&a=%d", i, i)
	}
	checkTarget(t, path.String())
}

func TestTargetAppends(t *testing.T) {
	got := AppendTarget([]byte("x"), "/a?b=1&c")
	if want := "x\x02/a\x01b\x021\x01c\x00"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	buf := make([]byte, 0, 256)
	for _, path := range []string{"/orders/1", "/orders/%7e%2f"} {
		if n := testing.AllocsPerRun(100, func() { AppendTarget(buf, path) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

// decodeTarget reads the encoding back: that it can is why no two targets meet.
func decodeTarget(b []byte) (path string, pairs []string, err error) {
	next := func(less uint64) (string, bool) {
		n, w := binary.Uvarint(b)
		if w <= 0 || n < less || n-less > uint64(len(b)-w) {
			err = fmt.Errorf("bad length at %q", b)
			b = nil
			return "", false
		}
		s := string(b[w : w+int(n-less)])
		b = b[w+int(n-less):]
		return s, true
	}
	path, _ = next(0)
	for len(b) > 0 && err == nil {
		name, _ := next(0)
		if len(b) > 0 && b[0] == 0 {
			b = b[1:]
			pairs = append(pairs, name)
			continue
		}
		value, _ := next(1)
		pairs = append(pairs, name+"="+value)
	}
	return path, pairs, err
}

// checkTarget compares the encoding with a plain account of what it stands for.
func checkTarget(t *testing.T, path string) {
	t.Helper()
	got, pairs, err := decodeTarget(AppendTarget(nil, path))
	if err != nil {
		t.Fatalf("%q: %v", path, err)
	}
	plainPath, query, _ := strings.Cut(path, "?")
	form := func(s string) string { return string(appendUnreserved(nil, s)) }
	var want []string
	for p := range strings.SplitSeq(form(query), "&") {
		if p != "" {
			want = append(want, p)
		}
	}
	slices.SortStableFunc(want, func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	})
	if got != form(plainPath) || !slices.Equal(pairs, want) {
		t.Fatalf("%q: got %q %q, want %q %q", path, got, pairs, form(plainPath), want)
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"", "/a?b=1&a=2&b=0", "/%61%2f%zz?%", "/a?=&==&&a", "/?" + strings.Repeat("a&", 20), "/a?\xff%ff=\x00"} {
		f.Add(s)
	}
	f.Fuzz(checkTarget)
}

func BenchmarkTarget(b *testing.B) {
	for _, path := range []string{"/orders/1234", "/orders/1234?b=2&a=1"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 256)
			for b.Loop() {
				AppendTarget(buf, path)
			}
		})
	}
}
