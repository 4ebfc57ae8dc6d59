package canon

import (
	"strings"
	"testing"
)

func FuzzDigest(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"amount":12.50,"to":"a"}`, `{"to":"\u0061","amount":125e-1}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
		{`{"a":1,"A":2}`, `{"A":2,"a":1}`},
		{`9007199254740992`, `9007199254740993`},
		{`1e400`, `1e401`},
		{`1e999999999999999999`, `10e999999999999999998`},
		{`"\ud800"`, `"\udc00"`},
		{"\"\xff\"", `"\ufffd"`},
		{`"😀"`, `"\ud83d\ude00"`},
		{`-0`, `0.0e5`},
		{`{"b":{"d":[{},{"f":0,"e":1}],"c":2},"a":[]}`, `[[],{"":[]},0.001]`},
		{strings.Repeat("[", 600), strings.Repeat(`{"":`, 600)},
		{"", "{}{}"},
		{"\ufeff1", "1\x00"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		checkAgainstOracle(t, one, two)
	})
}

func FuzzLookup(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"transfer_id":"t1","amount":5}`, "/transfer_id"},
		{`{"a":[{"b":1},{},[{"x":1}],{"k":"v"}]}`, "/a/3/k"},
		{`{"id":1,"ID":2}`, "/id"},
		{`{"~":{"/":"x"}}`, "/~0/~1"},
		{`[[[]],"x"]`, "/1"},
		{`{"":{"":1e3}}`, "//"},
		{`"x"`, ""},
		{`[0`, "/0"},
		{`[1]`, "/99999999999999999999"},
		{`{"a":"\ud800"}`, "/a"},
		{`1`, "a~"},
	} {
		f.Add([]byte(seed[0]), seed[1])
	}
	f.Fuzz(func(t *testing.T, body []byte, pointer string) {
		value, found, err := Lookup(body, pointer)
		if err != nil && (found || value != "") {
			t.Fatalf("an error and a value: %q, %v", value, found)
		}
		tree, comparable := parseTree(body)
		if err != nil || !comparable {
			return
		}
		want, ok := walkTree(tree, pointer)
		if got, isText := keyText(want); found != ok || ok && (!isText || got != value) {
			t.Fatalf("%q at %q: %q, %v; the tree has %v, %v", body, pointer, value, found, want, ok)
		}
	})
}
