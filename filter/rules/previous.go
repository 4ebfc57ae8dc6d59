package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/canon"
)

// IsLookup reports whether the request asks about a key: a GET or HEAD below the
// lookup path, spelled as it is configured, or of that path with a field "key" in
// the query, or with a query that not every reader takes alike.
func (c *Config) IsLookup(method, path string) bool {
	if c.Lookup == "" || method != "GET" && method != "HEAD" || !strings.HasPrefix(path, c.Lookup) {
		return false
	}
	rest, query, _ := strings.Cut(path[len(c.Lookup):], "?")
	if rest == "" || rest == "/" {
		_, found, err := canon.LookupForm([]byte(query), "key")
		return found || err != nil
	}
	return rest[0] == '/'
}

// OwnsScope reports whether scope is the rule's, or was.
func (r *Rule) OwnsScope(scope string) bool {
	return r.Scope == scope || slices.Contains(r.PreviousScopes, scope)
}

// comparePrevious looks for previous scopes that are somebody's still: a key would
// then be found under both, and two requests that have nothing to do with each
// other would be taken for one. live holds a rule of every scope in use.
func (p *parser) comparePrevious(live map[string]*Rule) {
	heirs := make(map[string]*Rule)
	for i, r := range p.cfg.Rules {
		p.rule = p.labels[i]
		if r.Mode == Off {
			continue
		}
		for j, scope := range r.PreviousScopes {
			at := fmt.Sprintf("previous_scopes[%d]", j)
			heir := heirs[scope]
			switch {
			case scope == r.Scope:
				p.add(at, nil, "%q is the rule's scope of now", scope)
			case live[scope] != nil:
				p.add(at, nil, "%q is the scope of rule %q", scope, live[scope].Name)
			case heir != nil && heir.Scope != r.Scope:
				p.add(at, nil, "%q is claimed by rule %q too, under another scope", scope, heir.Name)
			default:
				heirs[scope] = r
			}
		}
		if first := live[r.Scope]; first != nil && !slices.Equal(first.PreviousScopes, r.PreviousScopes) {
			p.add("previous_scopes", nil, "differ from those of rule %q, which has the same scope", first.Name)
		}
	}
}
