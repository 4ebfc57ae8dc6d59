package canon

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for name, tc := range map[string]struct{ body, pointers, want string }{
		"string":          {`{"a":"secret","b":1}`, "/a", `{"a":null,"b":1}`},
		"number at end":   {`{"a":1,"b":-2.5e3}`, "/b", `{"a":1,"b":null}`},
		"object":          {`{"a":{"x":{"y":1}},"b":[1]}`, "/a", `{"a":null,"b":[1]}`},
		"empty object":    {`{"a":{ },"b":1}`, "/a", `{"a":null,"b":1}`},
		"array":           {`{"a":[{"x":1},[2]],"b":1}`, "/a", `{"a":null,"b":1}`},
		"inside":          {`{"a":{"x":1,"y":2}}`, "/a/y", `{"a":{"x":1,"y":null}}`},
		"element":         {`{"a":[1,{"p":"s"},3]}`, "/a/1/p", `{"a":[1,{"p":null},3]}`},
		"several":         {`{"c":3,"a":1,"b":2}`, "/a /b /c", `{"c":null,"a":null,"b":null}`},
		"outer and inner": {`{"a":{"x":1,"y":2},"b":3}`, "/a/y /a /a/x /b", `{"a":null,"b":null}`},
		"twice":           {`{"a":1}`, "/a /a", `{"a":null}`},
		"white space":     {"{ \"a\" :\t\"s\" , \"b\" : 2 }\n", "/a", "{ \"a\" :\tnull , \"b\" : 2 }\n"},
		"escaped name":    {`{"\u0061":"s"}`, "/a", `{"\u0061":null}`},
		"tilde":           {`{"a/b":1,"c~d":2}`, "/a~1b /c~0d", `{"a/b":null,"c~d":null}`},
		"quotes in it":    {`{"a":"x\"},{","b":1}`, "/a", `{"a":null,"b":1}`},
		"the whole":       {` [1,2] `, "", ` null `},
		"a literal":       {`[true,false,null]`, "/0 /1 /2", `[null,null,null]`},
		"not there":       {`{"a":1}`, "/b /a/x /a/0", `{"a":1}`},
		"an array of one": {`[{"a":1}]`, "/a", `[{"a":1}]`},
		"a twin off path": {`{"z":1,"z":2,"a":3}`, "/a", `{"z":1,"z":2,"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := Redact([]byte(tc.body), strings.Split(tc.pointers, " "))
			if err != nil || string(got) != tc.want || changed != (tc.body != tc.want) {
				t.Errorf("%s, %t, %v; want %s", got, changed, err, tc.want)
			}
		})
	}
}

// TestRedactRefuses: where it is not known what a reader takes for the value,
// nothing is given back.
func TestRedactRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		body, pointer string
		want          error
	}{
		"not JSON":     {`a=secret`, "/a", ErrSyntax},
		"empty":        {``, "/a", ErrSyntax},
		"two values":   {`{"a":1}{"a":2}`, "/a", ErrSyntax},
		"compressed":   {"\x1f\x8b\x08\x00", "/a", ErrUTF8},
		"a twin":       {`{"a":"x","a":"secret"}`, "/a", ErrAmbiguous},
		"another case": {`{"a":"x","A":"secret"}`, "/a", ErrAmbiguous},
		"case alone":   {`{"A":"secret"}`, "/a", ErrAmbiguous},
		"twin on path": {`{"a":{"b":1},"a":{"b":2}}`, "/a/b", ErrAmbiguous},
		"pointer":      {`{"a":1}`, "a", ErrPointer},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := Redact([]byte(tc.body), []string{tc.pointer})
			if got != nil || !errors.Is(err, tc.want) {
				t.Errorf("%s, %v; want %v", got, err, tc.want)
			}
		})
	}
}

// FuzzRedact compares with encoding/json, on bodies that both read alike.
func FuzzRedact(f *testing.F) {
	for _, body := range []string{`{"a":"s","b":{"a":[1,2]}}`, `{"b":{"a":{}},"c":"a"}`, `[{"a":1}]`, `{"a":[]}`, `{"b":[{"a":1}]}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in := bytes.Clone(body)
		got, changed, err := Redact(body, []string{"/a", "/b/a"})
		if !bytes.Equal(in, body) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			return
		}
		var before, after any
		if json.Unmarshal(body, &before) != nil || json.Unmarshal(got, &after) != nil {
			// encoding/json is stricter about size of numbers and depth alone.
			return
		}
		if object, ok := before.(map[string]any); ok {
			if b, ok := object["b"].(map[string]any); ok && has(b, "a") {
				b["a"] = nil
			}
			if has(object, "a") {
				object["a"] = nil
			}
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%s became %s", body, got)
		}
		if !changed && !bytes.Equal(body, got) {
			t.Fatal("changed, and not said")
		}
	})
}

func has(m map[string]any, name string) bool { _, ok := m[name]; return ok }
