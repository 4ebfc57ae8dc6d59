package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/oncewall/oncewall/filter"
)

const explainUsage = `usage: oncewall explain PLUGIN.json [-X METHOD] [-H 'name: value']... [-d BODY|@FILE]
                        [--claim NAME=VALUE]... [--certificate MEMBER=VALUE]...
                        [--route NAME=VALUE]... [-json] URL

Says which rule a request meets, what identifies it, and what its client gets in
each situation. Nothing is sent. PLUGIN.json may be an Envoy YAML file.

`

// explain prints how the filter judges one request. It ends with 0 whatever the
// judgement is.
func explain(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("explain", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a fault is one line, not all flags
	flags.Usage = func() {}
	var p probe
	p.flags(flags)
	asJSON := flags.Bool("json", false, "print JSON")
	words, err := interleaved(flags, splitShort(args))
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, explainUsage)
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "oncewall explain: %s\n", oneLine(err))
		return exitUsage
	}
	if len(words) != 2 {
		fmt.Fprint(stderr, explainUsage)
		return exitUsage
	}
	if err := p.finish(words[1]); err != nil {
		fmt.Fprintf(stderr, "oncewall explain: %v\n", err)
		return exitUsage
	}
	file, faults := readPlugin(words[0])
	if len(faults) > 0 {
		printFaults(stderr, words[0], faults)
		return exitFailed
	}
	x := filter.Explain(file.cfg, p.method, p.path, p.view(), p.body)
	report := describe(file.cfg, &p, &x)
	if !*asJSON {
		report.print(stdout)
		return exitOK
	}
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(report); err != nil {
		fmt.Fprintf(stderr, "oncewall explain: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// splitShort takes curl's -XPOST apart into -X POST.
func splitShort(args []string) []string {
	var out []string
	for _, a := range args {
		if len(a) > 2 && a[0] == '-' && (a[1] == 'X' || a[1] == 'H' || a[1] == 'd') {
			out = append(out, a[:2], a[2:])
			continue
		}
		out = append(out, a)
	}
	return out
}

// interleaved parses flags that stand before, between and behind the words, and
// returns the words.
func interleaved(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return words, nil
		}
		words = append(words, flags.Arg(0))
		args = flags.Args()[1:]
	}
}
