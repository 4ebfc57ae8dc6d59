// Command wasmtest runs a Go program that was compiled for wasip1, so that
// tests of the filter's core run as they will run in Envoy: 32-bit memory of at
// most [memoryLimitBytes], one thread, no network. It is meant for
//
//	go build -o build/out/wasmtest ./testenv/wasmtest
//	GOOS=wasip1 GOARCH=wasm go test -exec "$PWD/build/out/wasmtest" ./filter/...
//
// where go test starts it in the package's directory as
//
//	wasmtest program.wasm [argument ...]
//
// The program sees the module that its working directory belongs to (the nearest
// directory upwards with a go.mod, or else the working directory alone),
// read-only, at its usual path; an empty temporary directory at /tmp, which is
// removed afterwards; the arguments and the environment, with PWD and TMPDIR set
// to these; standard input, output and error. Its exit code is passed on; 2 stands for a trap, 125 for a fault of
// wasmtest's own.
//
// Compiled code is kept in the directory that WASMTEST_CACHE names; by default
// wazero-cache beside wasmtest itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const (
	exitTrap  = 2
	exitFault = 125
)

func main() {
	code, err := wasmtest(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "wasmtest:", err)
	}
	os.Exit(code)
}

func wasmtest(args []string) (code int, err error) {
	if len(args) == 0 {
		return exitFault, errors.New("usage: wasmtest program.wasm [argument ...]")
	}
	dir, err := os.Getwd()
	if err != nil {
		return exitFault, err
	}
	cache, err := cacheDir()
	if err != nil {
		return exitFault, err
	}
	temp, err := os.MkdirTemp("", "wasmtest-")
	if err != nil {
		return exitFault, err
	}
	defer os.RemoveAll(temp)
	removeOnSignal(temp)
	return run(context.Background(), program{
		wasm:  args[0],
		args:  args,
		env:   os.Environ(),
		dir:   dir,
		root:  moduleRoot(dir),
		temp:  temp,
		cache: cache,

		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
	})
}

func cacheDir() (string, error) {
	if dir := os.Getenv("WASMTEST_CACHE"); dir != "" {
		return dir, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(self), "wazero-cache"), nil
}

// moduleRoot returns the nearest directory from dir upwards that holds a go.mod,
// or dir.
func moduleRoot(dir string) string {
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return root
		}
		if root == filepath.Dir(root) {
			return dir
		}
	}
}

// removeOnSignal keeps an interrupted run from leaving its directory behind. Go
// test sends SIGQUIT to what outlives its timeout.
func removeOnSignal(dir string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	go func() {
		s := <-signals
		os.RemoveAll(dir)
		fmt.Fprintln(os.Stderr, "wasmtest:", s)
		os.Exit(exitFault)
	}()
}
