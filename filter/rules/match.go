package rules

import (
	"slices"
	"strings"
)

// Match returns the rule of a request, nil where none covers it. method and path
// are Envoy's :method and :path, the query included.
//
// The longest match wins: an exact path beats a prefix, a longer prefix a shorter
// one, and of rules with one path the first in the file whose methods fit.
// Methods in the file are compared without regard to case, and the default list
// leaves out GET, HEAD, OPTIONS and TRACE only as they are written here: a
// backend that takes "post" for POST is guarded, and "get" is too.
//
// A path that is not in normal form is read in every way in which something
// behind the gateway might read it (see readings); a rule that one reading meets
// guards the request. A rule with mode off excepts a request only where every
// reader agrees that it is meant: "/orders//ping" is not excepted by
// "/orders/ping", since some see an order in it.
//
// It does not allocate where the path is in normal form.
func (c *Config) Match(method, path string) *Rule {
	path = cutQuery(path)
	q := query{method: method}
	if isNormal(path) {
		r := c.index.find(q, path)
		if r != nil && r.Mode == Off && r.Match.Exact != "" && len(path) > 1 && path[len(path)-1] == '/' {
			q.enforcing = true // the slash at the end may count for some
			r = c.index.find(q, path)
		}
		return r
	}
	read, plain := readings(path)
	q.enforcing = !plain
	var off *Rule
	for _, segments := range read {
		switch r := c.index.findSegments(q, segments.resolved); {
		case r == nil:
		case r.Mode != Off:
			return r
		case off == nil:
			off = r
		}
	}
	for _, segments := range read {
		if segments.ambiguous {
			if r := c.index.findWithin(q, segments.all); r != nil {
				return r
			}
		}
	}
	return off
}

// IsIssue reports whether the request asks for a key: a POST to issue.path, in
// the normal form that a path has when it is percent-decoded once.
func (c *Config) IsIssue(method, path string) bool {
	if c.Issue == nil || method != "POST" {
		return false
	}
	path = cutQuery(path)
	if isNormal(path) {
		return trimSlash(path) == c.Issue.Path
	}
	read, _ := readings(path)
	return "/"+strings.Join(read[0].resolved, "/") == c.Issue.Path
}

func (m *Match) method(method string) bool {
	if len(m.Methods) == 0 {
		return method != "GET" && method != "HEAD" && method != "OPTIONS" && method != "TRACE"
	}
	for _, want := range m.Methods {
		if strings.EqualFold(want, method) {
			return true
		}
	}
	return false
}

// key is equal for two matches that select the same requests; empty: no path.
func (m *Match) key() string {
	if m.Exact == "" && m.Prefix == "" {
		return ""
	}
	methods := slices.Sorted(slices.Values(m.Methods))
	return strings.Join(append([]string{m.Exact, m.Prefix}, methods...), "\x00")
}

// index is the rules by the segments of their paths.
type index struct {
	children map[string]*index
	exact    []*Rule
	prefix   []*Rule
}

func newIndex(rules []*Rule) *index {
	top := &index{}
	for _, r := range rules {
		at := top
		for rest := r.Match.Exact + r.Match.Prefix; ; {
			var segment string
			if segment, rest = nextSegment(rest); segment == "" {
				break
			}
			if at.children == nil {
				at.children = make(map[string]*index)
			}
			if at.children[segment] == nil {
				at.children[segment] = &index{}
			}
			at = at.children[segment]
		}
		if r.Match.Exact != "" {
			at.exact = append(at.exact, r)
		} else {
			at.prefix = append(at.prefix, r)
		}
	}
	return top
}

// query is what is looked for beside a path.
type query struct {
	method    string
	enforcing bool // rules with mode off do not count
}

func (q query) fits(r *Rule) bool {
	return !(q.enforcing && r.Mode == Off) && r.Match.method(q.method)
}

func (q query) first(rules []*Rule) *Rule {
	for _, r := range rules {
		if q.fits(r) {
			return r
		}
	}
	return nil
}

// find looks up a path in normal form.
func (x *index) find(q query, path string) *Rule {
	best := q.first(x.prefix)
	for {
		var segment string
		if segment, path = nextSegment(path); segment == "" {
			break
		}
		if x = x.children[segment]; x == nil {
			return best
		}
		if r := q.first(x.prefix); r != nil {
			best = r
		}
	}
	if r := q.first(x.exact); r != nil {
		return r
	}
	return best
}

// findSegments is find for a path that was taken apart.
func (x *index) findSegments(q query, segments []string) *Rule {
	best := q.first(x.prefix)
	for _, segment := range segments {
		if x = x.children[segment]; x == nil {
			return best
		}
		if r := q.first(x.prefix); r != nil {
			best = r
		}
	}
	if r := q.first(x.exact); r != nil {
		return r
	}
	return best
}

// findWithin returns the rule with the longest path whose segments
// occur in the given ones in their order, whatever lies between. Whichever
// segments a reader of ".." drops, what is left is among these. Its cost is one
// look-up a segment and one visit a node of the index.
func (x *index) findWithin(q query, segments []string) *Rule {
	type step struct {
		node  *index
		depth int
	}
	var best *Rule
	bestDepth := -1
	// waiting holds the nodes that the next occurrence of a segment reaches.
	waiting := make(map[string][]step)
	reach := func(s step) {
		for _, list := range [][]*Rule{s.node.exact, s.node.prefix} {
			for _, r := range list {
				if s.depth > bestDepth && q.fits(r) {
					best, bestDepth = r, s.depth
				}
			}
		}
		for segment, child := range s.node.children {
			waiting[segment] = append(waiting[segment], step{child, s.depth + 1})
		}
	}
	reach(step{x, 0})
	for _, segment := range segments {
		reached := waiting[segment]
		delete(waiting, segment)
		for _, s := range reached {
			reach(s)
		}
	}
	return best
}
