package rules

import (
	"slices"
	"strings"
)

// table is the rules by the hosts that they are for.
type table struct {
	any   *index
	hosts map[string]*index // nil where no rule names one
}

func newTable(rules []*Rule) table {
	t := table{any: &index{}}
	for _, r := range rules {
		if len(r.Match.Hosts) == 0 {
			t.any.add(r)
		}
		for _, h := range r.Match.Hosts {
			if t.hosts == nil {
				t.hosts = make(map[string]*index)
			}
			if t.hosts[h] == nil {
				t.hosts[h] = &index{}
			}
			t.hosts[h].add(r)
		}
	}
	return t
}

// index is the rules by the segments of their paths.
type index struct {
	children map[string]*index
	variable *index // where a template has a variable
	exact    []*Rule
	prefix   []*Rule
	template []*Rule

	// Of the top alone: the rules with a regular expression, and whether there is
	// any of these or of templates.
	regexps []*Rule
	wide    bool
}

func (x *index) add(r *Rule) {
	m := &r.Match
	if m.Regexp != "" {
		x.regexps, x.wide = append(x.regexps, r), true
		return
	}
	x.wide = x.wide || m.Template != ""
	at := x
	for rest := m.Exact + m.Prefix + m.Template; ; {
		var segment string
		if segment, rest = nextSegment(rest); segment == "" {
			break
		}
		at = at.child(segment, m.Template != "" && isVariable(segment))
	}
	switch {
	case m.Exact != "":
		at.exact = append(at.exact, r)
	case m.Template != "":
		at.template = append(at.template, r)
	case m.Prefix != "":
		at.prefix = append(at.prefix, r)
	}
}

func (x *index) child(segment string, variable bool) *index {
	if variable {
		if x.variable == nil {
			x.variable = &index{}
		}
		return x.variable
	}
	if x.children == nil {
		x.children = make(map[string]*index)
	}
	if x.children[segment] == nil {
		x.children[segment] = &index{}
	}
	return x.children[segment]
}

// find looks up a path in normal form.
func (x *index) find(q query, path string) *Rule {
	best := q.first(x.prefix)
	at := x
	for rest := path; ; {
		var segment string
		if segment, rest = nextSegment(rest); segment == "" {
			if r := q.first(at.exact); r != nil {
				return r
			}
			break
		}
		if at = at.children[segment]; at == nil {
			break
		}
		if r := q.first(at.prefix); r != nil {
			best = r
		}
	}
	if !x.wide {
		return best
	}
	if r := x.findTemplate(q, path); r != nil {
		return r
	}
	for _, r := range x.regexps {
		if r.Match.pattern.holds(path, r.Mode == Off) && q.fits(r) {
			return r
		}
	}
	return best
}

// holds reports whether a path in normal form matches, with or without the slash
// at its end. A rule that excepts takes nothing for granted of a long one.
func (p *pattern) holds(path string, off bool) bool {
	if off && len(path) > maxPatternText {
		return false
	}
	return p.matches(path) || len(path) > 1 && path[len(path)-1] == '/' && p.matches(path[:len(path)-1])
}

// findTemplate returns the template with the most fixed bytes. Each node of the
// index is visited once at most.
func (x *index) findTemplate(q query, path string) *Rule {
	segment, rest := nextSegment(path)
	if segment == "" {
		return q.first(x.template)
	}
	var best *Rule
	if child := x.children[segment]; child != nil {
		best = child.findTemplate(q, rest)
	}
	if x.variable != nil {
		if r := x.variable.findTemplate(q, rest); r != nil && (best == nil || r.Match.literal > best.Match.literal) {
			best = r
		}
	}
	return best
}

// findWithin returns the rule with the longest path whose segments occur in those
// of a reading in their order, whatever lies between; a template's variables may
// be missing. Whichever segments a reader of ".." drops, and whatever another
// takes for one, what is left is among these. An exact path or a prefix counts
// only where segments may be dropped. Its cost is one look-up a segment, one visit
// a node of the index, and a bounded one for regular expressions.
func (x *index) findWithin(q query, read reading) *Rule {
	type step struct {
		node  *index
		depth int
	}
	var best *Rule
	bestDepth := -1
	// waiting holds the nodes that the next occurrence of a segment reaches.
	waiting := make(map[string][]step)
	var reach func(s step)
	reach = func(s step) {
		lists := [][]*Rule{s.node.template}
		if read.ambiguous {
			lists = append(lists, s.node.exact, s.node.prefix)
		}
		for _, list := range lists {
			for _, r := range list {
				if s.depth > bestDepth && q.fits(r) {
					best, bestDepth = r, s.depth
				}
			}
		}
		for segment, child := range s.node.children {
			waiting[segment] = append(waiting[segment], step{child, s.depth + 1})
		}
		if s.node.variable != nil {
			reach(step{s.node.variable, s.depth})
		}
	}
	reach(step{x, 0})
	for _, segment := range read.all {
		reached := waiting[segment]
		delete(waiting, segment)
		for _, s := range reached {
			reach(s)
		}
	}
	if best != nil {
		return best
	}
	for _, r := range x.regexps {
		if q.fits(r) && r.Match.pattern.matchesLax(read.text) {
			return r
		}
	}
	return nil
}

// isVariable reports whether a template's segment stands for any.
func isVariable(segment string) bool {
	return len(segment) > 2 && segment[0] == '{' && segment[len(segment)-1] == '}'
}

// variables returns the names of a template's variables and the segments that
// they stand for, counted from 1.
func variables(template string) map[string]int {
	out := make(map[string]int)
	for n := 1; ; n++ {
		var segment string
		if segment, template = nextSegment(template); segment == "" {
			return out
		}
		if isVariable(segment) {
			out[segment[1:len(segment)-1]] = n
		}
	}
}

// covers reports whether every request that meets n meets m too, as far as can be
// told from the two alone: they have one path.
func (m *Match) covers(n *Match) bool {
	return m.path() == n.path() && m.path() != "" && m.hostsCover(n) && m.methodsCover(n) &&
		!slices.ContainsFunc(m.Headers, func(h HeaderMatch) bool {
			return !slices.ContainsFunc(n.Headers, func(o HeaderMatch) bool {
				return h.Name == o.Name && h.Exact == o.Exact && h.Prefix == o.Prefix && h.Regexp == o.Regexp
			})
		})
}

// path is equal for two matches that select the same paths; empty: none.
func (m *Match) path() string {
	switch {
	case m.Template != "":
		var b strings.Builder
		for rest := m.Template; ; {
			var segment string
			if segment, rest = nextSegment(rest); segment == "" {
				return "template\x00" + b.String()
			}
			if isVariable(segment) {
				segment = "{}"
			}
			b.WriteString("/" + segment)
		}
	case m.Exact != "":
		return "exact\x00" + m.Exact
	case m.Prefix != "":
		return "prefix\x00" + m.Prefix
	case m.Regexp != "":
		return "regexp\x00" + m.Regexp
	}
	return ""
}

// hostsCover compares what is looked up: a rule for every host comes behind one
// for a host, so it covers only its like.
func (m *Match) hostsCover(n *Match) bool {
	if len(m.Hosts) == 0 || len(n.Hosts) == 0 {
		return len(m.Hosts) == len(n.Hosts)
	}
	return !slices.ContainsFunc(n.Hosts, func(h string) bool { return !slices.Contains(m.Hosts, h) })
}

func (m *Match) methodsCover(n *Match) bool {
	if len(n.Methods) == 0 {
		return len(m.Methods) == 0
	}
	return !slices.ContainsFunc(n.Methods, func(method string) bool { return !m.method(method) })
}
