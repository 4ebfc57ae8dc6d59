package main

import (
	"os"
	"path/filepath"
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

// A file of a few lines may stand for more than anybody can look at.
func TestCheckBoundsAliases(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		l := string(c)
		bomb += l + ": &" + l + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	name := filepath.Join(t.TempDir(), "bomb.yaml")
	if err := os.WriteFile(name, []byte(bomb), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, faults := readPlugin(name); len(faults) != 1 || !strings.Contains(faults[0], "more than 1000000 values") {
		t.Errorf("%q", faults)
	}
	if err := os.Truncate(name, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, faults := readPlugin(name); len(faults) != 1 || !strings.Contains(faults[0], "at most 16MiB") {
		t.Errorf("%q", faults)
	}
}
