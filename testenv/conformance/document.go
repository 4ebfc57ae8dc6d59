package conformance

import (
	"fmt"
	"os"
	"strings"
)

//go:generate go run ./cmd/conformance -document ../../docs/conformance.md

// Marks of what Document writes.
const (
	documentBegin = "<!-- begin: written by make generate -->\n"
	documentEnd   = "<!-- end -->\n"
)

// Document writes the lists of the known differences and of the scenarios into
// the document at path, between its marks.
func Document(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := documented(string(b))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if text == string(b) {
		return nil
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func documented(text string) (string, error) {
	before, rest, ok := strings.Cut(text, documentBegin)
	_, after, ended := strings.Cut(rest, documentEnd)
	if !ok || !ended {
		return "", fmt.Errorf("marks: %q and %q are missing", documentBegin, documentEnd)
	}
	return before + documentBegin + lists() + documentEnd + after, nil
}

func lists() string {
	var b strings.Builder
	b.WriteString("\n## Differences that remain\n\n| id | Envoy | where | why |\n|---|---|---|---|\n")
	for _, k := range Known {
		version := "both"
		if k.Version != "" {
			version = k.Version
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", k.ID, version, strings.ReplaceAll(k.Scenario, "|", "`, `"), k.Reason)
	}
	fmt.Fprintf(&b, "\n## The scenarios\n\n%d of them; those of the short form are marked. The number is the section of the measured facts.\n\n| scenario | | fact |\n|---|---|---|\n", len(Scenarios))
	for _, sc := range Scenarios {
		short := ""
		if sc.Short {
			short = "short"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", sc.Name, short, sc.Fact)
	}
	b.WriteString("\n")
	return b.String()
}
