package rules

import "strings"

// Head is what a rule may ask of a request's headers.
type Head struct {
	// Method, Path and Host are Envoy's :method, :path, the query included, and
	// :authority.
	Method, Path, Host string
	// Headers gives a header's lines; nil: there are none.
	Headers Headers
}

// Headers returns every line of a header in its order; name is in lower case.
type Headers interface{ Header(name string) []string }

// Match is [Config.Select] for a request of which method and path are known.
func (c *Config) Match(method, path string) *Rule {
	return c.Select(Head{Method: method, Path: path})
}

// Select returns the rule of a request, nil where none covers it.
//
// Rules for the request's host come first: those that name it, then those with
// the longest "*." suffix of it, then those for every host. Among them an exact
// path beats a template, a template with more fixed bytes one with fewer, any
// template a regular expression, of which the first in the file counts, and these
// a prefix, a longer one a shorter. Of rules with one path the first in the file
// whose methods and headers fit.
//
// An authority in which not everyone sees one host (see hostnames) meets the
// strictest of the rules that those hosts would meet, and none with mode off; two
// that enforce in different scopes make it [Ambiguous].
//
// Methods in the file are compared without regard to case, and the default list
// leaves out GET, HEAD, OPTIONS and TRACE only as they are written here: a
// backend that takes "post" for POST is guarded, and "get" is too.
//
// A path that is not in normal form is read in every way in which something
// behind the gateway might read it (see readings), among the rules for its host
// and for every host alike; a rule that one reading meets guards the request. Of
// readings that differ in percent-encoding alone the strictest rule counts: one
// that enforces, then one that observes, then one that is off. Where they meet two
// that enforce in different scopes, or where readers that disagree about more than
// encoding meet two rules, none of them is right for both: the answer is
// [Ambiguous]. A rule with mode off excepts a request only where every reader
// agrees that it is meant: "/orders//ping" is not excepted by "/orders/ping",
// since some see an order in it.
//
// It does not allocate where the path is in normal form and the host in lower
// case.
func (c *Config) Select(h Head) *Rule {
	q := query{method: h.Method, headers: h.Headers}
	path := cutQuery(h.Path)
	var room [8]*index
	at, odd := c.table.of(room[:0], h.Host)
	if odd {
		return c.table.strictestOfEach(q, path, h.Host)
	}
	return at.choose(q, path)
}

func (at indexes) choose(q query, path string) *Rule {
	if !isNormal(path) {
		return at.spelled(q, path)
	}
	for _, x := range at {
		if r := x.normal(q, path); r != nil {
			return r
		}
	}
	return nil
}

// strictestOfEach asks for each host that some reader sees in an authority. Of two
// rules that are as strict the first one's counts; but no rule is right for two
// readers who meet ones that enforce in different scopes.
func (t *table) strictestOfEach(q query, path, authority string) (met *Rule) {
	q.enforcing = true
	var names [4]string
	var room [8]*index
	for _, host := range hostnames(names[:0], authority) {
		at := append(t.ofHost(room[:0], host), t.any)
		switch r := at.choose(q, path); {
		case r == nil || r == met:
		case met == nil || r.strictness() > met.strictness():
			met = r
		case r.Mode == Enforce && r.Scope != met.Scope && met.Mode == Enforce:
			return Ambiguous
		}
	}
	return met
}

// normal looks up a path in normal form, with or without a slash at its end.
func (x *index) normal(q query, path string) *Rule {
	r := x.find(q, path)
	if r != nil && r.Mode == Off && r.Match.Prefix == "" && len(path) > 1 && path[len(path)-1] == '/' {
		q.enforcing = true // the slash at the end may count for some
		r = x.find(q, path)
	}
	return r
}

// ambiguous is what two rules that different readings meet come to.
func ambiguous(a, b *Rule) *Rule {
	if a.Observes() && b.Observes() {
		return AmbiguousObserved
	}
	return Ambiguous
}

// Ambiguous is the answer for a path or an authority that leads readers to different
// rules. Its requests are refused.
var Ambiguous = &Rule{Name: "(ambiguous)", Mode: Enforce}

// AmbiguousObserved is [Ambiguous] where none of the rules enforces all of its
// requests. It passes.
var AmbiguousObserved = &Rule{Name: "(ambiguous)", Mode: Observe}

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
	read, _ := readings(path, false)
	return "/"+strings.Join(read[0].resolved, "/") == c.Issue.Path
}

// MatchesHost reports whether a rule asks for the request's host.
func (c *Config) MatchesHost() bool { return c.table.hosts != nil }

// TakesMethod reports whether the match is for a request of the method.
func (m *Match) TakesMethod(method string) bool { return m.method(method) }

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

// headersFit reports whether the conditions on headers hold. A rule that guards
// is met when one line is as said, one that excepts only when all are.
func (m *Match) headersFit(h Headers, every bool) bool {
	for i := range m.Headers {
		if h == nil || !m.Headers[i].fits(h.Header(m.Headers[i].Name), every) {
			return false
		}
	}
	return true
}

func (m *HeaderMatch) fits(lines []string, every bool) bool {
	for _, l := range lines {
		if m.holds(l) != every {
			return !every
		}
	}
	return every && len(lines) > 0
}

func (m *HeaderMatch) holds(line string) bool {
	switch {
	case m.Exact != "":
		return line == m.Exact
	case m.Prefix != "":
		return strings.HasPrefix(line, m.Prefix)
	case m.pattern != nil:
		return m.pattern.matches(line)
	}
	return true
}

// query is what is looked for beside a path.
type query struct {
	method    string
	headers   Headers
	enforcing bool // rules with mode off do not count
}

func (q query) fits(r *Rule) bool {
	return !(q.enforcing && r.Mode == Off) && r.Match.method(q.method) && r.Match.headersFit(q.headers, r.Mode == Off)
}

func (q query) first(rules []*Rule) *Rule {
	for _, r := range rules {
		if q.fits(r) {
			return r
		}
	}
	return nil
}
