package table_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every rule behind the table names the tests that hold it, and they are there.
func TestRulesAreHeld(t *testing.T) {
	const root = "../../.."
	page, err := os.ReadFile(filepath.Join(root, "docs/model.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- rules -->\n")
	list, _, _ := strings.Cut(rest, "<!-- end of rules -->")
	held := regexp.MustCompile("`([^`:]+\\.go): ([^`]+)`")
	files := map[string]string{}
	rules := 0
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| |") {
			continue
		}
		rules++
		named := held.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, m := range named {
			file, name := m[1], m[2]
			if files[file] == "" {
				text, err := os.ReadFile(filepath.Join(root, file))
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				files[file] = string(text)
			}
			// A test, or a case by its name.
			if !strings.Contains(files[file], "func "+name+"(") && !strings.Contains(files[file], `{"`+name+`",`) {
				t.Errorf("%s has no %q", file, name)
			}
		}
	}
	if rules != 13 {
		t.Errorf("%d rules, want 13", rules)
	}
}
