// Command gen writes what is made from the table of the plugin's fields: the
// JSON schema, and the table in the documentation. Its argument is the
// repository's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/oncewall/oncewall/filter/rules"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gen: usage: gen <repository root>")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	schema := filepath.Join(root, filepath.FromSlash(rules.SchemaPath))
	if err := os.WriteFile(schema, rules.Schema(), 0o644); err != nil {
		return err
	}
	page := filepath.Join(root, filepath.FromSlash(rules.PagePath))
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	fresh, err := rules.Page(old)
	if err != nil {
		return fmt.Errorf("%s: %w", rules.PagePath, err)
	}
	return os.WriteFile(page, fresh, 0o644)
}
