package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// probe is the compiled testdata/probe.
var probe string

// cache is shared by all tests, so that the probe is compiled once.
var cache string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "wasmtest-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		probe, cache = filepath.Join(dir, "probe.wasm"), filepath.Join(dir, "cache")
		build := exec.Command("go", "build", "-o", probe, "./testdata/probe")
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		if out, err := build.CombinedOutput(); err != nil {
			panic(string(out) + err.Error())
		}
		return m.Run()
	}())
}

type outcome struct {
	code            int
	err             error
	stdout, stderr  string
	root, dir, temp string
}

func runProbe(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	o := outcome{dir: t.TempDir(), temp: t.TempDir()}
	o.root = o.dir
	o.dir = filepath.Join(o.root, "package")
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "package/file.txt"} {
		if err := os.WriteFile(filepath.Join(o.root, name), []byte("content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.code, o.err = run(t.Context(), program{
		wasm: probe, args: append([]string{"probe"}, args...), env: []string{"PROBE=a=b", "TMPDIR=/elsewhere", "=odd", "none"},
		dir: o.dir, root: moduleRoot(o.dir), temp: o.temp, cache: cache,
		stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr,
	})
	o.stdout, o.stderr = stdout.String(), stderr.String()
	return o
}

func TestArgumentsEnvironmentOutput(t *testing.T) {
	o := runProbe(t, "", "say", "a b", "")
	if o.code != 0 || o.err != nil || o.stdout != "[\"a b\" \"\"] a=b /tmp\n" || o.stderr != "on stderr\n" {
		t.Errorf("%+v", o)
	}
	if o = runProbe(t, "line\n", "echo"); o.stdout != "line\n<nil>" {
		t.Errorf("%+v", o)
	}
}

func TestExitCode(t *testing.T) {
	for _, code := range []string{"0", "1", "7", "125"} {
		if o := runProbe(t, "", "exit", code); o.err != nil || strconv.Itoa(o.code) != code {
			t.Errorf("exit %s: %d, %v", code, o.code, o.err)
		}
	}
	if o := runProbe(t, "", "panic"); o.code != 2 || !strings.Contains(o.stderr, "on purpose") {
		t.Errorf("panic: %+v", o)
	}
}

func TestFiles(t *testing.T) {
	o := runProbe(t, "", "files")
	want := `read "content" <nil>
write refused: true
change refused: true
module read: <nil>
above it hidden: true
temp: <nil>
temp write: <nil>
`
	if o.stdout != want {
		t.Errorf("got\n%swant\n%s", o.stdout, want)
	}
	if entries, err := os.ReadDir(o.temp); err != nil || len(entries) != 1 {
		t.Errorf("the temporary directory holds %v, %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(o.dir, "file.txt")); err != nil || string(text) != "content" {
		t.Errorf("the package's file is now %q, %v", text, err)
	}
}

func TestModuleRoot(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := moduleRoot(inner); got != inner {
		t.Errorf("without a module: %s", got)
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := moduleRoot(inner); got != root {
		t.Errorf("inside a module: %s, want %s", got, root)
	}
}

func TestClock(t *testing.T) {
	if o := runProbe(t, "", "clock"); o.stdout != "slept: true year ok: true\n" {
		t.Errorf("%+v", o)
	}
}

func TestMemoryLimit(t *testing.T) {
	if o := runProbe(t, "", "memory", "512"); o.code != 0 || o.stdout != "got 512\n" {
		t.Errorf("512 MiB: %+v", o)
	}
	if o := runProbe(t, "", "memory", "1024"); o.code == 0 || !strings.Contains(o.stderr, "out of memory") {
		t.Errorf("1 GiB beside what the program itself takes: %d, %.200s", o.code, o.stderr)
	}
}

func TestFaults(t *testing.T) {
	for name, wasm := range map[string]string{"absent": filepath.Join(t.TempDir(), "none.wasm"), "not wasm": "run.go"} {
		if code, err := run(t.Context(), program{wasm: wasm, dir: t.TempDir(), root: t.TempDir(), temp: t.TempDir(), cache: cache}); code != exitFault || err == nil {
			t.Errorf("%s: %d, %v", name, code, err)
		}
	}
	if code, err := wasmtest(nil); code != exitFault || err == nil {
		t.Errorf("no arguments: %d, %v", code, err)
	}
}
