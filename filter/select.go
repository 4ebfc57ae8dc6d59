package filter

import "github.com/oncewall/oncewall/filter/rules"

// Where Envoy's route may say what becomes of its requests: the metadata of the
// route under the namespace oncewall.
var (
	pathRouteRule = []string{"xds", "route_metadata", "filter_metadata", "oncewall", "rule"}
	pathRouteMode = []string{"xds", "route_metadata", "filter_metadata", "oncewall", "mode"}
)

// Select returns the rule that a request meets; nil: the request is not covered,
// and no event of it need reach the worker. path is Envoy's :path. Headers and
// attributes are read only where the configuration asks for them.
//
// A route that says mode off takes its requests out of every rule, one that names
// a rule puts them under it, whatever their path, if the rule takes their method.
// A route that names an unknown rule or mode is a fault of Envoy's configuration:
// its requests are answered misconfigured.
func (w *Worker) Select(method, path string, r Request) *Rule {
	if rule, decided := w.byRoute(method, r); decided {
		return rule
	}
	return w.enforced(w.selected(method, path, r))
}

// selected returns the rule that a request meets by itself, one that is off too.
func (w *Worker) selected(method, path string, r Request) *rules.Rule {
	h := rules.Head{Method: method, Path: path, Headers: r}
	if w.cfg.MatchesHost() {
		if lines := r.Header(":authority"); len(lines) == 1 {
			h.Host = lines[0]
		}
	}
	return w.cfg.Select(h)
}

// byRoute returns what the route says; decided is false where it says nothing.
func (w *Worker) byRoute(method string, r Request) (rule *Rule, decided bool) {
	if !w.cfg.Envoy.RouteMetadata {
		return nil, false
	}
	if mode, ok := r.Property(pathRouteMode...); ok {
		// YAML's bare off is false, one zero byte.
		if mode == "off" || mode == "\x00" {
			return nil, true
		}
		return w.misrouted, true
	}
	name, ok := r.Property(pathRouteRule...)
	if !ok {
		return nil, false
	}
	named := w.named[name]
	switch {
	case named == nil:
		return w.misrouted, true
	case !named.Match.TakesMethod(method):
		return nil, true
	}
	return w.enforced(named), true
}

// enforced leaves out a rule that is off.
func (w *Worker) enforced(r *rules.Rule) *Rule {
	switch {
	case r == nil || r.Mode == rules.Off:
		return nil
	case r == rules.Ambiguous:
		return w.ambiguous
	case r == rules.AmbiguousObserved:
		return w.ambiguousObserved
	}
	return w.rules[r]
}
