package scenario

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
	"github.com/oncewall/oncewall/testenv/wasmbuild"
)

var update = flag.Bool("update", false, "write the golden traces again")

// stories reads every text below testdata/stories.
func stories(t *testing.T) []*Story {
	t.Helper()
	files, err := filepath.Glob("testdata/stories/*.story")
	if err != nil {
		t.Fatal(err)
	}
	var all []*Story
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(strings.TrimSuffix(filepath.Base(f), ".story"), string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		all = append(all, s)
	}
	return all
}

// rulesOf reads a plugin configuration and sets the mode in it.
func rulesOf(t *testing.T, name string, flag bool) []byte {
	t.Helper()
	b, err := Rules("testdata/rules", name, flag)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modeName says what a mode is in names of tests and files.
func modeName(flag bool) string {
	if flag {
		return "on"
	}
	return "off"
}

const outDir = "../../build/out"

// plugin is the filter, built from the present sources and compiled once for all
// tests.
var plugin = sync.OnceValues(func() (*host.Binary, error) {
	path, err := wasmbuild.Plugin()
	if err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return host.Compile(context.Background(), wasm, host.CompileOptions{CacheDir: filepath.Join(outDir, "wazero-cache")})
})

// testName is a story's name with the variant's.
func testName(s *Story, v *Variant) string {
	if v.Name == "" {
		return s.Name
	}
	return s.Name + "/" + fileName(v)
}

// fileName is a variant's name with nothing in it that does not fit there.
func fileName(v *Variant) string {
	return strings.Trim(notInNames.ReplaceAllString(v.Name, "-"), "-")
}

var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_.]+`)

// each runs f for every story of a runner, mode and variant.
func each(t *testing.T, runner string, f func(t *testing.T, s *Story, flag bool, v *Variant)) {
	for _, s := range stories(t) {
		if !s.In(runner) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for _, flag := range s.Modes {
				for _, v := range s.Told(runner, flag) {
					name := modeName(flag)
					if v.Name != "" {
						name += "/" + fileName(v)
					}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						f(t, s, flag, v)
					})
				}
			}
		})
	}
}

func TestCore(t *testing.T) {
	each(t, Core, func(t *testing.T, s *Story, flag bool, v *Variant) {
		stage, err := newCore(rulesOf(t, s.Rules, flag), flag)
		if err != nil {
			t.Fatal(err)
		}
		defer stage.w.close()
		if err := stage.play(v); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHarness(t *testing.T) {
	bin, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	each(t, Harness, func(t *testing.T, s *Story, flag bool, v *Variant) {
		stage, err := newHarness(bin, rulesOf(t, s.Rules, flag), flag)
		if err != nil {
			t.Fatal(err)
		}
		defer stage.w.close()
		err = stage.play(v)
		trace := stage.w.(*harnessWorld).Trace()
		if err != nil {
			t.Fatalf("%v\n%s", err, tail(trace, 40))
		}
		// The variants that are not for Envoy would add nothing to read.
		if !v.Short {
			golden(t, s, flag, v, trace)
		}
	})
}

// goldenFile is where a trace is kept.
func goldenFile(s *Story, flag bool, v *Variant) string {
	file := s.Name
	if v.Name != "" {
		file += "." + fileName(v)
	}
	if !flag {
		file += ".off"
	}
	return filepath.Join("testdata/golden", file+".trace")
}

// TestGoldenFiles finds traces that belong to no story any more, and names that
// two share.
func TestGoldenFiles(t *testing.T) {
	known := map[string]bool{}
	for _, s := range stories(t) {
		for _, flag := range s.Modes {
			for _, v := range s.Told(Harness, flag) {
				file := goldenFile(s, flag, v)
				if known[file] {
					t.Errorf("%s: two variants have this name", file)
				}
				known[file] = known[file] || s.In(Harness) && !v.Short
			}
		}
	}
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !known[f] {
			t.Errorf("%s belongs to no story", f)
		}
	}
}

// golden compares a trace with what is in testdata/golden.
func golden(t *testing.T, s *Story, flag bool, v *Variant, trace string) {
	t.Helper()
	file := goldenFile(s, flag, v)
	if *update {
		if err := os.WriteFile(file, []byte(trace), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: write it with go test ./testenv/scenario -update", err)
	}
	if !bytes.Equal(want, []byte(trace)) {
		t.Errorf("%s differs from line %s\n(go test ./testenv/scenario -update writes it again)", file, firstDifference(string(want), trace))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("%d:\n\twas %s\n\tis  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d: %d lines, was %d", min(len(w), len(g))+1, len(g), len(w))
}

func tail(s string, n int) string {
	lines := strings.Split(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
