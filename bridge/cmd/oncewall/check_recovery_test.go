package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/bridge/reconcile"
	"github.com/oncewall/oncewall/filter/rules"
)

// TestCheckProbes: a rule that relies on a probe needs one for its scope and
// namespace; a probe that nobody relies on is remarked on.
func TestCheckProbes(t *testing.T) {
	rule := func(scope string, action rules.RecoveryAction) *rules.Rule {
		return &rules.Rule{Name: "r-" + scope, Scope: scope, Recovery: rules.Recovery{Action: action}}
	}
	plugin := &rules.Config{Namespace: "shop", Rules: []*rules.Rule{rule("payments", rules.Probe), rule("orders", rules.Hold)}}
	for _, tc := range []struct {
		what          string
		scopes        []reconcile.Scope
		fault, remark string
	}{
		{"none", nil, `rule "r-payments": recovery.action probe`, ""},
		{"any namespace", []reconcile.Scope{{Scope: "payments"}}, "", ""},
		{"its own", []reconcile.Scope{{Scope: "payments", Namespace: "shop"}}, "", ""},
		{"another's", []reconcile.Scope{{Scope: "payments", Namespace: "bank"}}, `rule "r-payments"`, ""},
		{"an unknown scope", []reconcile.Scope{{Scope: "payments"}, {Scope: "refunds"}}, "", `no rule has scope "refunds"`},
		{"one that holds", []reconcile.Scope{{Scope: "payments"}, {Scope: "orders"}}, "", "its backend is never asked"},
	} {
		faults, remarks := disagree(plugin, &config.Config{Recovery: config.Recovery{Scopes: tc.scopes}})
		has := func(list []string, want string) bool {
			return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, want) })
		}
		if tc.fault == "" && has(faults, "recovery.action") || !has(faults, tc.fault) && tc.fault != "" {
			t.Errorf("%s: faults %q, want %q", tc.what, faults, tc.fault)
		}
		if tc.remark == "" && has(remarks, "recovery.scopes") || !has(remarks, tc.remark) && tc.remark != "" {
			t.Errorf("%s: remarks %q, want %q", tc.what, remarks, tc.remark)
		}
	}
}
