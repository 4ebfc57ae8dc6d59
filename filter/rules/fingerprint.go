package rules

import (
	"fmt"
	"slices"
	"strings"
)

// checkFingerprint refuses what a fingerprint block says against itself.
func (p *parser) checkFingerprint(r *Rule, n *node) {
	body := n.get("body")
	if body != nil && !body.good() {
		return
	}
	f := &r.Fingerprint
	if over := n.get("over"); over.good() && f.Over != OverReject {
		if f.Body == BodyNone {
			p.add("fingerprint.over", over, `has nothing to do with fingerprint.body "none", under which a larger body passes`)
		} else if !slices.ContainsFunc(r.Key.From, func(s KeySource) bool { return !s.InBody() }) {
			p.add("fingerprint.over", over, "needs a source of the key outside the body: a larger body is not read for one")
		}
	}
	ignore := n.get("ignore")
	if len(f.Ignore) == 0 {
		return
	}
	switch f.Body {
	case BodyRaw, BodyNone:
		p.add("fingerprint.ignore", ignore, `needs fingerprint.body "json", "form" or "multipart"`)
	case BodyForm, BodyMultipart:
		for i, item := range ignore.items {
			if item.good() && strings.Count(item.text, "/") > 1 {
				p.add(fmt.Sprintf("fingerprint.ignore[%d]", i), item, `must be "/" and the name of a field`)
			}
		}
	}
}

// compares reports whether bodies and headers of requests under the two are
// compared with each other: whether their parts are made by one algorithm.
func (f *Fingerprint) compares(g *Fingerprint) bool {
	return f.Body == g.Body && f.MaxDecodedBody == g.MaxDecodedBody && f.Over == g.Over &&
		(f.Over <= OverReject || f.MaxBody == g.MaxBody) && slices.Equal(f.Ignore, g.Ignore) && slices.Equal(f.Headers, g.Headers)
}

// IgnoredFields returns the names of the fields that Ignore points to, for
// BodyForm and BodyMultipart.
func (f *Fingerprint) IgnoredFields() []string {
	var names []string
	for _, p := range f.Ignore {
		names = append(names, strings.ReplaceAll(strings.ReplaceAll(p[1:], "~1", "/"), "~0", "~"))
	}
	return names
}
