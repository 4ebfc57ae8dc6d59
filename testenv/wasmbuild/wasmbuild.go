// Package wasmbuild builds the filter for tests that run it, so that none of
// them passes on a binary of older sources.
package wasmbuild

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// pluginOnce builds once for each test binary.
var pluginOnce = sync.OnceValues(plugin)

// Plugin builds the filter from the sources of this checkout, as `make wasm`
// does, and returns the path of build/out/oncewall.wasm. Go's cache makes it a
// matter of a second where nothing has changed. The file is replaced as a whole,
// and only when its content is another: a running Envoy may have it open, and
// other tests may read it.
func Plugin() (string, error) { return pluginOnce() }

func plugin() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	if err := look(root); err != nil {
		return "", err
	}
	out := filepath.Join(root, "build", "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(out, "oncewall.wasm.*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	built := filepath.Join(dir, "oncewall.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", built, ".")
	cmd.Dir = filepath.Join(root, "plugin")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build of the filter: %w\n%s", err, text)
	}
	return place(built, filepath.Join(out, "oncewall.wasm"))
}

// look asks for every source of the filter. go test keeps a result only as long
// as the files are the same that a test has asked for, and it does not see those
// that the compiler reads.
func look(root string) error {
	for _, dir := range []string{"filter", "plugin"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// place moves a file to where it belongs, unless the same is there already.
func place(from, to string) (string, error) {
	made, err := os.ReadFile(from)
	if err != nil {
		return "", err
	}
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, made) {
		return to, nil
	}
	return to, os.Rename(from, to)
}

// moduleRoot is the folder above the working directory that holds plugin/go.mod.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "plugin", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("build of the filter: no plugin/go.mod above %s", start)
		}
	}
}
