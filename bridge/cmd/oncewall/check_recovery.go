package main

import (
	"fmt"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter/rules"
)

// recovery compares a rule's recovery with the probes: a rule that relies on one
// needs it, or its records wait for the operator.
func (a *agreement) recovery(plugin *rules.Config, r *rules.Rule, bridge *config.Config) {
	if r.Recovery.Action != rules.Probe {
		return
	}
	for i := range bridge.Recovery.Scopes {
		if s := &bridge.Recovery.Scopes[i]; s.Scope == r.Scope && (s.Namespace == "" || s.Namespace == plugin.Namespace) {
			return
		}
	}
	a.fault("rule %q: recovery.action probe: the bridge has no recovery.scopes entry for scope %q", r.Name, r.Scope)
}

// scopes looks for probes that nobody relies on.
func (a *agreement) scopes(plugin *rules.Config, bridge *config.Config) {
	for i := range bridge.Recovery.Scopes {
		s := &bridge.Recovery.Scopes[i]
		if s.Namespace != "" && s.Namespace != plugin.Namespace {
			continue // another plugin's
		}
		used, known := false, false
		for _, r := range plugin.Rules {
			if r.Mode == rules.Off || r.Scope != s.Scope {
				continue
			}
			known = true
			used = used || r.Recovery.Action == rules.Probe
		}
		at := fmt.Sprintf("recovery.scopes[%d]", i)
		switch {
		case !known:
			a.remark("%s: no rule has scope %q", at, s.Scope)
		case !used:
			a.remark("%s: no rule of scope %q has recovery.action probe: its backend is never asked", at, s.Scope)
		}
	}
}
