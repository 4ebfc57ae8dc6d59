package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// memoryLimitBytes is what Envoy grants a VM.
const memoryLimitBytes = 1 << 30

const pageBytes = 64 << 10

// program is one run of a wasip1 command.
type program struct {
	wasm  string   // path of the module
	args  []string // the program's name first
	env   []string // NAME=value; PWD and TMPDIR are replaced
	dir   string   // working directory, absolute
	root  string   // dir or above it; mounted read-only at the same path
	temp  string   // mounted at /tmp
	cache string   // directory of compiled code; made if absent

	stdin          io.Reader
	stdout, stderr io.Writer
}

// run runs p to its end and returns its exit code. An error says what stopped a
// program that did not exit by itself.
func run(ctx context.Context, p program) (code int, err error) {
	wasm, err := os.ReadFile(p.wasm)
	if err != nil {
		return exitFault, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(p.cache)
	if err != nil {
		return exitFault, err
	}
	defer cache.Close(ctx)
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCompilationCache(cache).
		WithMemoryLimitPages(memoryLimitBytes/pageBytes))
	defer r.Close(ctx)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return exitFault, err
	}
	compiled, err := r.CompileModule(ctx, wasm)
	if err != nil {
		return exitFault, fmt.Errorf("%s: %w", p.wasm, err)
	}
	_, err = r.InstantiateModule(ctx, compiled, p.config())
	if exit := (*sys.ExitError)(nil); errors.As(err, &exit) {
		return int(exit.ExitCode()), nil
	}
	if err != nil {
		return exitTrap, err
	}
	return 0, nil
}

func (p *program) config() wazero.ModuleConfig {
	c := wazero.NewModuleConfig().
		WithName("").
		WithArgs(p.args...).
		WithStdin(p.stdin).
		WithStdout(p.stdout).
		WithStderr(p.stderr).
		WithSysWalltime().
		WithSysNanotime().
		WithSysNanosleep().
		WithRandSource(rand.Reader).
		WithFSConfig(wazero.NewFSConfig().
			WithReadOnlyDirMount(p.root, p.root).
			WithDirMount(p.temp, "/tmp"))
	for _, nv := range p.env {
		if name, value, ok := strings.Cut(nv, "="); ok && name != "" {
			c = c.WithEnv(name, value)
		}
	}
	return c.WithEnv("PWD", p.dir).WithEnv("TMPDIR", "/tmp")
}
