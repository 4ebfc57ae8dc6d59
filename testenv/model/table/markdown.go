package table

import (
	"fmt"
	"strings"
)

// Served writes the rows that a store carries out as a table of Markdown.
func Served() string {
	var b strings.Builder
	b.WriteString("| state | operation, condition | new state | answer | row |\n|---|---|---|---|---|\n")
	for i := range Rows {
		if r := &Rows[i]; r.Needs == "" {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` |\n", r.State, r.Condition, r.Becomes, r.Answer, r.Name)
		}
	}
	return b.String()
}

// Later writes the rows that need other parts.
func Later() string {
	var b strings.Builder
	b.WriteString("| state | operation, condition | new state | answer | needs | row |\n|---|---|---|---|---|---|\n")
	for i := range Rows {
		if r := &Rows[i]; r.Needs != "" {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n", r.State, r.Condition, r.Becomes, r.Answer, r.Needs, r.Name)
		}
	}
	return b.String()
}

// A Section is a part of a document between two marks, each on a line of its own.
type Section struct{ Name, Text string }

func marks(name string) (begin, end string) {
	return "<!-- table: " + name + " (go test ./testenv/model/table -update) -->\n", "<!-- end of table: " + name + " -->\n"
}

// Put replaces the sections of document.
func Put(document string, sections []Section) (string, error) {
	for _, s := range sections {
		begin, end := marks(s.Name)
		head, rest, ok := strings.Cut(document, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("table %q: its marks are not in the document", s.Name)
		}
		document = head + begin + s.Text + end + tail
	}
	return document, nil
}
