package previous

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommitIsMissing: what cannot be built says why, and is not left out.
func TestCommitIsMissing(t *testing.T) {
	root := t.TempDir()
	if text, err := run(t.Context(), root, nil, "git", "init", "--quiet"); err != nil {
		t.Fatal(err, text)
	}
	name := func(commit string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, "build"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, commitFile), []byte(commit+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Build(t.Context(), root); err == nil {
		t.Error("built without a commit's name")
	}
	name("abc")
	if _, err := Build(t.Context(), root); err == nil || !strings.Contains(err.Error(), "must be a whole commit id") {
		t.Errorf("part of a commit's name: %v", err)
	}
	name(strings.Repeat("ab", 20))
	if _, err := Build(t.Context(), root); err == nil || !strings.Contains(err.Error(), "not in this repository's history") {
		t.Errorf("a commit that is not there: %v", err)
	}
}
