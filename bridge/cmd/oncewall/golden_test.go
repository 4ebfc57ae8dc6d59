package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var updateGolden = flag.Bool("update-golden", false, "write testdata/*.golden again")

// golden runs a command and compares what it printed, stdout before stderr, with
// testdata/NAME.golden.
func golden(t *testing.T, name string, code int, args, environ []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(args, environ, &stdout, &stderr); got != code {
		t.Errorf("code %d, want %d", got, code)
	}
	got := stdout.String()
	if stderr.Len() > 0 {
		got += "--- stderr\n" + stderr.String()
	}
	file := filepath.Join("testdata", name+".golden")
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", file, got)
	}
}
