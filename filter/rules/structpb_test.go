package rules

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// asStruct is a configuration as Envoy hands over what is written as a Struct.
func asStruct(t testing.TB, text string) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	s, err := structpb.NewStruct(m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A Struct is judged as its JSON is.
func TestStruct(t *testing.T) {
	for _, g := range good {
		want := mustParse(t, g.text)
		got, err := Parse(asStruct(t, g.text))
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		if !reflect.DeepEqual(got.Rules[0], want.Rules[0]) || got.Bridge != want.Bridge {
			t.Errorf("%s: got %+v, want %+v", g.name, got.Rules[0], want.Rules[0])
		}
	}
	_, err := Parse(asStruct(t, withRule(`, "colour": "blue", "statuses": {"in-flight": 200.5}`)))
	if err == nil || !strings.Contains(err.Error(), "colour is not a field") || !strings.Contains(err.Error(), "in-flight 200.5 must be") {
		t.Errorf("faults: %v", err)
	}
}

func TestStructIsBounded(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`
	if _, err := readStruct(asStruct(t, deep), maxDepth); !errors.Is(err, errDepth) {
		t.Errorf("deep: %v", err)
	}
	whole := asStruct(t, withRule(""))
	for n := range whole {
		if _, err := Parse(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(whole))
		}
	}
}

// JSON that begins with a line feed stays JSON.
func TestLineFeedIsNoStruct(t *testing.T) {
	if _, err := Parse([]byte("\n\n" + withRule(""))); err != nil {
		t.Error(err)
	}
}

func FuzzStruct(f *testing.F) {
	f.Add(asStruct(f, withRule("")))
	f.Add([]byte("\n\x12\n\tnamespace\x12\x05\x1a\x03edg"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Parse(b) // ends, and does not panic
	})
}
