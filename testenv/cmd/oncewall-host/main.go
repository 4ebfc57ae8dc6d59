// Command oncewall-host serves HTTP through a proxy-wasm filter, without Envoy.
//
//	oncewall-host run filter.wasm --config c.json --upstream http://127.0.0.1:8090
//	oncewall-host inspect filter.wasm
//
// It puts real sockets around testenv/host, the model of what Envoy does with a
// filter: one goroutine, the loop, owns the host; everything that happens on a
// socket becomes an event of the loop, and the host's virtual clock follows the
// real one. Bodies stream both ways, with back-pressure and bounded memory. See
// docs/host.md.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// version is set by the release build (-ldflags "-X main.version=...").
var version string

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the filter cannot be run, or serving failed
	exitUsage  = 2 // unusable arguments
)

const usage = `oncewall-host serves HTTP through a proxy-wasm filter, without Envoy.

  oncewall-host run FILTER.wasm [flags]   serve; --help lists the flags
  oncewall-host inspect FILTER.wasm       what the filter asks for, and what is missing here
  oncewall-host version

The documentation: docs/host.md
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	code := command(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs one command line until it is done or ctx ends.
func command(ctx context.Context, args []string, env func(string) (string, bool), stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch name, rest := args[0], args[1:]; name {
	case "run":
		return run(ctx, rest, env, stdout, stderr)
	case "inspect":
		return inspect(ctx, rest, stdout, stderr)
	case "version", "--version":
		fmt.Fprintln(stdout, "oncewall-host", versionText())
		return exitOK
	case "help", "--help", "-h":
		fmt.Fprint(stdout, usage)
		return exitOK
	default:
		fmt.Fprintf(stderr, "oncewall-host: unknown command %q\n\n%s", name, usage)
		return exitUsage
	}
}

// versionText is the release's version, else what `go install` recorded.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
