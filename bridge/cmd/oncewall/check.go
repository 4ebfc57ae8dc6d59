package main

import (
	"fmt"
	"io"
	"os"

	"github.com/oncewall/oncewall/filter/rules"
)

// check reports every fault of a plugin configuration and, where one is named,
// of a bridge configuration. Both are read in full before it answers.
func check(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) < 1 || len(args) > 2 {
		fmt.Fprint(stderr, "usage: oncewall check PLUGIN.json [BRIDGE.yaml]\n")
		return exitUsage
	}
	code := exitOK
	for i, name := range args {
		var err error
		if i == 0 {
			err = checkPlugin(name)
		} else {
			_, err = loadConfig(name, false, environ)
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s:\n%v\n", name, err)
			code = exitFailed
			continue
		}
		fmt.Fprintf(stdout, "%s: ok\n", name)
	}
	return code
}

func checkPlugin(name string) error {
	b, err := os.ReadFile(name)
	if err == nil {
		_, err = rules.Parse(b)
	}
	return err
}
