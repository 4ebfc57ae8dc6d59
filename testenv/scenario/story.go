package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Story is one text, read.
type Story struct {
	// Name is the file's name without its ending, Title its first line.
	Name, Title string
	// Rules names the plugin configuration.
	Rules string
	// Modes are the settings of allow_on_headers_stop_iteration that it runs in,
	// Said that it names them itself.
	Modes []bool
	Said  bool
	// Runs are the runners that it is for.
	Runs []string
	// Variants are the story's steps, once for each mode and each value of an "each"
	// line, or once for each mode.
	Variants []Variant
}

// The runners, as the line "runs" names them.
const (
	Core    = "core"
	Harness = "harness"
	Envoy   = "envoy"
)

// Variant is one way through a story.
type Variant struct {
	// Name is the value of the story's "each", "" where it has none.
	Name string
	// Flag is its mode.
	Flag bool
	// Short keeps it out of the real Envoy, and without a golden trace: the story's
	// line "envoy" does not name it, or its mode is off and its line "mode" does not
	// say so.
	Short bool
	Steps []Step
}

// In reports whether a story is for a runner.
func (s *Story) In(runner string) bool { return slices.Contains(s.Runs, runner) }

// Told gives the variants of a mode that a runner tells: real time is too dear
// for all.
func (s *Story) Told(runner string, flag bool) (vs []*Variant) {
	for i := range s.Variants {
		if v := &s.Variants[i]; v.Flag == flag && (runner != Envoy || !v.Short) {
			vs = append(vs, v)
		}
	}
	return vs
}

// Step is one line that does or expects something.
type Step struct {
	Line int
	Text string
	// do carries the step out; an error is what the story did not expect.
	do func(*stage) error
}

// Parse reads a story. name is its file's name without the ending. Every fault
// is told with its line.
func Parse(name, text string) (*Story, error) {
	p := &parser{story: &Story{Name: name, Modes: []bool{true, false}, Runs: []string{Core, Harness, Envoy}}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p.lines = append(p.lines, source{i + 1, line})
	}
	p.head()
	values := []string{""}
	if p.each != nil {
		values = p.each
	}
	for _, flag := range p.story.Modes {
		for _, v := range values {
			p.variant(v, flag)
		}
	}
	if len(p.faults) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(p.faults, "\n"))
	}
	return p.story, nil
}

type source struct {
	line int
	text string
}

type parser struct {
	story    *Story
	lines    []source // what is not read yet
	eachName string
	each     []string
	envoy    []string        // the variants for the real Envoy; nil: all
	clients  map[string]bool // of the variant being read
	faults   []string
}

func (p *parser) fault(line int, format string, args ...any) {
	f := fmt.Sprintf("%s.story:%d: %s", p.story.Name, line, fmt.Sprintf(format, args...))
	if !slices.Contains(p.faults, f) {
		p.faults = append(p.faults, f)
	}
}

// head reads the lines that speak of the story itself. They come first.
func (p *parser) head() {
	s := p.story
	seen := map[string]bool{}
	for ; len(p.lines) > 0; p.lines = p.lines[1:] {
		l := p.lines[0]
		word, rest, ok := strings.Cut(l.text, ":")
		if !ok || !slices.Contains([]string{"story", "rules", "mode", "runs", "each", "envoy"}, firstWord(word)) {
			break
		}
		rest = strings.TrimSpace(rest)
		if seen[firstWord(word)] {
			p.fault(l.line, "%s is said twice", word)
		}
		seen[firstWord(word)] = true
		switch firstWord(word) {
		case "story":
			s.Title = rest
		case "rules":
			s.Rules = rest
		case "mode":
			modes, ok := map[string][]bool{"on": {true}, "off": {false}, "both": {true, false}}[rest]
			if !ok {
				p.fault(l.line, "mode %q must be on, off or both", rest)
			}
			s.Modes, s.Said = modes, true
		case "runs":
			s.Runs = strings.Fields(rest)
			for _, r := range s.Runs {
				if !slices.Contains([]string{Core, Harness, Envoy}, r) {
					p.fault(l.line, "runner %q must be %s, %s or %s", r, Core, Harness, Envoy)
				}
			}
		case "each":
			p.eachName = strings.TrimSpace(strings.TrimPrefix(word, "each"))
			p.each = alternatives(rest)
			if p.eachName == "" || slices.Contains(p.each, "") {
				p.fault(l.line, `each wants a name and values: "each fault: loses | garbage"`)
			}
		case "envoy":
			p.envoy = alternatives(rest)
			for _, v := range p.envoy {
				if !slices.Contains(p.each, v) {
					p.fault(l.line, "%q is none of the values of each", v)
				}
			}
		}
	}
	if s.Title == "" || s.Rules == "" {
		p.fault(1, "a story begins with the lines story: and rules:")
	}
}

// variant reads the steps of one mode with one value of the each line.
func (p *parser) variant(value string, flag bool) {
	v := Variant{Name: value, Flag: flag, Short: !flag && !p.story.Said || p.envoy != nil && !slices.Contains(p.envoy, value)}
	p.clients = map[string]bool{}
	for _, l := range p.lines {
		text := l.text
		if p.each != nil {
			text = strings.ReplaceAll(text, "{"+p.eachName+"}", value)
		}
		if only, step, ok := strings.Cut(text, " only: "); ok && (only == "on" || only == "off") {
			if text = step; flag != (only == "on") {
				continue
			}
		}
		do, err := p.step(text)
		if err != nil {
			p.fault(l.line, "%v", err)
			continue
		}
		v.Steps = append(v.Steps, Step{Line: l.line, Text: text, do: do})
	}
	if len(v.Steps) == 0 && len(p.faults) == 0 {
		p.fault(1, "a story without steps")
	}
	p.story.Variants = append(p.story.Variants, v)
}

func alternatives(s string) (values []string) {
	for _, v := range strings.Split(s, "|") {
		values = append(values, strings.TrimSpace(v))
	}
	return values
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return w
}

// duration reads a time to wait; one day is the most.
func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("%q is no time from 1ns to 24h", s)
	}
	return d, nil
}
