// Command bench measures the cost of a request beside bare proxying; package
// bench says how. It starts a stack of its own on free ports and ends it.
//
//	bench [-store cluster|embedded] [-rounds N] [-slot 3s] [-connections N] [-short] [-json FILE]
//
// It exits 1 when a single answer was not what it must be, when a duplicate of
// a finished key was not answered from memory, and when a first request did not
// reach the shop exactly once. It builds nothing: `make bench` does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/oncewall/oncewall/testenv/bench"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var o bench.Options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.Store, "store", "cluster", "cluster (a Redis Cluster of six nodes) or embedded (inside the bridge)")
	flags.IntVar(&o.Rounds, "rounds", 5, "how often each case has its turn")
	flags.DurationVar(&o.Slot, "slot", 0, "length of a turn (default 3s); one tick of the CPU clock is 10ms")
	flags.IntVar(&o.Connections, "connections", 32, "keep-alive connections")
	short := flags.Bool("short", false, "a few seconds: counts only, the times mean nothing")
	file := flags.String("json", "", "also write every slot's figures to this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("bench: argument %q: none is expected", flags.Arg(0))
	}
	if *short {
		o = bench.Short(o)
	}
	o.Progress = func(format string, args ...any) { _, _ = fmt.Fprintf(progress, format+"\n", args...) }
	report, err := bench.Run(ctx, o)
	if report == nil {
		return err
	}
	return errors.Join(report.Write(out), writeJSON(*file, report), err)
}

func writeJSON(file string, report *bench.Report) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
