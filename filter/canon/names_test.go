package canon

import (
	"errors"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	var got []string
	collect := func(name []byte) bool {
		got = append(got, string(name))
		return true
	}
	if err := Names([]byte(` {"b":[{"\u0061":1},{"d":{}}],"":{"A":null}} `), collect); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if want := []string{"", "A", "a", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	calls := 0
	if err := Names([]byte(`{"a":1,"b":2}`), func([]byte) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("%d calls after false, %v", calls, err)
	}
	for body, want := range map[string]error{
		"{\"a\":\"\xff\"}": ErrUTF8, `{"a":"\ud800"}`: ErrSurrogate, `{"\udc00":1}`: ErrSurrogate, `{"a":[{"b":1,"\u0062":2}]}`: ErrDuplicate,
		`{"a":1}{}`: ErrSyntax, ``: ErrSyntax, `{"a":1e9999999999999999999}`: ErrExponent,
	} {
		err := Names([]byte(body), func([]byte) bool { t.Errorf("%s: called", body); return true })
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
	}
}
