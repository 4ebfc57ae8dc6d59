package config

import (
	"strings"
	"testing"
)

// TestNesting: each of the first takes the decoder a minute or more.
func TestNesting(t *testing.T) {
	const many = 200_000
	for name, text := range map[string]string{
		"lists":             "a: " + strings.Repeat("[", many),
		"mappings":          "a: " + strings.Repeat("{a: ", many),
		"closed":            "a: " + strings.Repeat("[", many) + strings.Repeat("]", many),
		"entries":           strings.Repeat("- ", many),
		"keys":              strings.Repeat("? ", many),
		"values":            strings.Repeat("a: ", many),
		"values in a flow":  "[" + strings.Repeat("a: ", many) + "]",
		"anchors":           "a: " + strings.Repeat("&a ", many),
		"tags":              "a: " + strings.Repeat("!t ", many),
		"one more than may": "a: " + strings.Repeat("[", maxNesting+1) + strings.Repeat("]", maxNesting+1),
		"behind a good one": "a: [1]\nb:\n- " + strings.Repeat("[", many),
	} {
		if err := CheckCost([]byte(text)); err == nil || !strings.Contains(err.Error(), "more than 256 deep") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty":               "",
		"as deep as may":      strings.Repeat("[", maxNesting) + strings.Repeat("]", maxNesting),
		"many, not deep":      "a: [" + strings.Repeat("[a: 1],", 10_000) + "]",
		"many lines":          strings.Repeat("- a: !t &b 1\n", 10_000),
		"many in a flow":      "{" + strings.Repeat("a: 1, ", 10_000) + "}",
		"brackets quoted":     `a: "` + strings.Repeat("[", many) + `"`,
		"brackets in a block": "a: |\n  " + strings.Repeat("[", many) + "\nb: 1",
	} {
		if err := CheckCost([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
