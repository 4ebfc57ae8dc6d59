package host

import (
	"fmt"
	"strings"
)

// Trace records what the filter was asked and what it asked. A line is one of
//
//	> proxy_on_request_headers(ctx=2, n=9, end=0)                      a callback
//	  < proxy_get_header_map_value(request, ":path") = ok "/orders"    a host call in it
//	  ! info: text                                                     a line it logged
//	  = pause                                                          what it returned
//
// Lines are stable: the same scenario gives the same text, so they serve as
// golden files.
type Trace struct {
	entries []TraceEntry
	depth   int
	off     bool
	sink    func(TraceEntry)
	passing bool // lines go to sink alone
}

// TraceEntry is one line of a Trace.
type TraceEntry struct {
	VM   string // "worker0", "worker1", ..., "main", "canary"
	Text string
}

// traceValue is the longest value that is shown whole, in bytes.
const traceValue = 160

func (t *Trace) add(vm *vm, mark, format string, args ...any) {
	if t.off {
		return
	}
	e := TraceEntry{vm.name, strings.Repeat("  ", t.depth) + mark + fmt.Sprintf(format, args...)}
	if t.sink != nil {
		t.sink(e)
	}
	if !t.passing {
		t.entries = append(t.entries, e)
	}
}

// Reset forgets the lines so far.
func (t *Trace) Reset() { t.entries = nil }

// Off stops recording: for benchmarks and long runs.
func (t *Trace) Off() { t.off = true }

// Follow calls f with each line as it is recorded.
func (t *Trace) Follow(f func(TraceEntry)) { t.sink = f }

// Entries are the lines so far.
func (t *Trace) Entries() []TraceEntry { return t.entries }

// Of gives the lines of one VM.
func (t *Trace) Of(vm string) string {
	var b strings.Builder
	for _, e := range t.entries {
		if e.VM == vm {
			b.WriteString(e.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Callbacks gives the callbacks of one VM alone, without what happened in them:
// "proxy_on_log(ctx=2)".
func (t *Trace) Callbacks(vm string) []string {
	var cs []string
	for _, e := range t.entries {
		if s := strings.TrimLeft(e.Text, " "); e.VM == vm && strings.HasPrefix(s, "> ") {
			cs = append(cs, s[2:])
		}
	}
	return cs
}

// String gives every line, each with its VM in front.
func (t *Trace) String() string {
	var b strings.Builder
	for _, e := range t.entries {
		fmt.Fprintf(&b, "%-8s%s\n", e.VM, e.Text)
	}
	return b.String()
}

// quote shows a value: text quoted, its length where it is cut.
func quote(b string) string {
	if len(b) <= traceValue {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q...(%d bytes)", b[:traceValue], len(b))
}
