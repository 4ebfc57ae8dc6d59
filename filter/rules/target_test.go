package rules

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/canon"
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
		{"/a?pay[]=1&a=0&pay%5B%5D=2", "/a?pay[]=1&pay%5B%5D=2&a=0"},
		{"/a?b=0&B=1&a=2", "/a?a=2&b=0&B=1"},
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

// Pairs that some reader puts into one value are not the same in another order.
func TestTargetKeepsGroups(t *testing.T) {
	for _, names := range [][2]string{
		{"pay[]", "pay%5B%5D"}, {"a", "A"}, {"a.b", "a_b"}, {"a[]", "a[x]"}, {"a", "a[0]"}, {"a+b", "a%20b"}, {"a+b", "a_b"},
		{"a", "%20a"}, {"%C3%A9", "%c3%89"}, {"a!", "a%21"}, {"a[b", "a_b"}, {"%u0061", "a"}, {"", "a"}, {"%00a", "a"},
	} {
		one := "/p?z=0&" + names[0] + "=1&" + names[1] + "=100&c=3"
		swap := "/p?z=0&" + names[1] + "=100&" + names[0] + "=1&c=3"
		if bytes.Equal(AppendTarget(nil, one), AppendTarget(nil, swap)) {
			t.Errorf("%s and %s are equal", one, swap)
		}
	}
	if one, swap := "/p?b=1;a=1&a=2", "/p?a=2&b=1;a=1"; bytes.Equal(AppendTarget(nil, one), AppendTarget(nil, swap)) {
		t.Errorf("%s and %s are equal", one, swap)
	}
}

// Records of before have these: they are compared with retries of now.
func TestTargetsOfBefore(t *testing.T) {
	for path, want := range map[string]string{
		"/orders/1":                    "\x09/orders/1",
		"/a?b=1&c":                     "\x02/a\x01b\x021\x01c\x00",
		"/a?c=2&b=1&b=0":               "\x02/a\x01b\x021\x01b\x020\x01c\x022",
		"/a?x[]=1&x[]=2&B=3&a=%2f":     "\x02/a\x01B\x023\x01a\x04%2F\x03x[]\x021\x03x[]\x022",
		"/a?pay%5B%5D=1&pay[]=2&%41=0": "\x02/a\x01A\x020\x09pay%5B%5D\x021\x05pay[]\x022",
		"/a?=1&b;c=2":                  "\x02/a\x00\x021\x03b;c\x022",
	} {
		if got := string(AppendTarget(nil, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
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
	if got != form(plainPath) {
		t.Fatalf("%q: path %q, want %q", path, got, form(plainPath))
	}
	sorted := slices.Clone(want)
	slices.SortStableFunc(sorted, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	asBefore := true
	for _, group := range groupsOf(want) {
		if !slices.Equal(within(pairs, group), group) {
			t.Fatalf("%q: got %q, in which %q are not in their order", path, pairs, group)
		}
		asBefore = asBefore && slices.Equal(within(sorted, group), group)
	}
	if asBefore && !slices.Equal(pairs, sorted) {
		t.Fatalf("%q: got %q, want %q as ever", path, pairs, sorted)
	}
	slices.Sort(want)
	if slices.Sort(pairs); !slices.Equal(pairs, want) {
		t.Fatalf("%q: got %q, want %q", path, pairs, want)
	}
}

func nameOf(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	return name
}

// groupsOf are the pairs whose order counts, group by group.
func groupsOf(pairs []string) map[string][]string {
	groups := make(map[string][]string)
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		group, ok := canon.FieldGroup(name)
		if !ok || strings.Contains(value, ";") {
			return map[string][]string{"": pairs}
		}
		groups[group] = append(groups[group], p)
	}
	return groups
}

// within are those of pairs that are members, each as often as it comes.
func within(pairs, members []string) (out []string) {
	for _, p := range pairs {
		if slices.Contains(members, p) {
			out = append(out, p)
		}
	}
	return out
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"", "/a?b=1&a=2&b=0", "/%61%2f%zz?%", "/a?=&==&&a", "/?" + strings.Repeat("a&", 20), "/?b[]=1&A=2&b=3&a=0", "/?a_b=1&%61.b=2&c&a+b=3", "/?a[=1&a=;", "/a?\xff%ff=\x00"} {
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
