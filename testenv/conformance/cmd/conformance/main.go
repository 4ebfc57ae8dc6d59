// Command conformance plays every scenario against the host and against Envoy
// and prints what agrees and what differs, or writes the lists of the document. It exits with 1 where a difference is
// not explained, or explained and not found.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/oncewall/oncewall/testenv/conformance"
)

func main() {
	o := conformance.Options{Root: ".", Out: os.Stdout}
	versions := flag.String("envoy", "1.40.0,1.36.2", "pinned versions, by comma")
	flag.StringVar(&o.Only, "only", "", "scenarios whose names contain this")
	flag.BoolVar(&o.Short, "short", false, "the short form")
	flag.BoolVar(&o.Verbose, "v", false, "print the records of both sides")
	document := flag.String("document", "", "write the lists of this document, and run nothing")
	flag.Parse()
	if *document != "" {
		if err := conformance.Document(*document); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	o.Versions = strings.Split(*versions, ",")
	results, err := conformance.Run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !conformance.Report(os.Stdout, results) {
		os.Exit(1)
	}
}
