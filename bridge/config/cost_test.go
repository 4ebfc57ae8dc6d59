package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// lines writes n lines, each with its number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestCheckCost: each of the first takes the decoder some seconds or more, none of
// the others.
func TestCheckCost(t *testing.T) {
	const most = 4008
	indent := func(s string) string { return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") + "\n" }
	for name, text := range map[string]string{
		"members":                 lines(60_000, "k%d: 1\n"),
		"one more than may":       lines(most+1, "k%d: 1\n"),
		"without values":          lines(60_000, "k%d:\n"),
		"with comments":           lines(60_000, "# %d\nk%[1]d: 1 # b\n"),
		"with anchors":            lines(60_000, "&a%d k%[1]d: 1\n"),
		"with anchors, now, then": lines(30_000, "&a k%d: 1\nl%[1]d: 1\n"),
		"with tags":               lines(60_000, "!!str k%d: 1\n"),
		"quoted":                  lines(60_000, "\"k%d\": 1\n"),
		"explicit":                lines(60_000, "? k%d\n: 1\n"),
		"of mappings":             lines(60_000, "k%d:\n  a: 1\n  b: 2\n"),
		"of lists":                lines(60_000, "k%d:\n- a: 1\n- b: 2\n"),
		"of lists in a line":      lines(60_000, "k%d: [a: 1, b: 2]\n"),
		"of texts":                lines(60_000, "k%d: |\n  a: 1\n"),
		"inside":                  "a:\n" + indent(lines(60_000, "k%d: 1\n")),
		"in an entry":             "- a: 1\n" + indent(lines(60_000, "k%d: 1\n")),
		"in an entry of entries":  "- - a: 1\n" + indent(indent(lines(60_000, "k%d: 1\n"))),
		"merged":                  "a: &a {b: 1}\n" + lines(60_000, "c%d: {<<: *a}\n"),
		"many, each large":        lines(100, "a%d:\n"+indent(lines(3000, "k%d: 1\n"))),
		"documents":               lines(60_000, "--- %d\n"),
	} {
		if err := CheckCost([]byte(text)); err == nil || !strings.Contains(err.Error(), "too large, in line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"members":         lines(100_000, "- a%d:\n"),
		"few in each":     lines(50_000, "- a%d:\n  b:\n"),
		"behind comments": lines(100_000, "- a%d: # b\n# c\n"),
		"entries":         lines(100_000, "-\n#%d\n"),
		"entries inside":  lines(50_000, "- - a%d: 1\n  -\n"),
		"tags":            lines(100_000, "- a%d: !!str\n"),
		"anchors":         lines(100_000, "- a%d: &a\n"),
		"in braces":       lines(60_000, "- {a%d: }\n"),
		"in brackets":     lines(60_000, "- [a%d: , b: ]\n"),
		"keys":            lines(100_000, "- ? a%d\n  :\n"),
	} {
		if err := CheckCost([]byte(text)); err == nil || !strings.Contains(err.Error(), "values are left out: must be at most ") {
			t.Errorf("left out, %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"as many as may":      lines(most, "k%d: 1\n"),
		"a list":              lines(60_000, "- %d\n"),
		"a list of mappings":  lines(60_000, "- a: 1\n  b: %d\n"),
		"mappings of few":     lines(2_000, "- a%d:\n"+strings.ReplaceAll(lines(200, "    k%d: 1\n"), "%", "%%")),
		"braces":              "{" + lines(60_000, "k%d: 1, ") + "}",
		"braces over lines":   "a: {\n" + lines(60_000, "  k%d: 1,\n") + "}\n",
		"in a text":           "a: |\n" + lines(60_000, "  k%d: 1\n"),
		"in a quoted text":    "a: \"" + lines(60_000, "k%d: 1 ") + "\"\n",
		"in comments":         lines(60_000, "# k%d: 1\n"),
		"values below":        lines(50_000, "- a%d:\n    b: 1\n  c:\n  - d: 1\n  e: !!map\n    f: 1\n-\n  g: {h: 1, i: [2]}\n"),
		"some left out":       lines(10_000, "- a%d:\n  b: 1\n"),
		"behind each other's": lines(1_000, "- a%d:\n    b: 1\n  c: 2\n"),
	} {
		if err := CheckCost([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLoadIsBounded: the fault comes instead of the cost, and from what serve and
// check call.
func TestLoadIsBounded(t *testing.T) {
	for want, text := range map[string]string{
		"too large, in line 4009": lines(60_000, "k%d: 1\n"),
		"must be at most 1048576": strings.Repeat("#", MaxBytes+1),
	} {
		_, err := Load(Options{YAML: []byte(text)})
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(l string) bool { return strings.Contains(l, want) }) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
