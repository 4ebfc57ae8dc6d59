package canon

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestParseForm(t *testing.T) {
	pairs, err := ParseForm([]byte("a=1&b=x+y%2B%26&&c&d=&a=2=3&%C3%A9=%ff"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Pair{
		{[]byte("a"), []byte("1"), true},
		{[]byte("b"), []byte("x y+&"), true},
		{[]byte("c"), []byte{}, false},
		{[]byte("d"), []byte{}, true},
		{[]byte("a"), []byte("2=3"), true},
		{[]byte("é"), []byte{0xff}, true},
	}
	if len(pairs) != len(want) {
		t.Fatalf("%d pairs, want %d", len(pairs), len(want))
	}
	for i, p := range pairs {
		if !bytes.Equal(p.Name, want[i].Name) || !bytes.Equal(p.Value, want[i].Value) || p.Valued != want[i].Valued {
			t.Errorf("pair %d: %q=%q (%v)", i, p.Name, p.Value, p.Valued)
		}
	}
}

func TestParseFormRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		err  error
	}{
		"percent alone":       {"a=%", ErrForm},
		"percent and one":     {"a=%4", ErrForm},
		"not hexadecimal":     {"a=%4g", ErrForm},
		"percent in a name":   {"a%zz=1", ErrForm},
		"semicolon":           {"a=1;b=2", ErrForm},
		"NUL":                 {"a=\x00", ErrForm},
		"encoded NUL in name": {"a%00b=1", ErrForm},
		"no name":             {"=1", ErrForm},
		"a name of spaces":    {"+=1", ErrForm},
		"open bracket":        {"a[b=1", ErrForm},
		"closing bracket":     {"a]=1", ErrForm},
		"nested brackets":     {"a[[b]]=1", ErrForm},
		"only brackets":       {"[]=1", ErrForm},
		"too many":            {strings.Repeat("a=1&", MaxPairs) + "a=1", ErrPairs},
	} {
		if _, err := ParseForm([]byte(c.body)); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
}

func TestLookupForm(t *testing.T) {
	for name, c := range map[string]struct {
		body, field, value string
		found              bool
		err                error
	}{
		"there":            {"x=1&id=a%20b", "id", "a b", true, nil},
		"empty":            {"id=", "id", "", true, nil},
		"not there":        {"x=1", "id", "", false, nil},
		"without =":        {"id", "id", "", false, ErrType},
		"twice":            {"id=1&id=1", "id", "", false, ErrAmbiguous},
		"another case":     {"ID=1", "id", "", false, ErrAmbiguous},
		"both cases":       {"id=1&Id=1", "id", "", false, ErrAmbiguous},
		"as a list":        {"id=1&id[]=2", "id", "", false, ErrAmbiguous},
		"dot for _":        {"a_b=1&a.b=2", "a_b", "", false, ErrAmbiguous},
		"encoded name":     {"%69d=1", "id", "1", true, nil},
		"Kelvin sign":      {"\u212aey=1", "key", "", false, ErrAmbiguous},
		"not UTF-8":        {"id=%ff", "id", "", false, ErrUTF8},
		"not a form":       {"id=%", "id", "", false, ErrForm},
		"nothing":          {"", "id", "", false, nil},
		"bracketed as is":  {"a[b]=1&c=2", "a[b]", "1", true, nil},
		"bracketed, other": {"a[b]=1&a[c]=2", "a[b]", "", false, ErrAmbiguous},
	} {
		value, found, err := LookupForm([]byte(c.body), c.field)
		if value != c.value || found != c.found || !errors.Is(err, c.err) {
			t.Errorf("%s: %q %v %v, want %q %v %v", name, value, found, err, c.value, c.found, c.err)
		}
	}
}

func TestAppendForm(t *testing.T) {
	for name, c := range map[string]struct {
		one, two string
		ignore   []string
		equal    bool
	}{
		"order of names":             {"a=1&b=2", "b=2&a=1", nil, true},
		"spelling":                   {"a=x+y", "%61=x%20y", nil, true},
		"empty pairs":                {"a=1&b=2", "&a=1&&b=2&", nil, true},
		"order of one name":          {"a=1&a=2", "a=2&a=1", nil, false},
		"order of cases":             {"a=1&A=2", "A=2&a=1", nil, false},
		"order in a list of objects": {"a[][x]=1&a[][y]=2&a[][x]=3", "a[][x]=1&a[][x]=3&a[][y]=2", nil, false},
		"order of what PHP joins":    {"a.b=1&a_b=2", "a_b=2&a.b=1", nil, false},
		"value":                      {"a=1", "a=2", nil, false},
		"empty and missing value":    {"a=", "a", nil, false},
		"moved boundary":             {"a=1b&c=", "a=1&bc=", nil, false},
		"once decoded":               {"a=%2541", "a=A", nil, false},
		"ignored":                    {"a=1&t=5", "t=6&a=1", []string{"t"}, true},
		"ignored, one lacks it":      {"a=1&t=5", "a=1", []string{"t"}, true},
		"ignored twice":              {"a=1&t=5&t=6", "a=1&t=5&t=7", []string{"t"}, false},
		"ignored in another case":    {"a=1&T=5", "a=1&T=6", []string{"t"}, false},
		"ignored without =":          {"a=1&t", "a=1", []string{"t"}, true},
	} {
		one, err1 := AppendForm(nil, []byte(c.one), c.ignore)
		two, err2 := AppendForm(nil, []byte(c.two), c.ignore)
		if err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v", name, err1, err2)
		} else if bytes.Equal(one, two) != c.equal {
			t.Errorf("%s: equal is %v", name, !c.equal)
		}
	}
}
