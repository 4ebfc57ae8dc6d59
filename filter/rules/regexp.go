package rules

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of regular expressions, so that none of them makes a request dear.
const (
	// maxPatternInst bounds a compiled pattern. Common ones have some ten.
	maxPatternInst = 500
	// maxPatterns bounds the rules that have one.
	maxPatterns = 32
	// maxPatternText bounds what a pattern is matched against. A longer text is
	// taken to match: a rule may guard what it was not meant for, and lets nothing
	// slip.
	maxPatternText = 4 << 10
	// maxLaxText is the same for paths that readers take in different ways.
	maxLaxText = 512
)

// pattern is a regular expression for whole texts.
type pattern struct {
	re     *regexp.Regexp
	prog   *syntax.Prog
	prefix string // what every match begins with
}

// compilePattern returns nil where expr is no RE2 expression within the bounds.
func compilePattern(expr string) *pattern {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxPatternInst {
		return nil
	}
	re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
	if err != nil {
		return nil
	}
	p := &pattern{re: re, prog: prog}
	if plain, err := regexp.Compile(expr); err == nil {
		p.prefix, _ = plain.LiteralPrefix()
	}
	return p
}

// matches reports whether the whole of text matches.
func (p *pattern) matches(text string) bool {
	return len(text) > maxPatternText || strings.HasPrefix(text, p.prefix) && p.re.MatchString(text)
}

// matchesLax reports whether a path may match once some of its segments are
// left out, cut short or empty: whatever a reader drops of a path, what is left
// is among these. A condition that has no width (^, $, \b) counts as met.
func (p *pattern) matchesLax(text string) bool {
	if len(text) > maxLaxText {
		return true
	}
	reached, scratch := newStates(p.prog), [2]*states{newStates(p.prog), newStates(p.prog)}
	reached.add(uint32(p.prog.Start))
	for {
		segment, rest, more := text, "", false
		if i := strings.IndexAny(text, `/\`); i >= 0 {
			segment, rest, more = text[:i], text[i+1:], true
		}
		cut := segment
		if i := strings.IndexAny(segment, segmentEnds); i >= 0 {
			cut = segment[:i]
		}
		// All ways start where this segment was reached.
		from := len(reached.list)
		for _, way := range [...]string{cut, segment, ""} {
			end := reached.follow(from, "/"+way, scratch)
			for _, pc := range end.list {
				reached.add(pc)
			}
		}
		if reached.matched {
			return true
		}
		if !more {
			return false
		}
		text = rest
	}
}

// states is a set of places in a program.
type states struct {
	prog    *syntax.Prog
	has     []bool
	list    []uint32
	matched bool
}

func newStates(p *syntax.Prog) *states { return &states{prog: p, has: make([]bool, len(p.Inst))} }

// add puts pc into the set, and what is reached from it without a character.
func (s *states) add(pc uint32) {
	if s.has[pc] {
		return
	}
	s.has[pc] = true
	s.list = append(s.list, pc)
	switch i := &s.prog.Inst[pc]; i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		s.add(i.Out)
		s.add(i.Arg)
	case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
		s.add(i.Out)
	case syntax.InstMatch:
		s.matched = true
	}
}

func (s *states) clear() {
	for _, pc := range s.list {
		s.has[pc] = false
	}
	s.list = s.list[:0]
}

// follow returns where the text leads from the first n places. The answer is one
// of the two scratch sets.
func (s *states) follow(n int, text string, scratch [2]*states) *states {
	at, next := scratch[0], scratch[1]
	from := s.list[:n]
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		next.clear()
		for _, pc := range from {
			switch i := &s.prog.Inst[pc]; i.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if i.MatchRune(r) {
					next.add(i.Out)
				}
			}
		}
		at, next = next, at
		from = at.list
	}
	return at
}
