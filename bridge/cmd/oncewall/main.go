// Command oncewall is the bridge between the Envoy filter and the record store,
// and the tool that checks the configuration of both.
package main

import (
	"fmt"
	"io"
	"os"
)

// version is set by the release build (-ldflags "-X main.version=...").
var version = "dev"

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a check found faults, or the server failed
	exitUsage  = 2 // unusable arguments or configuration
)

const usage = `oncewall makes a request take effect once, at the gateway.

  oncewall serve [--config FILE] [--dev]      run the bridge
  oncewall check PLUGIN.json [BRIDGE.yaml]    report every fault of a configuration
  oncewall explain PLUGIN.json -X POST URL    say how a request is judged
  oncewall size --rps N --ttl D --body SIZE   say what Redis needs
  oncewall keys get|list|resolve|erase        look at records, decide about stuck ones, forget
  oncewall report [--since 24h] [--json]      table repeats by rule and class
  oncewall version
  oncewall help

Each command: docs/program.md. The bridge's configuration: docs/configuration-bridge.md
`

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch command, rest := args[0], args[1:]; command {
	case "serve":
		return serve(rest, environ, stdout, stderr)
	case "check":
		return check(rest, environ, stdout, stderr)
	case "explain":
		return explain(rest, stdout, stderr)
	case "size":
		return size(rest, stdout, stderr)
	case "keys":
		return keys(rest, environ, os.Stdin, stdout, stderr)
	case "report":
		return report(rest, environ, stdout, stderr)
	case "version", "--version":
		return printVersion(rest, stdout, stderr)
	case "help", "--help", "-h":
		fmt.Fprint(stdout, usage)
		return exitOK
	default:
		fmt.Fprintf(stderr, "oncewall: unknown command %q\n\n%s", command, usage)
		return exitUsage
	}
}
