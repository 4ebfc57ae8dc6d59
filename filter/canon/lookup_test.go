package canon

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestLookup(t *testing.T) {
	const body = `{"a":[{"b":1},{},[{"x":1}],{"k":"v\n\u00e9","q":1e3}],"":{"":"deep"},"~/":"t","m~1":"u","n":-0.0,"f":1.5,
		"z":null,"y":true,"o":{},"big":1` + "000000000000000000000000000000000000000000000000000000000000000" + `,"huge":1e64,"neg":-12e1,"dup":{"x":1,"x":2},"01":"s"}`
	for _, tt := range []struct {
		pointer, value string
		found          bool
		err            error
	}{
		{"/a/0/b", "1", true, nil},
		{"/a/2/0/x", "1", true, nil},
		{"/a/3/k", "v\né", true, nil},
		{"/a/3/q", "1000", true, nil},
		{"//", "deep", true, nil},
		{"/~0~1", "t", true, nil},
		{"/m~01", "u", true, nil},
		{"/n", "0", true, nil},
		{"/neg", "-120", true, nil},
		{"/big", "1" + strings.Repeat("0", 63), true, nil},
		{"/01", "s", true, nil},
		{"/huge", "", false, ErrType},
		{"/f", "", false, ErrType},
		{"/z", "", false, ErrType},
		{"/y", "", false, ErrType},
		{"/o", "", false, ErrType},
		{"/a", "", false, ErrType},
		{"", "", false, ErrType},
		{"/none", "", false, nil},
		{"/a/4", "", false, nil},
		{"/a/-", "", false, nil},
		{"/a/00", "", false, nil},
		{"/a/01", "", false, nil},
		{"/a/", "", false, nil},
		{"/a/+1", "", false, nil},
		{"/a/18446744073709551616", "", false, nil},
		{"/a/1/b", "", false, nil},
		{"/n/0", "", false, nil},
		{"/o/x", "", false, nil},
		{"/dup/x", "", false, ErrAmbiguous},
		{"a", "", false, ErrPointer},
		{"/~", "", false, ErrPointer},
		{"/~2", "", false, ErrPointer},
	} {
		value, found, err := Lookup([]byte(body), tt.pointer)
		if value != tt.value || found != tt.found || !errors.Is(err, tt.err) {
			t.Errorf("%q: %q, %v, %v, want %q, %v, %v", tt.pointer, value, found, err, tt.value, tt.found, tt.err)
		}
	}
}

func TestLookupOtherBodies(t *testing.T) {
	for _, tt := range []struct {
		body, pointer string
		want          error
	}{
		{`{"transfer_id":"a","transfer_id":"a"}`, "/transfer_id", ErrAmbiguous},
		{`{"transfer_id":"a","Transfer_ID":"b"}`, "/transfer_id", ErrAmbiguous},
		{`{"Transfer_ID":"b","transfer_id":"a"}`, "/transfer_id", ErrAmbiguous},
		{`{"Transfer_ID":"b"}`, "/transfer_id", ErrAmbiguous},
		{`{"\u0074ransfer_id":"b","transfer_id":"a"}`, "/transfer_id", ErrAmbiguous},
		{`{"tran\u017ffer_id":"b","transfer_id":"a"}`, "/transfer_id", ErrAmbiguous}, // long s folds to s
		{`{"\u212aey":"b"}`, "/key", ErrAmbiguous},                                   // the Kelvin sign folds to k
		{`{"a":{"id":1},"A":{"id":2}}`, "/a/id", ErrAmbiguous},
		{`[{"a":[{"id":1,"iD":2}]}]`, "/0/a/0/id", ErrAmbiguous},
		{`{"x":1,"x":2,"id":"a"}`, "/id", nil},
		{`{"X":1,"x":2,"id":"a"}`, "/id", nil},
		{`{"id":"a","n":{"id":1,"ID":2}}`, "/id", nil},
		{`{"id":"a"`, "/id", ErrSyntax},
		{`{"id":"a"}x`, "/id", ErrSyntax},
		{``, "/id", ErrSyntax},
		{"{\"id\":\"\xff\"}", "/id", ErrUTF8},
		{`{"id":"\ud800"}`, "/id", ErrSurrogate},
		{`{"id":"a","n":"\ud800"}`, "/id", ErrSurrogate},
		{`{"id":"a","n":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "/id", ErrDepth},
	} {
		value, found, err := Lookup([]byte(tt.body), tt.pointer)
		if !errors.Is(err, tt.want) || err == nil && (value != "a" || !found) {
			t.Errorf("%.60q at %q: %q, %v, %v, want %v", tt.body, tt.pointer, value, found, err, tt.want)
		}
	}
}

// TestLookupFollowsTheOracle looks every place of a tree up.
func TestLookupFollowsTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(spell(t, treeGen(3).Draw(t, "tree")))
		tree, _ := parseTree(body)
		pointer := rapid.Custom(func(t *rapid.T) string { return drawPointer(t, tree) }).Draw(t, "pointer")
		value, found, err := Lookup(body, pointer)
		want, ok := walkTree(tree, pointer)
		text, isText := keyText(want)
		switch {
		case err == ErrAmbiguous:
			if !hasVariant(tree, pointer) {
				t.Fatalf("%s at %q: %v", body, pointer, err)
			}
		case hasVariant(tree, pointer):
			t.Fatalf("%s at %q: a variant was missed", body, pointer)
		case err == ErrType:
			if !ok || isText {
				t.Fatalf("%s at %q: %v, the tree has %v", body, pointer, err, want)
			}
		case err != nil || found != ok || ok && (!isText || value != text):
			t.Fatalf("%s at %q: %q, %v, %v, the tree has %v, %v", body, pointer, value, found, err, want, ok)
		}
	})
}

func drawPointer(t *rapid.T, tree any) string {
	pointer := ""
	for range rapid.IntRange(0, 4).Draw(t, "length") {
		var tokens []string
		switch v := tree.(type) {
		case []any:
			for i := range v {
				tokens = append(tokens, strconv.Itoa(i))
			}
		case map[string]any:
			for name := range v {
				tokens = append(tokens, name)
			}
		}
		tokens = append(tokens, "a", "A", "0", "-")
		// Maps have no order and rapid wants one.
		slices.Sort(tokens)
		token := rapid.SampledFrom(tokens).Draw(t, "token")
		pointer += "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
		tree, _ = step(tree, token)
	}
	return pointer
}

// walkTree is RFC 6901 section 4 on a tree of the oracle's.
func walkTree(tree any, pointer string) (any, bool) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		var ok bool
		if tree, ok = step(tree, token); !ok {
			return nil, false
		}
	}
	return tree, true
}

func step(tree any, token string) (any, bool) {
	switch v := tree.(type) {
	case map[string]any:
		e, ok := v[token]
		return e, ok
	case []any:
		i, err := strconv.Atoi(token)
		if err != nil || strconv.Itoa(i) != token || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// hasVariant reports whether a name on the path has a twin in another case.
func hasVariant(tree any, pointer string) bool {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if m, ok := tree.(map[string]any); ok {
			for name := range m {
				if name != token && strings.EqualFold(name, token) {
					return true
				}
			}
		}
		var ok bool
		if tree, ok = step(tree, token); !ok {
			return false
		}
	}
	return false
}

// keyText returns the text of a string or of an integer short enough.
func keyText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		c, exp := coefficient(v.String())
		if c.Sign() == 0 {
			return "0", true
		}
		if exp.CmpAbs(big.NewInt(1<<16)) > 0 {
			return "", false
		}
		r := new(big.Rat).SetInt(c)
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(exp), nil))
		if exp.Sign() < 0 {
			r.Quo(r, scale)
		} else {
			r.Mul(r, scale)
		}
		text := r.Num().String()
		return text, r.IsInt() && len(strings.TrimPrefix(text, "-")) <= MaxIntegerDigits
	}
	return "", false
}
