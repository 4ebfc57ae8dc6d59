// Command stack runs the local stack of Oncewall.
//
//	stack up              start what is missing, return when all of it is ready
//	stack down            end it, and whatever else listens on its ports
//	stack run -- COMMAND  start it, run the command, end it; exits as the command did
//
// Environment variables choose ports, store and more: see package stack and
// `make help`. It builds nothing: `make up` does.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/oncewall/oncewall/testenv/stack"
)

const usage = `usage: stack up | stack down | stack run -- COMMAND [ARGUMENT ...]`

// runDir is where a stack lives, below the working directory, which is the
// checkout. RUN_DIR changes it: stacks side by side need a folder each, and
// ports of their own.
const runDir = "build/out/run"

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	err := run(ctx, os.Args[1:])
	if err == nil {
		return
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	fmt.Fprintln(os.Stderr, "stack:", err)
	os.Exit(1)
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	o, err := stack.FromEnv(os.Getenv)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(cmp.Or(os.Getenv("RUN_DIR"), runDir))
	if err != nil {
		return err
	}
	switch o.Dir = dir; {
	case args[0] == "up" && len(args) == 1:
		return up(ctx, o)
	case args[0] == "down" && len(args) == 1:
		return stack.Down(dir, *o.Ports)
	case args[0] == "run" && len(args) > 2 && args[1] == "--":
		return with(ctx, o, args[2:])
	default:
		return errors.New(usage)
	}
}

func up(ctx context.Context, o stack.Options) error {
	o.Detached = true
	s, err := stack.Start(ctx, o)
	if err != nil {
		return err
	}
	s.Describe(os.Stdout)
	return nil
}

// with runs a command while the stack is up. The parts are children of this
// process: they end with it even when it is killed.
func with(ctx context.Context, o stack.Options, argv []string) (err error) {
	s, err := stack.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd.Run()
}
