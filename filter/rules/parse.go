package rules

import (
	"fmt"
	"time"
)

// Defaults of the configuration; table.go states them in words.
const (
	defaultAuthority   = "oncewall"
	defaultTimeout     = 250 * time.Millisecond
	defaultBufferLimit = 1 << 20
	defaultIssuePath   = "/idempotency-keys"
)

// Parse reads a plugin configuration: JSON, strict. On any fault it returns an
// [*Error] that lists all of them.
//
// What it returns is immutable and may be shared.
func Parse(b []byte) (*Config, error) {
	c := &collector{}
	n := readTree(b, c)
	if n == nil {
		return nil, &c.err
	}
	p := parser{collector: c, top: n}
	p.check("", root, n)
	cfg := p.build()
	if len(c.err.Faults) > 0 {
		return nil, &c.err
	}
	cfg.table = newTable(cfg.Rules)
	return cfg, nil
}

// parser builds a configuration from a checked tree, with the bounds that lie
// between fields.
type parser struct {
	*collector
	top    *node
	cfg    *Config
	labels []string // of cfg.Rules
	// patterns counts regular expressions.
	patterns int
}

func (p *parser) build() *Config {
	bridge, envoy := p.top.get("bridge"), p.top.get("envoy")
	cluster := bridge.get("cluster").stringOr("")
	p.cfg = &Config{
		Namespace: p.top.get("namespace").stringOr(""),
		Bridge: Bridge{
			Cluster:     cluster,
			WaitCluster: bridge.get("wait_cluster").stringOr(cluster),
			Authority:   bridge.get("authority").stringOr(defaultAuthority),
			Timeout:     time.Duration(bridge.get("timeout").valueOr(int64(defaultTimeout))),
		},
		Envoy: Envoy{
			AllowOnHeadersStopIteration: envoy.get("allow_on_headers_stop_iteration").boolOr(false),
			BufferLimit:                 envoy.get("buffer_limit").valueOr(defaultBufferLimit),
			RouteMetadata:               envoy.get("route_metadata").boolOr(false),
		},
	}
	if issue := p.top.get("issue"); issue != nil {
		p.cfg.Issue = &Issue{Path: trimSlash(issue.get("path").stringOr(defaultIssuePath))}
	}
	if lookup := p.top.get("lookup"); lookup != nil || p.cfg.Issue != nil {
		path := defaultIssuePath
		if p.cfg.Issue != nil {
			path = p.cfg.Issue.Path
		}
		p.cfg.Lookup = trimSlash(lookup.get("path").stringOr(path))
	}
	if discovery := p.top.get("discovery"); discovery != nil {
		p.cfg.Discovery = trimSlash(discovery.get("path").stringOr(defaultDiscoveryPath))
	}
	if list := p.top.get("rules"); list != nil && list.kind == nodeList && int64(len(list.items)) <= root.member("rules").max {
		for i, item := range list.items {
			if item.kind == nodeObject {
				p.buildRule(label(i, item), item)
			}
		}
		p.compareRules()
	}
	p.rule = ""
	return p.cfg
}

// label names a rule in its faults.
func label(i int, n *node) string {
	name := n.get("name")
	if name != nil && name.kind == nodeString && name.text != "" && len(name.text) <= maxShownBytes*2 && formName.ok(name.text) {
		return name.text
	}
	return fmt.Sprintf("rules[%d]", i)
}

// compareRules looks for rules that cannot live together.
func (p *parser) compareRules() {
	names := make(map[string]int)
	paths := make(map[string][]*Rule)
	scopes := make(map[string]*Rule)
	for i, r := range p.cfg.Rules {
		p.rule = p.labels[i]
		if first, dup := names[r.Name]; dup && r.Name != "" {
			p.add("name", nil, "is also the name of rules[%d]; a name must be unique", first)
		} else {
			names[r.Name] = i
		}
		p.compareMatch(r, paths)
		if r.Mode == Off || r.Scope == "" {
			continue
		}
		first := scopes[r.Scope]
		switch {
		case first == nil:
			scopes[r.Scope] = r
		case !first.Principal.meets(&r.Principal):
			p.add("scope", nil, "is shared with rule %q, whose principal is of another kind: their keys would never meet", first.Name)
		case first.Key.Issued != r.Key.Issued:
			p.add("scope", nil, "is shared with rule %q, whose key.issued is another: one key would be both", first.Name)
		case !first.Fingerprint.compares(&r.Fingerprint):
			p.add("fingerprint", nil, "differs from that of rule %q, which has the same scope: a request under a key of the other rule would not be compared with it", first.Name)
		}
	}
	p.comparePrevious(scopes)
}
