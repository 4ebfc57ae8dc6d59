package main

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// A rule under which anybody may ask for results is legal, and remarked on.
func TestCheckLookupsForAll(t *testing.T) {
	named, anybody := rules.Principal{Kind: rules.PrincipalHeader}, rules.Principal{Kind: rules.PrincipalConst}
	fallback := rules.Principal{Kind: rules.PrincipalJWT, Or: []rules.Principal{{Kind: rules.PrincipalAnonymous}}}
	for _, c := range []struct {
		rule    rules.Rule
		path    string
		remarks int
	}{
		{rules.Rule{Principal: named, Lookup: true}, "/keys", 0},
		{rules.Rule{Principal: anybody}, "/keys", 0},
		{rules.Rule{Principal: anybody, Lookup: true}, "/keys", 1},
		{rules.Rule{Principal: fallback, Lookup: true}, "/keys", 1},
		{rules.Rule{Principal: anybody, Lookup: true}, "", 0},
		{rules.Rule{Principal: anybody, Lookup: true, Mode: rules.Off}, "/keys", 0},
	} {
		c.rule.Name = "r"
		got := lookupsForAll(&rules.Config{Lookup: c.path, Rules: []*rules.Rule{&c.rule}})
		if len(got) != c.remarks || len(got) > 0 && !strings.Contains(got[0], `rule "r": lookup true`) {
			t.Errorf("%+v: %q", c.rule, got)
		}
	}
}
