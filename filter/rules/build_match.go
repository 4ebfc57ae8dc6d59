package rules

import (
	"fmt"
	"slices"
	"strings"
)

func (p *parser) buildMatch(r *Rule, n *node) {
	m := &r.Match
	m.Methods = n.get("methods").strings()
	m.Hosts = n.get("hosts").strings()
	if headers := n.get("headers"); headers != nil {
		for i, item := range headers.items {
			if item.kind == nodeObject {
				p.buildHeaderMatch(r, fmt.Sprintf("match.headers[%d]", i), item)
			}
		}
	}
	path := n.get("path")
	if path == nil && n != nil && n.kind == nodeObject && !p.cfg.Envoy.RouteMetadata {
		p.add("match.path", nil, "is required, unless routes name their rule (envoy.route_metadata: true)")
	}
	if path == nil || path.kind != nodeObject {
		return
	}
	exact, prefix, template, expr := path.get("exact"), path.get("prefix"), path.get("template"), path.get("regexp")
	if countNodes(exact, prefix, template, expr) != 1 {
		p.add("match.path", nil, "must have exactly one of exact, prefix, template and regexp")
		return
	}
	m.Exact, m.Prefix = trimSlash(exact.stringOr("")), trimSlash(prefix.stringOr(""))
	if template.good() {
		p.buildTemplate(m, template)
	}
	if expr.good() {
		m.Regexp = expr.text
		m.pattern = p.buildPattern("match.path.regexp", expr)
		if m.pattern != nil && m.pattern.prefix != "" && m.pattern.prefix[0] != '/' {
			p.add("match.path.regexp", expr, "can match no path: a path begins with a slash")
		}
	}
	if i := p.cfg.Issue; i != nil && m.Exact == i.Path && m.method("POST") {
		p.add("match.path.exact", exact, "is issue.path, whose POST never reaches a rule")
	}
}

func countNodes(nodes ...*node) (n int) {
	for _, node := range nodes {
		if node != nil {
			n++
		}
	}
	return n
}

func (p *parser) buildTemplate(m *Match, n *node) {
	text := trimSlash(n.text)
	vars := variables(text)
	seen := 0
	for rest := text; ; {
		var segment string
		if segment, rest = nextSegment(rest); segment == "" {
			break
		}
		switch {
		case isVariable(segment) && formName.ok(segment[1:len(segment)-1]):
			seen++
		case strings.ContainsAny(segment, "{}"):
			p.add("match.path.template", n, `has a segment that is neither fixed nor a variable "{name}", of letters, digits, '.', '_' and '-'`)
			return
		default:
			m.literal += len(segment)
		}
	}
	switch {
	case seen == 0:
		p.add("match.path.template", n, "has no variable: state it as exact")
	case seen != len(vars):
		p.add("match.path.template", n, "names a variable twice")
	case m.literal == 0:
		p.add("match.path.template", n, "has no fixed segment: it would take every path of its length")
	default:
		m.Template = text
	}
}

func (p *parser) buildPattern(at string, n *node) *pattern {
	if p.patterns++; p.patterns == maxPatterns+1 {
		p.add(at, nil, "is one regular expression too many: at most %d are taken", maxPatterns)
	}
	c := compilePattern(n.text)
	if c == nil {
		p.fault(at, n, "must be an RE2 regular expression of at most %d instructions", maxPatternInst)
	}
	return c
}

// routingHeaders tell nothing that a rule could not say elsewhere, or are not
// what a client sent.
var routingHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "x-request-id"}

func (p *parser) buildHeaderMatch(r *Rule, at string, n *node) {
	name, exact, prefix, expr := n.get("name"), n.get("exact"), n.get("prefix"), n.get("regexp")
	if countNodes(exact, prefix, expr) > 1 {
		p.add(at, nil, "must have at most one of exact, prefix and regexp")
		return
	}
	h := HeaderMatch{Name: name.stringOr(""), Exact: exact.stringOr(""), Prefix: prefix.stringOr(""), Regexp: expr.stringOr("")}
	if slices.Contains(routingHeaders, h.Name) || slices.Contains(ownHeaders, h.Name) {
		p.add(at+".name", name, "cannot be matched: use hosts for the host; the others are not the client's word")
	}
	if expr.good() {
		h.pattern = p.buildPattern(at+".regexp", expr)
	}
	r.Match.Headers = append(r.Match.Headers, h)
}

// compareMatch looks for an earlier rule that leaves nothing to this one.
func (p *parser) compareMatch(r *Rule, seen map[string][]*Rule) {
	path := r.Match.path()
	if path == "" {
		return
	}
	for _, first := range seen[path] {
		switch {
		case first.Match.covers(&r.Match) && r.Match.covers(&first.Match):
			p.add("match", nil, "is the match of rule %q too; this rule would never be met", first.Name)
			return
		case first.Match.covers(&r.Match):
			p.add("match", nil, "is covered by rule %q, which stands before it; this rule would never be met", first.Name)
			return
		}
	}
	seen[path] = append(seen[path], r)
}
