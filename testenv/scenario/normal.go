package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/filter"
)

var (
	// issuedKey is a key that the bridge has issued: it is random.
	issuedKey = regexp.MustCompile(`ow1\.[A-Za-z0-9_-]{76}`)
	// counter is a counter by its number, which says nothing to a reader.
	counter = regexp.MustCompile(`proxy_increment_metric\((\d+), `)
)

// gaugeType is the rest of a gauge's number by four.
const gaugeType = 1

// normal makes a trace the same in every run, and counters readable: the filter
// defines them in their order, and the host numbers them in steps of four. Gauges
// are left out: some are of the Go heap, whose size is another in each run.
func normal(trace string) string {
	var b strings.Builder
	for line := range strings.Lines(trace) {
		if m := counter.FindStringSubmatch(line); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n%4 == gaugeType {
				continue
			}
		}
		b.WriteString(line)
	}
	trace = b.String()
	seen := map[string]string{}
	trace = issuedKey.ReplaceAllStringFunc(trace, func(k string) string {
		if seen[k] == "" {
			seen[k] = fmt.Sprintf("<issued key %d>", len(seen)+1)
		}
		return seen[k]
	})
	names := filter.Metrics()
	return counter.ReplaceAllStringFunc(trace, func(s string) string {
		n, err := strconv.Atoi(counter.FindStringSubmatch(s)[1])
		if i := n/4 - 1; err == nil && i >= 0 && i < len(names) {
			return fmt.Sprintf("proxy_increment_metric(%s, ", strings.TrimPrefix(names[i], "idempotency."))
		}
		return s
	})
}
