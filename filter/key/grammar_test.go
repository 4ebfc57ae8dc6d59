package key

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func alphabet(t testing.TB, s string) *Alphabet {
	t.Helper()
	a, ok := ParseAlphabet(s)
	if !ok {
		t.Fatalf("%q is no alphabet", s)
	}
	return a
}

func TestGrammar(t *testing.T) {
	const v4, v7 = "8e03978e-40d5-43dd-bc93-6894a57f9324", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
	word := Grammar{MinLength: 3, Alphabet: alphabet(t, "a-z_-")}
	any, seven := Grammar{UUID: true}, Grammar{UUID: true, Versions: 1 << 7}
	strong := Grammar{MinEntropyBits: 64}
	for _, test := range []struct {
		g    Grammar
		key  string
		want string
		err  error
	}{
		{Grammar{}, "x", "x", nil},
		{word, "a_b-c", "a_b-c", nil},
		{word, "ab", "", ErrTooShort},
		{word, "AB", "", ErrTooShort},
		{word, "abC", "", ErrAlphabet},
		{word, "ab\x80", "", ErrAlphabet},
		{any, v4, v4, nil},
		{any, strings.ToUpper(v4), v4, nil},
		{any, v7, v7, nil},
		{seven, v7, v7, nil},
		{seven, v4, "", ErrUUID},
		{any, "00000000-0000-0000-0000-000000000000", "", ErrUUID},
		{any, "ffffffff-ffff-ffff-ffff-ffffffffffff", "", ErrUUID},
		{any, "8e03978e-40d5-93dd-bc93-6894a57f9324", "", ErrUUID},
		{any, "8e03978e-40d5-43dd-7c93-6894a57f9324", "", ErrUUID},
		{any, "8e03978e40d543ddbc936894a57f9324", "", ErrUUID},
		{any, "8e03978e-40d5-43dd-bc93-6894a57f932g", "", ErrUUID},
		{any, "8e03978e-40d5-43dd-bc93+6894a57f9324", "", ErrUUID},
		{any, v4 + "0", "", ErrUUID},
		{strong, v4, v4, nil},
		{strong, strings.Repeat("1", 255), "", ErrWeak},
		{strong, "1700000000123", "", ErrWeak},
	} {
		if got, err := test.g.Check(test.key); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%+v, %q: got %q, %v, want %q, %v", test.g, test.key, got, err, test.want, test.err)
		}
	}
}

func TestParseAlphabet(t *testing.T) {
	for set, want := range map[string]string{
		"a": "a", "a-c": "abc", "-a": "-a", "a-": "-a", "a-c-": "-abc", "^\\]": "\\]^", "+--": "+,-", "!-#x": "!\"#x", " ": " ",
		"": "", "c-a": "", "é": "", "\x7f": "", "a-\x7f": "", "\n": "",
	} {
		a, ok := ParseAlphabet(set)
		if ok != (want != "") {
			t.Errorf("%q: ok %v", set, ok)
			continue
		}
		for c := 0; ok && c < 256; c++ {
			if b := string([]byte{byte(c)}); a.Holds(b) != strings.Contains(want, b) {
				t.Errorf("%q holds %q: %v", set, b, a.Holds(b))
			}
		}
	}
}

// TestEntropy holds the figures that the documentation names.
func TestEntropy(t *testing.T) {
	for key, want := range map[string]float64{"": 0, "1111": 0, "01": 2, "0011": 4, "abcdefgh": 24, "1700000000123": 22} {
		if got := Entropy(key); math.Abs(got-want) > 0.5 {
			t.Errorf("%q: %.1f bits, want %.0f", key, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a, b := r.Uint64(), r.Uint64()
		uuid := fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a&0xffff, b>>52, b>>40&0xfff, a*b>>16)
		if got := Entropy(uuid); got < 105 || got > 145 {
			t.Fatalf("%s: %.1f bits", uuid, got)
		}
	}
}

func TestFromCookies(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  string
		found bool
		err   error
	}{
		{nil, "", false, nil},
		{[]string{"a=1; b=2"}, "", false, nil},
		{[]string{"a=1; order=x=y; b=2"}, "x=y", true, nil},
		{[]string{"a=1", "order=x"}, "x", true, nil},
		{[]string{`order="x"`}, "x", true, nil},
		{[]string{" order=x "}, "x", true, nil},
		{[]string{"order =x"}, "", false, ErrSyntax},
		{[]string{"order= x"}, "", false, ErrSyntax},
		{[]string{"order=a%20b"}, "a%20b", true, nil},
		{[]string{"border=1;order=2"}, "2", true, nil},
		{[]string{"order=x; order=x"}, "", false, ErrMultiple},
		{[]string{"order=x", "order=y"}, "", false, ErrMultiple},
		{[]string{"order=x; Order=y"}, "", false, ErrMultiple},
		{[]string{"ORDER=y"}, "", false, ErrMultiple},
		{[]string{"order"}, "", false, ErrEmpty},
		{[]string{"order="}, "", false, ErrEmpty},
		{[]string{`order=""`}, "", false, ErrEmpty},
		{[]string{`order="`}, "", false, ErrSyntax},
		{[]string{`order="x`}, "", false, ErrSyntax},
		{[]string{"order=x y"}, "", false, ErrSyntax},
		{[]string{"order=x,y"}, "", false, ErrSyntax},
		{[]string{"order=\x01"}, "", false, ErrSyntax},
		{[]string{"order=\xc3\xa9"}, "", false, ErrSyntax},
	} {
		got, found, err := FromCookies(test.lines, "order")
		if got != test.want || found != test.found || !errors.Is(err, test.err) {
			t.Errorf("%q: got %q, %v, %v", test.lines, got, found, err)
		}
	}
}
