package story

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Printer writes results as they come, as a table for a reader.
type Printer struct {
	w     io.Writer
	color bool
}

// NewPrinter makes a printer; it colours only where f is a terminal and NO_COLOR
// is not set (no-color.org).
func NewPrinter(f *os.File, getenv func(string) string) *Printer {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &Printer{w: f, color: terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

// The widths of the columns.
const (
	stepWidth = 50
	sawWidth  = 44
)

const (
	green = "32"
	red   = "31"
	bold  = "1"
)

func (p *Printer) paint(code, s string) string {
	if !p.color {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *Printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.w, format+"\n", args...) }

// Header writes the names of the columns.
func (p *Printer) Header() {
	p.line("%-*s  %-*s  %7s  %8s", stepWidth, "scene", sawWidth, "clients saw", "ran", "expected")
}

// Result writes one scene.
func (p *Printer) Result(r Result) {
	p.line("%s", p.paint(bold, r.Title))
	for _, row := range r.Rows {
		p.row(row)
	}
	if r.Err != nil {
		p.line("  %s %v", p.paint(red, "NOT PLAYED TO ITS END:"), r.Err)
	}
}

func (p *Printer) row(r Row) {
	ran, want := "-", "-"
	if r.Ran != NotCounted {
		ran, want = fmt.Sprint(r.Ran), fmt.Sprint(r.WantRan)
	}
	verdict := p.paint(green, "ok")
	if !r.OK {
		verdict = p.paint(red, "WRONG")
	}
	step, saw := wrap("  "+r.Step, stepWidth), wrap(r.Saw, sawWidth)
	for i := range max(len(step), len(saw)) {
		if i == 0 {
			p.line("%-*s  %-*s  %7s  %8s  %s", stepWidth, step[0], sawWidth, saw[0], ran, want, verdict)
			continue
		}
		p.line("%s", strings.TrimRight(fmt.Sprintf("%-*s  %s", stepWidth, at(step, i), at(saw, i)), " "))
	}
	if r.OK {
		return
	}
	p.line("    expected  %s; the backend runs: %s", r.Expected, want)
	p.line("    got       %s; the backend runs: %s", r.Saw, ran)
	if r.Wrong != "" {
		p.line("    because   %s", r.Wrong)
	}
	for _, e := range r.Evidence {
		p.line("    answer    %s", e)
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// wrap breaks s between words into lines of at most width bytes; later lines are
// indented by four spaces.
func wrap(s string, width int) []string {
	var lines []string
	for len(s) > width {
		cut := strings.LastIndexByte(s[:width+1], ' ')
		if cut <= 4 {
			break
		}
		lines = append(lines, s[:cut])
		s = "    " + s[cut+1:]
	}
	return append(lines, s)
}
