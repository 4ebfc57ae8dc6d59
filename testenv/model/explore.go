package model

import (
	"hash/maphash"
	"slices"
	"strings"
)

// DefaultMax is the bound on states of one run under which expectations hold.
const DefaultMax = 1_300_000

// A Finding is a promise that some reachable state breaks.
type Finding struct {
	Promise string   // its short name, as "I1a"; names that begin with n are notes
	Text    string   // what it says
	Trace   []string // a shortest way there, a step a line
}

// A Report is what Explore found.
type Report struct {
	States int
	// Bounded: the bound was reached; what was not found may lie deeper.
	Bounded  bool
	Findings []Finding // by name
}

// Names lists the promises found broken, as golden.txt does.
func (r *Report) Names() string {
	names := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		names[i] = f.Promise
	}
	return strings.Join(names, " ")
}

// Explore visits the states of c breadth first, at most about max of them. It
// does not go on behind a broken promise.
//
// Visited states are remembered by 64 bits of hash: among ten million states the
// chance of one that is taken for another is three in a million.
func Explore(c *Config, limit int) Report {
	e := newExplorer(c)
	e.run(limit)
	return e.report
}

func newExplorer(c *Config) *explorer {
	e := &explorer{
		c: c, seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, broken: map[*promise]bool{},
		stepper: stepper{c: c},
	}
	start := c.start()
	e.visit(&start, -1)
	return e
}

func (e *explorer) run(limit int) {
	i := 0
	for ; i < len(e.worlds) && len(e.worlds) <= limit; i++ {
		e.leave(i)
	}
	e.report.States = len(e.worlds)
	e.report.Bounded = i < len(e.worlds)
	slices.SortFunc(e.report.Findings, func(a, b Finding) int { return strings.Compare(a.Promise, b.Promise) })
}

type explorer struct {
	c       *Config
	seed    maphash.Seed
	seen    map[uint64]struct{}
	worlds  []world
	from    []int32 // the world that each was found from
	broken  map[*promise]bool
	report  Report
	stepper stepper
}

func (e *explorer) visit(w *world, from int32) {
	h := maphash.Comparable(e.seed, *w)
	if _, ok := e.seen[h]; ok {
		return
	}
	e.seen[h] = struct{}{}
	e.worlds = append(e.worlds, *w)
	e.from = append(e.from, from)
}

// leave takes every step out of world i.
func (e *explorer) leave(i int) {
	w := e.worlds[i]
	e.stepper.steps(&w)
	quiet := true
	for k := range e.stepper.out {
		st := &e.stepper.out[k]
		if !st.fault && st.to != w {
			quiet = false
		}
		if st.broken != nil {
			if !e.broken[st.broken] {
				e.found(st.broken, i, st)
			}
			if !st.broken.note() {
				continue
			}
		}
		e.visit(&st.to, int32(i))
	}
	if quiet && !e.broken[stuck] && e.c.stuck(&w) {
		e.found(stuck, i, nil)
	}
}

func (e *explorer) found(p *promise, i int, last *step) {
	e.broken[p] = true
	e.report.Findings = append(e.report.Findings, Finding{p.name, p.text, e.trace(i, last)})
}

// trace spells the steps to world i, and last after them, out again.
func (e *explorer) trace(i int, last *step) (lines []string) {
	var way []int32
	for k := int32(i); k >= 0; k = e.from[k] {
		way = append(way, k)
	}
	slices.Reverse(way)
	s := stepper{c: e.c, labels: true}
	find := func(from *world, same func(*step) bool) {
		s.steps(from)
		for k := range s.out {
			if same(&s.out[k]) {
				lines = append(lines, pad(s.out[k].label)+s.out[k].to.show(e.c))
				return
			}
		}
	}
	for k := 1; k < len(way); k++ {
		to := &e.worlds[way[k]]
		find(&e.worlds[way[k-1]], func(st *step) bool { return st.to == *to })
	}
	if last != nil {
		find(&e.worlds[i], func(st *step) bool { return st.to == last.to && st.broken == last.broken })
	}
	return lines
}

func pad(label string) string {
	return label + strings.Repeat(" ", max(72-len(label), 0)) + " "
}
