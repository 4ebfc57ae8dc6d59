package rules

import (
	"fmt"
	"strings"
	"time"
)

// fieldKind is the kind of value that a field takes.
type fieldKind uint8

const (
	kindObject fieldKind = iota + 1
	kindList
	kindString
	kindBool
	kindInteger
	kindDuration
	kindSize
	kindChoice
)

// notServed is the reason for what the design has and this version has not.
const notServed = "is not supported by this version"

// field describes one field: the parser, the JSON schema and the table in
// docs/configuration-plugin.md all come from it.
type field struct {
	name    string
	kind    fieldKind
	meaning string
	// def is the default in words; empty with required false: absent.
	def string
	// loss is what the default permits to go wrong, where it permits something.
	loss     string
	required bool
	// min and max bound a string's or a list's length, an integer, a duration in
	// nanoseconds, a size in bytes.
	min, max int64
	// form is the pattern of a string's text.
	form *form
	// choices of a kindChoice.
	choices []choice
	// members of a kindObject.
	members []*field
	// elem of a kindList.
	elem *field
	// alt is a second form of the field, of a kind that JSON tells apart.
	alt *field
	// refuse is why the field is not served. A value equal to inert, the JSON
	// text of "not wanted", is accepted all the same.
	refuse, inert string
}

// form is a rule about a string's text, once for the parser and once as the
// schema's regular expression.
type form struct {
	ok      func(string) bool
	is      string // "must be <is>"
	pattern string
}

// choice is one word of a kindChoice.
type choice struct {
	name   string
	value  int64
	refuse string // why this version does not serve it
}

func (f *field) member(name string) *field {
	for _, m := range f.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// bound renders the bound of a value for a fault and for the documentation.
func (f *field) bound() string {
	switch f.kind {
	case kindInteger:
		return fmt.Sprintf("%d to %d", f.min, f.max)
	case kindDuration:
		return formatDuration(time.Duration(f.min)) + " to " + formatDuration(time.Duration(f.max))
	case kindSize:
		return formatSize(f.min) + " to " + formatSize(f.max)
	case kindString:
		return fmt.Sprintf("%d to %d bytes", f.min, f.max)
	case kindList:
		if f.max == 1 {
			return "one entry"
		}
		return fmt.Sprintf("%d to %d entries", f.min, f.max)
	case kindChoice:
		return strings.Join(f.served(), ", ")
	}
	return ""
}

// served lists the words that this version takes.
func (f *field) served() []string {
	var names []string
	for _, c := range f.choices {
		if c.refuse == "" {
			names = append(names, c.name)
		}
	}
	return names
}

var kindNames = [...]string{
	kindObject: "an object", kindList: "a list", kindString: "a string",
	kindBool: "true or false", kindInteger: "a whole number",
	kindDuration: durationForm, kindSize: sizeForm, kindChoice: "a string",
}

// takes reports whether a JSON value of kind k can be the field's at all.
func (f *field) takes(k nodeKind) bool {
	switch f.kind {
	case kindObject:
		return k == nodeObject
	case kindList:
		return k == nodeList
	case kindBool:
		return k == nodeBool
	case kindInteger:
		return k == nodeNumber
	case kindSize:
		return k == nodeNumber || k == nodeString
	}
	return k == nodeString
}
