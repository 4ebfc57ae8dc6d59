package bench

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// Write writes the report for a reader.
func (r *Report) Write(w io.Writer) error {
	rounds := 0
	for _, s := range r.Slots {
		rounds = max(rounds, s.Round)
	}
	_, err := fmt.Fprintf(w, "store %s, one Envoy worker, %d connections, %d rounds of %s a case; %d cores, load %s before and %s after\n\n",
		r.Store, r.Connections, rounds, r.Slot, runtime.NumCPU(), r.LoadBefore, r.LoadAfter)
	if err != nil {
		return err
	}
	cost := newTable(w, "CPU of a request", "Envoy / bare", "least", "most", "bridge / bare", "Redis / bare", "Envoy us", "bridge us", "Redis us", "requests/s")
	count := newTable(w, "counted", "requests", "executed", "callouts/request", "operations/callout", "scripts/request", "Redis commands/request")
	for _, x := range r.Rows() {
		cost.row(x.Case, "%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.0f", x.EnvoyRatio.Median, x.EnvoyRatio.Least, x.EnvoyRatio.Greatest,
			x.BridgeRatio.Median, x.RedisRatio.Median, x.Envoy, x.Bridge, x.Redis, x.PerSecond)
		count.row(x.Case, "%d\t%d\t%.3f\t%.1f\t%.2f\t%.2f", x.Requests, x.Executions, x.Callouts, x.Batch, x.Scripts, x.Commands)
	}
	if err := errors.Join(cost.Flush(), space(w), count.Flush()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "\nus: microseconds of CPU. Ratios are to Envoy's CPU for a bare request of the same round, medians over the rounds.")
	return err
}

// table is columns aligned to the right, the first one to the left.
type table struct{ *tabwriter.Writer }

// nameWidth is that of the first column, which tabwriter would align as the
// others are.
const nameWidth = 16

func newTable(w io.Writer, first string, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row(first, "%s", strings.Join(columns, "\t"))
	return t
}

func (t table) row(name, format string, args ...any) {
	_, _ = fmt.Fprintf(t, "%-*s\t"+format+"\t\n", append([]any{nameWidth, name}, args...)...)
}

func space(w io.Writer) error {
	_, err := fmt.Fprintln(w)
	return err
}
