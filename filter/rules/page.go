package rules

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// PagePath is where the documentation of the fields lies in the repository.
const PagePath = "docs/configuration-plugin.md"

// The marks between which the table stands on the page.
const (
	pageBegin = "<!-- fields: made by go generate ./filter/rules -->\n"
	pageEnd   = "<!-- end of fields -->\n"
)

// Page returns the page with its table made anew.
func Page(page []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(page, []byte(pageBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(pageEnd))
	if !ok || !ok2 {
		return nil, errors.New("rules: page has no place for the table")
	}
	return []byte(string(before) + pageBegin + fieldTable() + pageEnd + string(after)), nil
}

// fieldTable is a row a field.
func fieldTable() string {
	var b strings.Builder
	b.WriteString("| field | takes | default | meaning | what the default permits |\n|---|---|---|---|---|\n")
	rows(&b, "", root)
	return b.String()
}

func rows(b *strings.Builder, path string, f *field) {
	for _, m := range f.members {
		if m.meaning == "" { // not served
			continue
		}
		at := join(path, m.name)
		def := m.def
		if def == "" {
			def = map[bool]string{true: "required", false: "none"}[m.required]
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", at, m.takesWords(), def, m.meaning, m.loss)
		switch {
		case m.name == "defaults" && path == "":
			// Its members are the rules' own and stand there.
		case m.kind == kindObject:
			rows(b, at, m)
		case m.kind == kindList && m.elem.kind == kindObject:
			if m.name == "from" && strings.HasSuffix(path, ".principal") {
				continue // the sources beside it, once more
			}
			rows(b, at+"[]", m.elem)
		}
	}
}

// takesWords says what a field takes, for the table.
func (f *field) takesWords() string {
	switch f.kind {
	case kindObject:
		if f.alt != nil {
			return "object, or " + f.alt.takesWords()
		}
		return "object"
	case kindList:
		words := fmt.Sprintf("list, %s", f.bound())
		if f.alt != nil {
			words = "string, or " + words
		}
		return words
	case kindBool:
		if f.inert != "" {
			return "false only"
		}
		return "true, false"
	case kindChoice:
		return "`" + strings.Join(f.served(), "`, `") + "`"
	case kindString:
		words := "string, " + f.bound()
		if f.form != nil {
			words += ", " + strings.TrimPrefix(strings.ReplaceAll(f.form.is, "|", `\|`), "of ")
		}
		return words
	case kindInteger:
		if f.min == f.max {
			return fmt.Sprintf("%d only", f.min)
		}
		if f.alt != nil {
			return "integer, " + f.bound() + "; or " + f.alt.takesWords()
		}
		return "integer, " + f.bound()
	case kindDuration:
		return "duration, " + f.bound()
	}
	return "size, " + f.bound()
}
