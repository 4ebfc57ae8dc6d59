// Package previous builds the programs of the previous version out of the
// repository's own history, for tests in which both versions meet.
package previous

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs are files of the previous version.
type Programs struct {
	Commit string
	Bridge string
	Wasm   string
	Rules  string // the configuration of the plugin in that version's stack
}

// commitFile names the commit of the version that was released last.
const commitFile = "build/previous"

// Build builds the programs of the commit that build/previous names into
// build/out/previous, once for each commit. root is the checkout. It needs Go's
// module cache, or the network, for the modules of that version, and the commit in
// the history: of a shallow clone the rest is fetched. Nothing stands in for it: what
// cannot be built fails.
func Build(ctx context.Context, root string) (Programs, error) {
	text, err := os.ReadFile(filepath.Join(root, commitFile))
	if err != nil {
		return Programs{}, fmt.Errorf("previous version: %w", err)
	}
	commit := strings.TrimSpace(string(text))
	dir := filepath.Join(root, "build/out/previous", commit)
	p := Programs{Commit: commit, Bridge: filepath.Join(dir, "oncewall"), Wasm: filepath.Join(dir, "oncewall.wasm"), Rules: filepath.Join(dir, "shop.json")}
	if built(p) {
		return p, nil
	}
	if err := have(ctx, root, commit); err != nil {
		return p, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return p, err
	}
	source, err := os.MkdirTemp(filepath.Dir(dir), "source-")
	if err != nil {
		return p, err
	}
	defer func() { _ = os.RemoveAll(source) }()
	if err := unpack(ctx, root, commit, source); err != nil {
		return p, err
	}
	out := filepath.Join(source, "built")
	for _, b := range []struct {
		folder, name string
		env, args    []string
	}{
		{".", "oncewall", nil, []string{"./bridge/cmd/oncewall"}},
		{"plugin", "oncewall.wasm", []string{"GOOS=wasip1", "GOARCH=wasm"}, []string{"-buildmode=c-shared", "-ldflags=-s", "."}},
	} {
		args := append([]string{"build", "-trimpath", "-o", filepath.Join(out, b.name)}, b.args...)
		env := append([]string{"GOWORK=off", "GOFLAGS="}, b.env...)
		if text, err := run(ctx, filepath.Join(source, b.folder), env, "go", args...); err != nil {
			return p, fmt.Errorf("previous version %.12s: %s: %w\n%s", commit, b.name, err, text)
		}
	}
	if err := os.Rename(filepath.Join(source, "testenv/stack/shop.json"), filepath.Join(out, "shop.json")); err != nil {
		return p, err
	}
	// As a whole, so that no other test sees half of it.
	if err := os.Rename(out, dir); err != nil && !built(p) {
		return p, err
	}
	return p, nil
}

func built(p Programs) bool {
	for _, file := range []string{p.Bridge, p.Wasm, p.Rules} {
		if _, err := os.Stat(file); err != nil {
			return false
		}
	}
	return true
}

// have sees to it that the commit is there.
func have(ctx context.Context, root, commit string) error {
	if len(commit) != 40 {
		return fmt.Errorf("previous version: %s holds %q: must be a whole commit id", commitFile, commit)
	}
	there := func() bool {
		_, err := run(ctx, root, nil, "git", "cat-file", "-e", commit+"^{commit}")
		return err == nil
	}
	if there() {
		return nil
	}
	text, err := run(ctx, root, nil, "git", "fetch", "--quiet", "--unshallow")
	if !there() {
		return fmt.Errorf("previous version: the commit %s, which %s names, is not in this repository's history, and git fetch --unshallow did not bring it: %w",
			commit, commitFile, errors.Join(err, errors.New(text)))
	}
	return nil
}

// unpack writes the tree of a commit to a folder.
func unpack(ctx context.Context, root, commit, to string) error {
	tar := filepath.Join(to, "source.tar")
	if text, err := run(ctx, root, nil, "git", "archive", "--format=tar", "--output="+tar, commit); err != nil {
		return fmt.Errorf("previous version: git archive: %w\n%s", err, text)
	}
	if text, err := run(ctx, to, nil, "tar", "-xf", tar); err != nil {
		return fmt.Errorf("previous version: tar: %w\n%s", err, text)
	}
	return os.Remove(tar)
}

func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}
