package wasmbuild

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file with the same content keeps its time and its inode; another one is
// replaced as a whole.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "new"), filepath.Join(dir, "oncewall.wasm")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stat := func() os.FileInfo {
		t.Helper()
		i, err := os.Stat(to)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	write(to, "one")
	if err := os.Chtimes(to, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	before := stat()
	for _, text := range []string{"one", "two"} {
		write(from, text)
		if _, err := place(from, to); err != nil {
			t.Fatal(err)
		}
		if kept := os.SameFile(before, stat()); kept != (text == "one") {
			t.Errorf("%s: the file was kept: %t", text, kept)
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != text {
			t.Errorf("%q %v, want %q", got, err, text)
		}
	}
}
