package canon

import (
	"bytes"
	"testing"
	"testing/quick"
)

// Readers that ignore case take one of two members by its place.
func TestMembersThatDifferByCase(t *testing.T) {
	for _, c := range []struct {
		one, two string
		same     bool
	}{
		{`{"amount":1,"AMOUNT":100}`, `{"AMOUNT":100,"amount":1}`, false},
		{`{"amount":1,"to":"x","\u0041mount":100}`, `{"Amount":100,"to":"x","amount":1}`, false},
		{`{"k":1,"\u212a":2}`, `{"\u212a":2,"k":1}`, false},
		{`{"é":1,"É":2}`, `{"É":2,"é":1}`, false},
		{`[{"b":0,"a":{"x":1,"X":2}}]`, `[{"b":0,"a":{"X":2,"x":1}}]`, false},
		{`{"b":1,"amount":1,"AMOUNT":100,"B2":0}`, `{"B2":0,"amount":1,"AMOUNT":100,"b":1}`, true},
		{`{"accountId":1,"toName":2}`, `{"toName":2,"accountId":1}`, true},
	} {
		a, oka := Digest([]byte(c.one))
		b, okb := Digest([]byte(c.two))
		if !oka || !okb || (a == b) != c.same {
			t.Errorf("%s and %s: same digest %t, want %t", c.one, c.two, a == b, c.same)
		}
	}
}

// Texts of before: an upgrade changes the digest only where the order counts.
func TestTextsOfBefore(t *testing.T) {
	for body, want := range map[string]string{
		`{"toName":2,"accountId":1,"Ab":0}`:          `{"Ab":0,"accountId":1,"toName":2}`,
		`{"b":1,"AMOUNT":1e2,"amount":1}`:            `{"AMOUNT":1e2,"amount":1,"b":1}`,
		`{"b":1,"amount":1,"C":3,"AMOUNT":1e2}`:      `{"amount":1,"C":3,"AMOUNT":1e2,"b":1}`,
		`{"a":{"Z":[{"y":1,"X":2}]},"é":1,"z":null}`: `{"a":{"Z":[{"X":2,"y":1}]},"z":null,"é":1}`,
	} {
		if got, err := Append(nil, []byte(body)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", body, got, err, want)
		}
	}
}

func TestCompareFoldedIsEqualFold(t *testing.T) {
	same := func(a, b string) bool {
		return (compareFolded([]byte(a), []byte(b)) == 0) == bytes.EqualFold([]byte(a), []byte(b))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	for _, pair := range [][2]string{{"k", "\u212a"}, {"S", "ſ"}, {"ss", "ß"}, {"Σ", "ς"}, {"aB", "Ab"}, {"a", "ab"}} {
		if !same(pair[0], pair[1]) {
			t.Errorf("%q", pair)
		}
	}
}
