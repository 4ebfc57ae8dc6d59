package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// streamTraceBytes bounds what is kept of one stream's trace.
const streamTraceBytes = 64 << 10

// tracer shows the trace as it is made, and keeps the last streams of it. line
// and flush belong to the loop; what is kept may be read by anybody.
type tracer struct {
	out   *bufio.Writer // nil: nothing is shown
	began time.Time

	mu   sync.Mutex
	keep int // streams; 0: none
	// block is the running callback with all its lines, and the streams that it
	// concerns.
	block   strings.Builder
	streams []*streamTrace
	known   map[streamID]*streamTrace
	last    []*streamTrace // oldest first
}

// streamID names a stream: context ids are unique in a VM.
type streamID struct{ vm, context string }

// streamTrace is what is kept of one stream.
type streamTrace struct {
	id   streamID
	at   time.Duration
	text strings.Builder
	full bool
}

func newTracer(out io.Writer, keep int, began time.Time) *tracer {
	t := &tracer{keep: keep, began: began, known: map[streamID]*streamTrace{}}
	if out != nil {
		t.out = bufio.NewWriter(out)
	}
	return t
}

var (
	callbackLine  = regexp.MustCompile(`^> proxy_\w+\(ctx=(\d+)`)
	createLine    = regexp.MustCompile(`^> proxy_on_context_create\(ctx=(\d+), root=([1-9]\d*)\)`)
	effectiveLine = regexp.MustCompile(`^ *< proxy_set_effective_context\((\d+)\)`)
)

// line takes the next line. A callback begins at the left; what happens in it is
// indented.
func (t *tracer) line(e host.TraceEntry) {
	now := time.Since(t.began)
	if t.out != nil {
		fmt.Fprintf(t.out, "%10.6f %-8s %s\n", now.Seconds(), e.VM, e.Text)
	}
	if t.keep == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := callbackLine.FindStringSubmatch(e.Text); m != nil {
		t.endBlock()
		if c := createLine.FindStringSubmatch(e.Text); c != nil {
			t.begin(streamID{e.VM, c[1]}, now)
		}
		t.concerns(streamID{e.VM, m[1]})
	} else if m := effectiveLine.FindStringSubmatch(e.Text); m != nil {
		// A callback of the root context that speaks of a stream.
		t.concerns(streamID{e.VM, m[1]})
	}
	fmt.Fprintf(&t.block, "%10.6f %s\n", now.Seconds(), e.Text)
}

func (t *tracer) begin(id streamID, at time.Duration) {
	s := &streamTrace{id: id, at: at}
	t.known[id] = s
	t.last = append(t.last, s)
	if len(t.last) > t.keep {
		delete(t.known, t.last[0].id)
		t.last[0] = nil
		t.last = t.last[1:]
	}
}

func (t *tracer) concerns(id streamID) {
	if s := t.known[id]; s != nil {
		t.streams = append(t.streams, s)
	}
}

// endBlock gives the block to its streams.
func (t *tracer) endBlock() {
	for i, s := range t.streams {
		if i > 0 && s == t.streams[i-1] || s.full {
			continue
		}
		if s.text.Len()+t.block.Len() > streamTraceBytes {
			s.full = true
			s.text.WriteString("(the rest is not kept)\n")
			continue
		}
		s.text.WriteString(t.block.String())
	}
	t.block.Reset()
	t.streams = t.streams[:0]
}

// flush shows what was buffered; it is called when the loop has nothing to do.
func (t *tracer) flush() {
	if t.out != nil {
		_ = t.out.Flush()
	}
	if t.keep > 0 {
		t.mu.Lock()
		t.endBlock()
		t.mu.Unlock()
	}
}

// write writes the last n streams, oldest first.
func (t *tracer) write(w io.Writer, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.last[max(0, len(t.last)-n):] {
		fmt.Fprintf(w, "# %s, context %s\n%s\n", s.id.vm, s.id.context, s.text.String())
	}
}
