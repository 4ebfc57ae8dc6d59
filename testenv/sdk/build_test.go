package sdk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.." // of the checkout

// filters are the programs under testdata.
var filters = []string{"http", "panics", "shared", "tcp"}

// wasm holds the built filters' paths by name.
var wasm = map[string]string{}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sdk-*")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	for _, name := range filters {
		wasm[name] = filepath.Join(dir, name+".wasm")
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", wasm[name], "./"+name)
		cmd.Dir = "testdata"
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building testdata/%s: %w\n%s", name, err, out)
		}
	}
	return nil
}

// envoyBinary is what build/envoy.sh finds: $ENVOY, one in PATH, or the pinned
// version, which it installs.
func envoyBinary(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "build/envoy.sh"))
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("envoy: %v", err)
	}
	path, err := filepath.Abs(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
