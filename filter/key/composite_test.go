package key

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestComposite(t *testing.T) {
	for _, tt := range []struct {
		parts []string
		want  string
	}{
		{nil, ""},
		{[]string{"a:b%"}, "a:b%"},
		{[]string{"payment", "42"}, "payment:42"},
		{[]string{"a:b", "c"}, "a%3Ab:c"},
		{[]string{"a", "b:c"}, "a:b%3Ac"},
		{[]string{"a%3Ab", "c"}, "a%253Ab:c"},
		{[]string{"\x00\n\x1f\x7f", "é "}, "%00%0A%1F%7F:é "},
		{[]string{"", ""}, ":"},
	} {
		if got := Composite(tt.parts); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.parts, got, tt.want)
		}
	}
}

func TestFromParts(t *testing.T) {
	for _, tt := range []struct {
		parts []string
		want  string
		err   error
	}{
		{[]string{"a:b"}, "a:b", nil},
		{[]string{"é"}, "é", nil},
		{[]string{"a\n", "b"}, "a%0A:b", nil},
		{[]string{"12345", "6789"}, "12345:6789", nil},
		{[]string{"1234567890"}, "1234567890", nil},
		{nil, "", ErrEmpty},
		{[]string{""}, "", ErrEmpty},
		{[]string{"a", ""}, "", ErrEmpty},
		{[]string{"a\n"}, "", ErrSyntax},
		{[]string{"a\x7f"}, "", ErrSyntax},
		{[]string{"12345678901"}, "", ErrTooLong},
		{[]string{"12345", "67890"}, "", ErrTooLong},
		{[]string{"::::", "a"}, "", ErrTooLong},
	} {
		if got, err := FromParts(tt.parts, 10); got != tt.want || err != tt.err {
			t.Errorf("%q: got %q, %v, want %q, %v", tt.parts, got, err, tt.want, tt.err)
		}
	}
}

// TestCompositeIsInjective draws pairs of lists over few bytes, so that careless
// joining would soon collide.
func TestCompositeIsInjective(t *testing.T) {
	part := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", ":", "%", "3", "A", "%3A", "\x00"}), 0, 3),
		func(s []string) string { return strings.Join(s, "") })
	list := rapid.SliceOfN(part, 2, 3)
	rapid.Check(t, func(t *rapid.T) {
		one, two := list.Draw(t, "one"), list.Draw(t, "two")
		if same := Composite(one) == Composite(two); same != slices.Equal(one, two) {
			t.Fatalf("%q and %q both give %q", one, two, Composite(one))
		}
	})
}
