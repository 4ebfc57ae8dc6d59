package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/bridge/config"
)

// check reports every fault of a plugin configuration and, where one is named,
// of a bridge configuration, and where the two do not agree: one line a fault on
// stderr. Remarks, which are no faults, go to stdout. Both files are read in full
// before it answers.
func check(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) < 1 || len(args) > 2 || strings.HasPrefix(args[0], "-") {
		fmt.Fprint(stderr, "usage: oncewall check PLUGIN.json|ENVOY.yaml [BRIDGE.yaml]\n")
		return exitUsage
	}
	plugin, faults := readPlugin(args[0])
	failed := len(faults) > 0
	printFaults(stderr, args[0], faults)
	if !failed {
		faults = disagreeEnvoy(plugin)
		printFaults(stderr, args[0], faults)
		for _, r := range slices.Concat(observing(plugin.cfg), lookupsForAll(plugin.cfg), disagreeCallers(plugin), disagreeRoutes(plugin)) {
			fmt.Fprintf(stdout, "%s: remark: %s\n", args[0], r)
		}
		if failed = len(faults) > 0; !failed {
			fmt.Fprintf(stdout, "%s: ok\n", args[0])
		}
	}
	if len(args) == 2 {
		failed = checkBridge(args, plugin, environ, stdout, stderr) || failed
	}
	if failed {
		return exitFailed
	}
	return exitOK
}

// checkBridge reports the faults of the bridge's configuration, and of the two
// together where each is good by itself. plugin is nil where it is not.
func checkBridge(args []string, plugin *pluginFile, environ []string, stdout, stderr io.Writer) (failed bool) {
	name := args[1]
	cfg, err := loadConfig(name, false, environ)
	if err != nil {
		printFaults(stderr, name, lines(err))
		return true
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintf(stdout, "%s: remark: %s\n", name, w)
	}
	if plugin != nil {
		faults, remarks := disagree(plugin.cfg, cfg)
		for _, r := range remarks {
			fmt.Fprintf(stdout, "%s, %s: remark: %s\n", args[0], name, r)
		}
		if len(faults) > 0 {
			printFaults(stderr, args[0]+", "+name, faults)
			return true
		}
	}
	fmt.Fprintf(stdout, "%s: ok\n", name)
	return false
}

// lines takes an error apart into its faults.
func lines(err error) []string {
	var faults config.Faults
	if errors.As(err, &faults) {
		out := make([]string, 0, len(faults))
		for _, f := range faults {
			out = append(out, "config: "+strings.ReplaceAll(f, "\n", " "))
		}
		return out
	}
	return strings.Split(err.Error(), "\n")
}

func printFaults(w io.Writer, name string, faults []string) {
	for _, f := range faults {
		fmt.Fprintf(w, "%s: %s\n", name, f)
	}
}
