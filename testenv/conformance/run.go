package conformance

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
)

// Options say what is run.
type Options struct {
	// Root is the checkout; everything is built into its build/out.
	Root string
	// Versions are the pinned versions of Envoy.
	Versions []string
	// Short runs the short form.
	Short bool
	// Only runs the scenarios whose names contain it.
	Only string
	// Verbose prints the records of both stages.
	Verbose bool
	// Out takes the report.
	Out io.Writer
}

// Result is the comparison with one version.
type Result struct {
	Version         string
	Scenarios       int
	Agreed          int
	Known, Surprise []Difference
	// Stale are known differences that were not found.
	Stale []KnownDifference
}

// Compared is the number of facts.
func (r Result) Compared() int { return r.Agreed + len(r.Known) + len(r.Surprise) }

// OK says that no difference is unexplained, and none is explained in vain.
func (r Result) OK() bool { return len(r.Surprise)+len(r.Stale) == 0 }

// Run plays the scenarios against the host and each version of Envoy.
func Run(ctx context.Context, o Options) ([]Result, error) {
	out := filepath.Join(o.Root, "build", "out")
	wasm, bin, err := buildProbe(ctx, o.Root, out)
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, v := range o.Versions {
		r, err := runVersion(ctx, o, v, wasm, bin)
		if err != nil {
			return nil, fmt.Errorf("envoy %s: %w", v, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func buildProbe(ctx context.Context, root, out string) (string, *host.Binary, error) {
	wasm, err := filepath.Abs(filepath.Join(out, "conformance.wasm"))
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s", "-o", wasm, "./testenv/host/testdata/probe")
	build.Dir, build.Env, build.Stderr = root, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm"), os.Stderr
	if err := build.Run(); err != nil {
		return "", nil, fmt.Errorf("probe: %w", err)
	}
	code, err := os.ReadFile(wasm)
	if err != nil {
		return "", nil, err
	}
	bin, err := host.Compile(ctx, code, host.CompileOptions{CacheDir: filepath.Join(out, "wazero-cache")})
	return wasm, bin, err
}

func envoyPath(ctx context.Context, root, version string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(root, "build", "envoy.sh"), version)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	return strings.TrimSpace(string(b)), err
}

func runVersion(ctx context.Context, o Options, version, wasm string, bin *host.Binary) (Result, error) {
	r := Result{Version: version}
	envoy, err := envoyPath(ctx, o.Root, version)
	if err != nil {
		return r, err
	}
	parent, err := filepath.Abs(filepath.Join(o.Root, "build", "out", "test"))
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp(parent, "conformance-")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	all := o.selected()
	r.Scenarios = len(all)
	f, err := startFleet(ctx, envoy, wasm, dir, all)
	if err != nil {
		return r, err
	}
	defer f.close()
	known := newKnown(version, Known)
	for _, sc := range all {
		m, err := newModel(ctx, bin, sc)
		if err != nil {
			return r, fmt.Errorf("%s: %w", sc.Name, err)
		}
		ours := play(sc, m)
		if m.failed != nil {
			ours.add("fault of the filter", m.failed.Error())
		}
		theirs := play(sc, newReal(f, sc))
		if f.dead() {
			return r, fmt.Errorf("%s: envoy ended:\n%s", sc.Name, f.logTail())
		}
		if o.Verbose {
			fmt.Fprintf(o.Out, "== %s\n-- host\n%s-- envoy %s\n%s", sc.Name, ours.Text(), version, theirs.Text())
			fmt.Fprintf(o.Out, "-- envoy's log\n%s\n", f.logTail())
		}
		n, diffs := Compare(sc.Name, ours, theirs)
		r.Agreed += n
		for _, d := range diffs {
			if known.explains(d) {
				r.Known = append(r.Known, d)
			} else {
				r.Surprise = append(r.Surprise, d)
			}
		}
	}
	if !o.Short && o.Only == "" {
		r.Stale = known.stale(all)
	}
	return r, nil
}

// selected lists the scenarios that are run.
func (o Options) selected() []*Scenario {
	var some []*Scenario
	for i := range Scenarios {
		sc := &Scenarios[i]
		if (!o.Short || sc.Short) && strings.Contains(sc.Name, o.Only) {
			some = append(some, sc)
		}
	}
	return some
}

// maxShown bounds the unexplained differences of one scenario that are printed:
// one that went another way differs in everything behind.
const maxShown = 12

// Report prints the results: facts agreed of facts compared, and every
// difference.
func Report(w io.Writer, results []Result) (ok bool) {
	ok = true
	for _, r := range results {
		fmt.Fprintf(w, "%s: %d/%d facts agree (%d scenarios)\n", r.Version, r.Agreed, r.Compared(), r.Scenarios)
		shown := map[string]int{}
		for _, d := range r.Surprise {
			if shown[d.Scenario]++; shown[d.Scenario] <= maxShown {
				fmt.Fprintf(w, "  unexplained: %s\n", d)
			}
		}
		for _, name := range sortedNames(shown) {
			if n := shown[name] - maxShown; n > 0 {
				fmt.Fprintf(w, "  unexplained: %s, %d more\n", name, n)
			}
		}
		for _, d := range r.Known {
			fmt.Fprintf(w, "  explained: %s\n", d)
		}
		for _, k := range r.Stale {
			fmt.Fprintf(w, "  explained, but not found: %s\n", k.ID)
		}
		ok = ok && r.OK()
	}
	return ok
}

func (d Difference) String() string {
	return fmt.Sprintf("%s, %s\n    host   %s\n    envoy  %s", d.Scenario, d.Section, orNothing(d.Host), orNothing(d.Envoy))
}

func orNothing(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}
