package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
)

// inspect shows what a filter exports and imports. It fails where the filter
// cannot be run here.
func inspect(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		fmt.Fprintln(stderr, "usage: oncewall-host inspect FILTER.wasm")
		return exitUsage
	}
	wasm, err := readFilter(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "oncewall-host:", err)
		return exitFailed
	}
	s, err := look(ctx, wasm)
	if err != nil {
		fmt.Fprintf(stderr, "oncewall-host: %s: %v\n", args[0], err)
		return exitFailed
	}
	abi := strings.Join(s.abis(), ", ")
	if abi == "" {
		abi = "none"
	}
	fmt.Fprintf(stdout, "size      %d bytes\nABI       proxy-wasm %s\n", len(wasm), abi)
	var callbacks, rest []string
	for _, e := range s.exports {
		if strings.HasPrefix(e, "proxy_on_") && e != "proxy_on_memory_allocate" {
			callbacks = append(callbacks, e)
		} else {
			rest = append(rest, e)
		}
	}
	list(stdout, "callbacks", callbacks)
	list(stdout, "other exports", rest)
	list(stdout, "imports", append(s.imports, s.other...))
	faults := s.faults()
	if len(faults) == 0 {
		// Signatures and the allocator are only seen by compiling.
		if b, err := host.Compile(ctx, wasm, host.CompileOptions{Interpreter: true}); err != nil {
			faults = append(faults, err)
		} else {
			_ = b.Close(ctx)
		}
	}
	if len(faults) == 0 {
		fmt.Fprintln(stdout, "missing here: nothing")
		return exitOK
	}
	fmt.Fprintf(stdout, "missing here (%d)\n", len(faults))
	for _, f := range faults {
		fmt.Fprintf(stdout, "  %v\n", f)
	}
	return exitFailed
}

func list(w io.Writer, title string, names []string) {
	fmt.Fprintf(w, "%s (%d)\n", title, len(names))
	for _, n := range names {
		fmt.Fprintf(w, "  %s\n", n)
	}
}
