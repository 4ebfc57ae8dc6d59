package rules

import (
	"reflect"
	"strings"
	"testing"
)

// Each field of a rule counts: changing any one of them, a new one included,
// changes the generation.
func TestGenerationCoversEveryField(t *testing.T) {
	r := *readShop(t).Rules[0]
	r.Key.From = []KeySource{{Header: "k", JSON: []string{"/a"}, All: []KeySource{{Header: "a", JSON: []string{"/b"}}}}}
	r.Match.Hosts, r.Match.Headers = []string{"h"}, []HeaderMatch{{Name: "n", Exact: "e"}}
	r.Principal.Or = []Principal{{Kind: PrincipalConst}}
	r.Match.Methods, r.Fingerprint.Headers, r.Record.DropHeaders = []string{"PUT"}, []string{"h"}, []string{"d"}
	r.PreviousScopes, r.Record.KeepHeaders = []string{"p"}, []string{"set-cookie"}
	r.Statuses = []StatusOf{{"in-flight", 425}}
	r.Outcomes = Outcomes{[]int{500}, []int{409}, []int{404}}
	r.Record.Redact, r.Fingerprint.Ignore = []string{"/a"}, []string{"/a"}
	seen := map[string]string{generation(&r): "the rule itself"}
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				// What is not exported, and the set, are made of the texts.
				if name := v.Type().Field(i).Name; name != "Generation" && v.Field(i).CanSet() && v.Field(i).Kind() != reflect.Pointer {
					visit(v.Field(i), path+"."+name)
				}
			}
			return
		case reflect.Slice:
			if v.Len() == 0 && (strings.HasSuffix(path, ".All[0].All") || strings.HasSuffix(path, ".Or[0].Or")) {
				return // these do not nest
			}
			visit(v.Index(0), path+"[0]")
			v.Set(reflect.Append(v, v.Index(0)))
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Uint8, reflect.Uint16:
			v.SetUint(v.Uint() + 1)
		default:
			t.Fatalf("%s: kind %v is not tested", path, v.Kind())
		}
		g := generation(&r)
		if other, dup := seen[g]; dup {
			t.Errorf("%s: generation is that of %s", path, other)
		}
		seen[g] = path
		v.Set(old)
	}
	visit(reflect.ValueOf(&r).Elem(), "rule")
	if len(seen) < 35 {
		t.Errorf("only %d fields were visited", len(seen))
	}
}

// The generation is kept in records: it must not change by itself.
func TestGenerationIsStable(t *testing.T) {
	if got, want := mustParse(t, withRule("")).Rules[0].Generation, "a27ddd3d7ad1a0d6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
