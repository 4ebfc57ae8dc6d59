package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oncewall/oncewall/client/api"
)

const reportUsage = `usage: oncewall report [--since 24h] [--json]

Tables first requests and their repeats, by rule and by what the repeats look like.
Whole hours are counted, at most 840h (35 days).

It takes --url (default http://127.0.0.1:8082, the bridge's admin listener) and
--secret-file FILE, or the operator's secret in $ONCEWALL_OPERATOR_SECRET.
`

// classes are the columns, and what to do about what they count.
var classes = []struct {
	name string
	of   func(*api.RuleReport) int64
	hint string
}{
	{"double click", func(r *api.RuleReport) int64 { return r.DoubleClick },
		"while the first was in flight, or within 2 s of it: turn the button off until the answer is there, and let the rule wait (in_flight: wait) instead of refusing"},
	{"client retry", func(r *api.RuleReport) int64 { return r.ClientRetry },
		"later: the clients do what they should; many of them mean that answers come late or get lost: look at upstream_timeout and at the clients' own timeouts"},
	{"gateway retry", func(r *api.RuleReport) int64 { return r.GatewayRetry },
		"a proxy in front sent it again (x-envoy-attempt-count): look at its retry policy, and whether its timeout is shorter than the rule's upstream_timeout"},
	{"key reused", func(r *api.RuleReport) int64 { return r.KeyReused },
		"refused with 422: a client takes one key for different requests; a key belongs to one action. If the requests are alike but for a timestamp or so, leave that out (fingerprint.ignore)"},
	{"suspected new key", func(r *api.RuleReport) int64 { return r.SuspectedNewKey },
		"these RAN: the same principal asked for the same under another key within 2 minutes. A client that makes a new key for every retry is protected from nothing: make the key once, keep it until the answer is there"},
}

// report asks a bridge for its counts.
func report(args, environ []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { fmt.Fprint(stderr, reportUsage) }
	since := flags.Duration("since", 24*time.Hour, "how far `back`")
	asJSON := flags.Bool("json", false, "write the counts as JSON")
	var at operatorFlags
	at.register(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "oncewall report: unexpected argument %q\n", flags.Arg(0))
		return exitUsage
	}
	if *since <= 0 {
		fmt.Fprintf(stderr, "oncewall report: --since %s: must be above 0\n", *since)
		return exitUsage
	}
	operator, err := at.client(environ)
	if err != nil {
		fmt.Fprintln(stderr, "oncewall report:", err)
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	r, err := operator.Report(ctx, *since)
	if err != nil {
		fmt.Fprintln(stderr, "oncewall report:", err)
		return exitFailed
	}
	if *asJSON {
		err = writeJSON(stdout, r)
	} else {
		_, err = io.WriteString(stdout, reportText(&r))
	}
	if err != nil {
		fmt.Fprintln(stderr, "oncewall report:", err)
		return exitFailed
	}
	return exitOK
}

// reportText is the table, a line for each rule and one for all, and a hint for each
// class that there is something of.
func reportText(r *api.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "from %s to %s, whole hours\n\n", r.From, r.To)
	if len(r.Rules) == 0 {
		b.WriteString("no request has been counted\n")
		return b.String()
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	heads := []string{"namespace", "rule", "first", "repeats"}
	for _, c := range classes {
		heads = append(heads, c.name)
	}
	fmt.Fprintln(w, strings.Join(heads, "\t")+"\t")
	total := api.RuleReport{Namespace: "all"}
	for i := range r.Rules {
		rule := r.Rules[i]
		if rule.Namespace == "" {
			rule.Namespace = "(others)"
		}
		total.First += rule.First
		total.DoubleClick += rule.DoubleClick
		total.ClientRetry += rule.ClientRetry
		total.GatewayRetry += rule.GatewayRetry
		total.KeyReused += rule.KeyReused
		total.SuspectedNewKey += rule.SuspectedNewKey
		reportLine(w, &rule)
	}
	reportLine(w, &total)
	w.Flush()
	b.WriteString("\nShares are of all requests, first and repeated.\n")
	for _, c := range classes {
		if c.of(&total) > 0 {
			fmt.Fprintf(&b, "\n%s: %s.\n", c.name, c.hint)
		}
	}
	return b.String()
}

func reportLine(w io.Writer, r *api.RuleReport) {
	all := r.First + r.Repeats()
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t", r.Namespace, r.Scope, r.First, share(r.Repeats(), all))
	for _, c := range classes {
		fmt.Fprintf(w, "%s\t", share(c.of(r), all))
	}
	fmt.Fprintln(w)
}

// share writes a number and what part of all it is.
func share(n, all int64) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%.1f%%)", n, 100*float64(n)/float64(all))
}
