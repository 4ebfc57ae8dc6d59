package strict

import (
	"encoding/json"
	"errors"
	"testing"
)

type embedded struct {
	Name string `json:"name"`
}

type document struct {
	embedded
	SkipsIt int               `json:"skips_it"`
	List    []embedded        `json:"list"`
	Any     map[string]string `json:"any"`
}

func TestDecode(t *testing.T) {
	var d document
	if err := Decode([]byte(` {"name":"\ud83d\ude00é\ufffd","skips_it":2,"list":[{"name":"b"}],"any":{"a_1":"x"}}`+"\n"), &d); err != nil {
		t.Fatal(err)
	}
	if d.Name != "😀é\ufffd" || d.SkipsIt != 2 || len(d.List) != 1 || d.List[0].Name != "b" || d.Any["a_1"] != "x" {
		t.Errorf("%+v", d)
	}
}

// What encoding/json takes, choosing among two readings, is refused.
func TestDecodeRefuses(t *testing.T) {
	for in, want := range map[string]error{
		"{\"name\":\"\xff\"}": ErrText, `{"name":"\ud800"}`: ErrText, `{"name":"\udc00\ud800"}`: ErrText,
		`{"name":"\ud800\u0061"}`: ErrText, "{\"na\xc3me\":1}": ErrText,
		`{"name":"a","name":"a"}`: ErrDuplicate, `{"list":[{"name":"a","\u006eame":"b"}]}`: ErrDuplicate,
		`{"Name":"a"}`: ErrMember, `{"list":[{"NAME":"a"}]}`: ErrMember, `{"name":"a","Name":"b"}`: ErrMember,
		`{"ſkips_it":1}`: ErrMember, `{"sKips_it":1}`: ErrMember, `{"other":1}`: ErrMember,
		``: ErrSyntax, `{}{}`: ErrSyntax, `{} x`: ErrSyntax, `{"name":"a"`: ErrSyntax, `{"name":"a",}`: ErrSyntax, "\ufeff{}": ErrSyntax,
	} {
		if err := Decode([]byte(in), new(document)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", in, err, want)
		}
	}
	var kind *json.UnmarshalTypeError
	if err := Decode([]byte(`{"skips_it":"2"}`), new(document)); !errors.As(err, &kind) {
		t.Errorf("another type: %v", err)
	}
}

// Whatever is taken means the same to a reader that compares names exactly.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"name":"a"}`, `{"Name":"a"}`, `{"name":"a","name":"b"}`, `{"list":[{"name":"\ud800"}]}`, `null`, `{"any":{"A":"b"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d document
		if Decode(b, &d) != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if name, _ := m["name"].(string); name != d.Name {
			t.Fatalf("%q and %q", name, d.Name)
		}
	})
}
