package rules

import (
	"errors"
	"strings"
	"testing"
)

func TestSegment(t *testing.T) {
	for _, test := range []struct {
		path  string
		n     int
		want  string
		found bool
		err   error
	}{
		{"/orders/42/items?x=/1", 2, "42", true, nil},
		{"/orders/42/", 2, "42", true, nil},
		{"/orders/42", 3, "", false, nil},
		{"/", 1, "", false, nil},
		{"/orders/a%20b%C3%A9", 2, "a b\u00e9", true, nil},
		{"/orders/%2561", 2, "%61", true, nil},
		{"/orders/%00", 2, "", false, ErrPath},
		{"/%6frders/4%32", 2, "42", true, nil},
		{"/orders/%zz", 2, "", false, ErrPath},
		{"/orders/42/%", 2, "", false, ErrPath},
		{"/orders/%4", 2, "", false, ErrPath},
		{"/orders/%ff", 2, "", false, ErrPath},
		{"/orders/a%2fb", 2, "", false, ErrPath},
		{"/a%2fb/42", 2, "", false, ErrPath},
		{"/orders//42", 2, "", false, ErrPath},
		{"/./orders/42", 2, "", false, ErrPath},
		{"/x/../orders/42", 2, "", false, ErrPath},
		{"/%2e%2e/orders/42", 2, "", false, ErrPath},
		{"/orders/42;v=1", 2, "", false, ErrPath},
		{"/orders/42%3bv=1", 2, "", false, ErrPath},
		{"/orders/4%3f2", 2, "", false, ErrPath},
		{`/orders\42`, 2, "", false, ErrPath},
		{"orders/42", 2, "", false, ErrPath},
	} {
		got, found, err := Segment(test.path, test.n)
		if got != test.want || found != test.found || !errors.Is(err, test.err) {
			t.Errorf("%s, %d: got %q, %v, %v", test.path, test.n, got, found, err)
		}
	}
}

// FuzzSegment holds that the way in which the segments are taken off a path makes
// no difference to one that is read at all.
func FuzzSegment(f *testing.F) {
	for _, s := range []string{"/a/b", "/a%20b/c", "/%2f/", "/a//b", "/%252f/x?y", "", "/%"} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, path string, n int) {
		n = n&7 + 1
		got, found, err := Segment(path, n)
		if err != nil || !found {
			if got != "" {
				t.Fatalf("%q without being found", got)
			}
			return
		}
		whole := strings.Split(strings.Trim(decode(cutQuery(path)), "/"), "/")
		if n > len(whole) || whole[n-1] != got || strings.ContainsAny(got, `/\;?#`) {
			t.Fatalf("%q: segment %d is %q of %q", path, n, got, whole)
		}
	})
}
