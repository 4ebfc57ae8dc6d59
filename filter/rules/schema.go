package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

//go:generate go run ./gen ../..

// SchemaPath is where the schema lies in the repository.
const SchemaPath = "envoy/plugin.schema.json"

// SchemaID is the $id of the JSON schema.
const SchemaID = "https://github.com/oncewall/oncewall/envoy/plugin.schema.json"

// Schema returns the JSON schema (draft 2020-12) of the configuration. It states
// what each field takes by itself; bounds that lie between fields, such as the
// lease's, are in the descriptions, and [Parse] alone judges them.
func Schema() []byte {
	top := &object{}
	top.put("$schema", "https://json-schema.org/draft/2020-12/schema", true)
	top.put("$id", SchemaID, true)
	top.put("title", "Oncewall plugin configuration", true)
	root.objectSchema(top)
	var out bytes.Buffer
	text, err := json.Marshal(top)
	if err == nil {
		err = json.Indent(&out, text, "", "  ")
	}
	if err != nil { // the table is constant: a test runs this
		panic(fmt.Sprintf("rules: schema: %v", err))
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values map[string]any
}

func (o *object) put(name string, value any, when bool) {
	if !when {
		return
	}
	if o.values == nil {
		o.values = make(map[string]any)
	}
	o.names = append(o.names, name)
	o.values[name] = value
}

func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, name := range o.names {
		b.WriteByte("{,"[min(i, 1)])
		for j, v := range []any{name, o.values[name]} {
			if j == 1 {
				b.WriteByte(':')
			}
			if err := e.Encode(v); err != nil {
				return nil, err
			}
		}
	}
	if len(o.names) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (f *field) schema() *object {
	o := &object{}
	o.put("description", f.description(), f.meaning != "")
	if f.alt != nil {
		own, other := *f, f.alt.schema()
		own.alt, own.meaning, own.def, own.loss = nil, "", "", ""
		o.put("oneOf", []any{own.schema(), other}, true)
		return o
	}
	switch f.kind {
	case kindObject:
		f.objectSchema(o)
	case kindList:
		o.put("type", "array", true)
		o.put("items", f.elem.schema(), true)
		o.put("minItems", f.min, true)
		o.put("maxItems", f.max, true)
		o.put("uniqueItems", true, f.elem.kind == kindString)
	case kindString:
		o.put("type", "string", true)
		o.put("minLength", f.min, true)
		o.put("maxLength", f.max, true)
		if f.form != nil {
			o.put("pattern", f.form.pattern, true)
		}
	case kindBool:
		o.put("type", "boolean", f.inert == "")
		o.put("const", false, f.inert != "")
	case kindInteger:
		o.put("type", "integer", true)
		o.put("minimum", f.min, true)
		o.put("maximum", f.max, true)
	case kindDuration:
		o.put("type", "string", true)
		o.put("pattern", durationPattern, true)
	case kindSize:
		number, text := &object{}, &object{}
		number.put("type", "integer", true)
		number.put("minimum", f.min, true)
		number.put("maximum", f.max, true)
		text.put("type", "string", true)
		text.put("pattern", sizePattern, true)
		o.put("oneOf", []any{number, text}, true)
	case kindChoice:
		words := []any{}
		for _, name := range f.served() {
			words = append(words, name)
			if name == "off" {
				words = append(words, false) // what Envoy makes of YAML's bare off
			}
		}
		o.put("enum", words, true)
	}
	return o
}

func (f *field) objectSchema(o *object) {
	o.put("type", "object", true)
	o.put("additionalProperties", false, true)
	members := &object{}
	var required []any
	for _, m := range f.members {
		if m.refuse == "" || m.inert != "" {
			members.put(m.name, m.schema(), true)
		}
		if m.required {
			required = append(required, m.name)
		}
	}
	o.put("properties", members, true)
	o.put("required", required, len(required) > 0)
}

// description is the field's row of the documentation as running text.
func (f *field) description() string {
	parts := []string{f.meaning}
	if f.def != "" {
		parts = append(parts, "Default: "+f.def+".")
	}
	switch f.kind {
	case kindDuration, kindSize:
		parts = append(parts, "Bound: "+f.bound()+".")
	}
	if f.loss != "" {
		parts = append(parts, "The default permits: "+f.loss)
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "`", "'")
}
