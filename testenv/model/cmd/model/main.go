// Command model explores the protocol's runs and compares what it finds with what
// is expected.
//
//	model                      every run; "as expected", or the exit status is 1
//	model -only "J ledger" -v  runs whose name contains this, with traces
//	model -max 6000000         another bound on states
//	model -list                names alone
//	model -record FILE         writes what is found as the expectation
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/oncewall/oncewall/testenv/model"
)

func main() {
	only := flag.String("only", "", "run what contains this in its `name`")
	limit := flag.Int("max", model.DefaultMax, "stop a run at this many `states`")
	jobs := flag.Int("j", 2, "this many `runs` at a time, each up to some 450 MB")
	verbose := flag.Bool("v", false, "print the traces")
	list := flag.Bool("list", false, "print the names of the runs and end")
	record := flag.String("record", "", "write what is found to this `file`, as golden.txt")
	flag.Parse()

	var runs []model.Config
	for _, c := range model.Runs() {
		if strings.Contains(c.Name, *only) {
			runs = append(runs, c)
		}
	}
	if *list {
		for _, c := range runs {
			fmt.Println(c.Name)
		}
		return
	}
	expected, err := model.Expected()
	if err != nil {
		fatal(err)
	}
	found := explore(runs, *limit, *jobs)
	unexpected := 0
	var lines strings.Builder
	lines.WriteString(model.GoldenHeader)
	for i := range runs {
		r := <-found[i]
		verdict := "not recorded"
		if e, ok := expected[runs[i].Name]; ok {
			verdict = e.Compare(&r, *limit)
		}
		if verdict == "" {
			verdict = "as expected"
		} else {
			unexpected++
			verdict = "UNEXPECTED: " + verdict
		}
		line := model.GoldenLine(runs[i].Name, &r)
		lines.WriteString(line)
		fmt.Printf("%s | %s\n", strings.TrimSuffix(line, "\n"), verdict)
		if *verbose {
			printTraces(&r)
		}
	}
	if *record != "" {
		if err := os.WriteFile(*record, []byte(lines.String()), 0o644); err != nil {
			fatal(err)
		}
	}
	fmt.Printf("%d runs, %d unexpected\n", len(runs), unexpected)
	if unexpected > 0 || len(runs) == 0 {
		os.Exit(1)
	}
}

// explore starts the runs in their order, jobs at a time.
func explore(runs []model.Config, limit, jobs int) []chan model.Report {
	out := make([]chan model.Report, len(runs))
	for i := range out {
		out[i] = make(chan model.Report, 1)
	}
	slots := make(chan struct{}, max(jobs, 1))
	go func() {
		for i := range runs {
			slots <- struct{}{}
			go func() {
				out[i] <- model.Explore(&runs[i], limit)
				<-slots
			}()
		}
	}()
	return out
}

func printTraces(r *model.Report) {
	for _, f := range r.Findings {
		fmt.Printf("   %s: %s\n", f.Promise, f.Text)
		for n, line := range f.Trace {
			fmt.Printf("   %3d. %s\n", n+1, line)
		}
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "model:", err)
	os.Exit(2)
}
