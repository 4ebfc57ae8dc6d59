package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	schema, err := os.ReadFile("../../" + SchemaPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(schema, Schema()) {
		t.Errorf("%s is stale: go generate ./filter/rules", SchemaPath)
	}
	page, err := os.ReadFile("../../" + PagePath)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := Page(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, fresh) {
		t.Errorf("%s is stale: go generate ./filter/rules", PagePath)
	}
}

// Every field that is served says what it means, and a default that is not a
// plain one says what it is.
func TestTableIsComplete(t *testing.T) {
	var visit func(path string, f *field)
	visit = func(path string, f *field) {
		for _, m := range f.members {
			at := join(path, m.name)
			if m.refuse == "" && m.meaning == "" && !strings.Contains(path, "principal.from") {
				t.Errorf("%s has no meaning", at)
			}
			if m.loss != "" && m.def == "" {
				t.Errorf("%s says what its default permits and has none", at)
			}
			if (m.kind == kindBool || m.kind == kindChoice && !m.required && m.name != "unavailable") && m.def == "" && m.refuse == "" {
				t.Errorf("%s has no default", at)
			}
			visit(at, m)
			if m.elem != nil {
				visit(at+"[]", m.elem)
			}
		}
	}
	visit("", root)
}

// The schema accepts what Parse accepts, and refuses every fault of shape.
func TestSchemaAgreesWithParse(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	judge := func(text string) error {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		return validate(schema, v, "")
	}
	shop, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := judge(string(shop)); err != nil {
		t.Errorf("shop: %v", err)
	}
	for _, g := range good {
		if err := judge(g.text); err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
	}
	for _, b := range bad {
		if err := judge(b.text); (err != nil) != b.shape {
			t.Errorf("%s: schema says %v, want a fault: %v", b.name, err, b.shape)
		}
	}
}

// validate judges v by the keywords that Schema uses; any other is an error.
func validate(schema map[string]any, v any, at string) error {
	for keyword, arg := range schema {
		ok := true
		switch keyword {
		case "$schema", "$id", "title", "description":
		case "type":
			ok = typeOf(v, arg.(string))
		case "enum":
			ok = false
			for _, one := range arg.([]any) {
				ok = ok || reflect.DeepEqual(one, v)
			}
		case "const":
			ok = reflect.DeepEqual(arg, v)
		case "oneOf":
			n := 0
			for _, one := range arg.([]any) {
				if validate(one.(map[string]any), v, at) == nil {
					n++
				}
			}
			ok = n == 1
		case "pattern":
			s, is := v.(string)
			ok = !is || regexp.MustCompile(strings.ReplaceAll(strings.ReplaceAll(arg.(string), `\u0000`, `\x00`), `\u00`, `\x`)).MatchString(s)
		case "minLength", "maxLength":
			s, is := v.(string)
			n := float64(utf8.RuneCountInString(s))
			ok = !is || keyword == "minLength" && n >= arg.(float64) || keyword == "maxLength" && n <= arg.(float64)
		case "minimum", "maximum":
			n, is := v.(float64)
			ok = !is || keyword == "minimum" && n >= arg.(float64) || keyword == "maximum" && n <= arg.(float64)
		case "minItems", "maxItems":
			l, is := v.([]any)
			n := float64(len(l))
			ok = !is || keyword == "minItems" && n >= arg.(float64) || keyword == "maxItems" && n <= arg.(float64)
		case "uniqueItems":
			l, _ := v.([]any)
			for i, a := range l {
				for _, b := range l[:i] {
					ok = ok && !reflect.DeepEqual(a, b)
				}
			}
		case "items":
			l, _ := v.([]any)
			for i, item := range l {
				if err := validate(arg.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		case "required":
			o, _ := v.(map[string]any)
			for _, name := range arg.([]any) {
				_, has := o[name.(string)]
				ok = ok && (has || o == nil)
			}
		case "additionalProperties", "properties":
			o, _ := v.(map[string]any)
			members := schema["properties"].(map[string]any)
			for name, value := range o {
				m, known := members[name]
				if !known {
					return fmt.Errorf("%s.%s is not known", at, name)
				}
				if err := validate(m.(map[string]any), value, at+"."+name); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("%s: keyword %q is not judged by this test", at, keyword)
		}
		if !ok {
			return fmt.Errorf("%s: not %s %v", at, keyword, arg)
		}
	}
	return nil
}

func typeOf(v any, want string) bool {
	switch v := v.(type) {
	case map[string]any:
		return want == "object"
	case []any:
		return want == "array"
	case string:
		return want == "string"
	case bool:
		return want == "boolean"
	case float64:
		return want == "number" || want == "integer" && v == float64(int64(v))
	}
	return false
}
