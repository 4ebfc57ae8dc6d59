package rules

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFaults bounds the faults that one [Error] lists. A file with more is not a
// configuration with mistakes but something else.
const maxFaults = 1000

// maxShownBytes bounds what a fault shows of a value or of a name.
const maxShownBytes = 64

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// Rule is the name of the rule, or "rules[3]" where it has no valid one, or
	// empty where the fault lies outside the rules.
	Rule string
	// Field is the path of the field, from the rule or from the top:
	// "recovery.lease", "key.from[0].header". Empty: the rule or the whole file.
	Field string
	// Value is the value as written, quoted and cut at 64 bytes. Empty where the
	// field is absent, is no scalar, or is not one of ours: its value may be a
	// secret that stands in the wrong file.
	Value string
	// Reason says what is wrong, with the bound.
	Reason string
}

// String is the fault's line in [Error].
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString("config: ")
	switch {
	case strings.HasPrefix(f.Rule, "rules["): // no name has a bracket
		b.WriteString(f.Rule + ": ")
	case f.Rule != "":
		b.WriteString("rule " + strconv.Quote(f.Rule) + ": ")
	}
	for _, part := range []string{f.Field, f.Value} {
		if part != "" {
			b.WriteString(part + " ")
		}
	}
	b.WriteString(f.Reason)
	return b.String()
}

// Error holds every fault of a configuration, in the order of the file's fields.
type Error struct {
	Faults []Fault
	// More counts the faults beyond the first 1000.
	More int
}

// Error is one line per fault.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("config: %d more faults are not listed", e.More))
	}
	return strings.Join(lines, "\n")
}

// collector gathers faults; rule is the label of the rule being read.
type collector struct {
	rule string
	err  Error
}

func (c *collector) add(field string, n *node, format string, args ...any) {
	if len(c.err.Faults) == maxFaults {
		c.err.More++
		return
	}
	c.err.Faults = append(c.err.Faults, Fault{
		Rule: c.rule, Field: field, Value: n.show(), Reason: fmt.Sprintf(format, args...),
	})
}

// clip cuts s at maxShownBytes, at the end of a character.
func clip(s string) string {
	if len(s) <= maxShownBytes {
		return s
	}
	n := maxShownBytes
	for n > maxShownBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func quote(s string) string { return strconv.Quote(clip(s)) }
