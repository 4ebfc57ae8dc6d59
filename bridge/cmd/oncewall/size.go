package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
)

// load is what the store has to hold and to carry.
type load struct {
	rps        float64 // covered requests a second, repeats included
	ttl        time.Duration
	tombstone  time.Duration
	body       int64   // bytes of an average recorded answer
	headers    int64   // bytes of its recorded header lines
	duplicates float64 // share of rps that repeats a key, 0 to 1
	replicas   int     // of each master
	masters    int
}

// size prints what Redis needs for a load. It knows measured figures and nothing
// of a real Redis.
func size(args []string, stdout, stderr io.Writer) int {
	l := load{body: -1, headers: 256, replicas: 1, masters: 1}
	flags := flag.NewFlagSet("size", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // a fault is one line, not all flags
	flags.Float64Var(&l.rps, "rps", 0, "covered requests a `second`, repeats included (required)")
	flags.DurationVar(&l.ttl, "ttl", 0, "completed.ttl, such as 24h (required)")
	flags.DurationVar(&l.tombstone, "tombstone", 0, "completed.tombstone_ttl")
	flags.Func("body", "average recorded answer's body, such as 2KiB (required)", sizeFlag(&l.body))
	flags.Func("headers", "bytes of its recorded header lines (default 256B)", sizeFlag(&l.headers))
	flags.Func("duplicates", "share of requests that repeat a key, such as 5% (default 0%)", percentFlag(&l.duplicates))
	flags.IntVar(&l.replicas, "replicas", l.replicas, "replicas of each master")
	flags.IntVar(&l.masters, "masters", l.masters, "masters; 1 for a single server or Sentinel")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.Usage()
			return exitOK
		}
		fmt.Fprintf(stderr, "oncewall size: %s\n", oneLine(err))
		return exitUsage
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "oncewall size: unexpected argument %q\n", flags.Arg(0))
		return exitUsage
	}
	if faults := l.check(); len(faults) > 0 {
		for _, f := range faults {
			fmt.Fprintf(stderr, "oncewall size: %s\n", f)
		}
		return exitUsage
	}
	l.print(stdout)
	return exitOK
}

// The bounds keep every product far below what a float64 counts exactly.
const (
	maxRate    = 1e7
	maxNodes   = 1000
	maxSizeTTL = 87600 * time.Hour
	maxAnswer  = 64 << 20
)

func (l *load) check() (faults []string) {
	bad := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if !(l.rps > 0 && l.rps <= maxRate) {
		bad("-rps %v: must be more than 0, at most %.0f", l.rps, float64(maxRate))
	}
	if l.ttl < time.Second || l.ttl > maxSizeTTL {
		bad("-ttl %s: must be 1s to %s", short(l.ttl), short(maxSizeTTL))
	}
	if l.tombstone < 0 || l.tombstone > maxSizeTTL {
		bad("-tombstone %s: must be 0s to %s", short(l.tombstone), short(maxSizeTTL))
	}
	if l.body < 0 {
		bad("-body: required, such as 2KiB")
	}
	if l.body > maxAnswer || l.headers > maxAnswer {
		bad("-body, -headers: must be <= %s", sized(maxAnswer))
	}
	if l.replicas < 0 || l.replicas > maxNodes {
		bad("-replicas %d: must be 0 to %d", l.replicas, maxNodes)
	}
	if l.masters < 1 || l.masters > maxNodes {
		bad("-masters %d: must be 1 to %d", l.masters, maxNodes)
	}
	return faults
}

// oneLine is the text of a fault, which may quote what was typed, on one line.
func oneLine(err error) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(err.Error()) }

func sizeFlag(to *int64) func(string) error {
	return func(s string) (err error) {
		n, ok := rules.ParseSize(s)
		if !ok {
			return errors.New("must be a size such as 512B, 2KiB or 1MiB")
		}
		*to = n
		return nil
	}
}

func percentFlag(to *float64) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
		if err != nil || !strings.HasSuffix(s, "%") || !(v >= 0 && v <= 100) {
			return errors.New("must be 0% to 100%")
		}
		*to = v / 100
		return nil
	}
}
