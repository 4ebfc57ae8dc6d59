package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/rules"
)

// routing is what an Envoy file says of routes that can run a request more than
// once, or change what a client is answered.
type routing struct {
	mirrors bool
	hedges  bool
	retries []string // conditions of retry policies other than those that prove that nothing ran
	rewords bool     // local replies get another body
	anyHost string   // a virtual host that takes every host
	others  []string // protocols that requests may upgrade to, beside WebSocket
}

// unrun are the retry conditions that are safe for one claim: upstream has not
// seen the request.
var unrun = map[string]bool{"connect-failure": true, "refused-stream": true}

func routingOf(document any) (r routing) {
	seen := map[string]bool{}
	walkMaps(document, func(m map[string]any) {
		if list, ok := m["request_mirror_policies"].([]any); ok && len(list) > 0 {
			r.mirrors = true
		}
		if p, ok := m["hedge_policy"].(map[string]any); ok {
			on, _ := p["hedge_on_per_try_timeout"].(bool)
			r.hedges = r.hedges || on
		}
		if p, ok := m["retry_policy"].(map[string]any); ok {
			conditions, _ := p["retry_on"].(string)
			for _, c := range strings.Split(conditions, ",") {
				if c = strings.TrimSpace(c); c != "" && !unrun[c] && !seen[c] {
					seen[c] = true
					r.retries = append(r.retries, c)
				}
			}
		}
		if domains, ok := m["domains"].([]any); ok && slices.Contains(domains, any("*")) {
			r.anyHost = fmt.Sprint(m["name"])
		}
		if p, ok := m["local_reply_config"].(map[string]any); ok {
			r.rewords = r.rewords || p["body_format"] != nil || p["mappers"] != nil
		}
		if list, ok := m["upgrade_configs"].([]any); ok {
			for _, name := range otherProtocols(list) {
				if !slices.Contains(r.others, name) {
					r.others = append(r.others, name)
				}
			}
		}
	})
	return r
}

// otherProtocols names the upgrades of a route or a connection manager that are on,
// other than WebSocket and tunnels (CONNECT, CONNECT-UDP).
func otherProtocols(upgrades []any) (names []string) {
	for _, u := range upgrades {
		m, _ := u.(map[string]any)
		name, _ := m["upgrade_type"].(string)
		if on, ok := m["enabled"].(bool); name != "" && !harmless(name) && (on || !ok) {
			names = append(names, name)
		}
	}
	return names
}

func harmless(upgrade string) bool {
	upgrade = strings.ToUpper(upgrade)
	return upgrade == "WEBSOCKET" || upgrade == "CONNECT" || upgrade == "CONNECT-UDP"
}

// disagreeRoutes names what the file's routes do that a rule cannot undo.
func disagreeRoutes(f *pluginFile) (remarks []string) {
	if !f.fromEnvoy {
		return nil
	}
	forAll := slices.ContainsFunc(f.cfg.Rules, func(r *rules.Rule) bool { return r.Mode != rules.Off && len(r.Match.Hosts) == 0 })
	for _, r := range f.cfg.Rules {
		if r.Mode != rules.Off && len(r.Match.Hosts) > 0 && f.routes.anyHost != "" && !forAll {
			remarks = append(remarks, fmt.Sprintf("rule %q: guards match.hosts alone, and virtual host %q takes every host (domains \"*\"): a request with another one passes by the rule",
				r.Name, f.routes.anyHost))
		}
		if r.Mode == rules.Off || r.EnvoyRetries != rules.RetriesRoute {
			continue
		}
		if len(f.routes.retries) > 0 {
			remarks = append(remarks, fmt.Sprintf("rule %q: envoy_retries \"route\", and a retry_policy in this file retries on %s: one claim can run more than once",
				r.Name, strings.Join(f.routes.retries, ", ")))
		}
		if f.routes.hedges {
			remarks = append(remarks, fmt.Sprintf("rule %q: envoy_retries \"route\", and a hedge_policy in this file hedges: one claim can run more than once", r.Name))
		}
	}
	if f.routes.mirrors {
		remarks = append(remarks, "request_mirror_policies: a mirrored request runs once more, at the mirror, under the same Idempotency-Fence")
	}
	if f.routes.rewords {
		remarks = append(remarks, "local_reply_config: mappers and body_format rewrite replays and refusals as well, which are local replies")
	}
	if len(f.routes.others) > 0 {
		remarks = append(remarks, fmt.Sprintf("upgrade_configs: %s: Envoy 1.36 sends on what follows such a request before upstream has agreed, and a backend that does not upgrade takes it for requests of its own, past every rule",
			strings.Join(f.routes.others, ", ")))
	}
	return remarks
}

// observing names the rules that let duplicates run.
func observing(cfg *rules.Config) (remarks []string) {
	for _, r := range cfg.Rules {
		switch {
		case !r.Observes():
		case r.EnforcePercent == 0:
			remarks = append(remarks, fmt.Sprintf("rule %q: mode observe: it counts, and refuses and replays nothing", r.Name))
		default:
			remarks = append(remarks, fmt.Sprintf("rule %q: mode observe: it enforces %d%% of keys; of the others every request runs", r.Name, r.EnforcePercent))
		}
	}
	return remarks
}
