package config

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var (
	apiC = "C=" + strings.Repeat("1", 32)
	apiO = "O=" + strings.Repeat("2", 32)
)

func TestAPISecrets(t *testing.T) {
	c, err := load(minimal+`
  api:
  - {id: billing, role: consumer, env: C, allow: [jobs/invoices, "mail/*"]}
  - {id: alice, role: operator, env: O}
`, false, apiC, apiO)
	if err != nil {
		t.Fatal(err)
	}
	want := []APISecret{
		{ID: "billing", Role: Consumer, Allow: []Place{{"jobs", "invoices"}, {"mail", "*"}}, Secret: []byte(apiC[2:])},
		{ID: "alice", Role: Operator, Secret: []byte(apiO[2:])},
	}
	if !reflect.DeepEqual(c.API, want) || c.Warnings != nil {
		t.Errorf("%+v, %q", c.API, c.Warnings)
	}
	if c, err := load(minimal, false); err != nil || c.API != nil {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = load(minimal+"  api: [{id: a, role: operator, env: O}]\n", false, apiO, "ONCEWALL_ADMIN_LISTEN=10.0.0.1:1")
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "operators' secrets") {
		t.Errorf("%+v, %v", c, err)
	}
	// While a secret is changed, two have one name.
	if _, err := load(minimal+"  api: [{id: a, role: operator, env: O}, {id: a, role: operator, env: C}]\n", false, apiO, apiC); err != nil {
		t.Error(err)
	}
}

func TestAPIFaults(t *testing.T) {
	for name, tc := range map[string]struct{ api, want string }{
		"no role":         {"{id: a, env: O}", "secrets.api[0].role: required"},
		"no id":           {"{role: operator, env: O}", "secrets.api[0].id: required"},
		"role alone":      {"{role: operator}", "secrets.api[0].id: required"},
		"role":            {"{id: a, role: admin, env: O}", `secrets.api[0].role: "admin": must be one of`},
		"id":              {"{id: 'a b', role: operator, env: O}", "secrets.api[0].id: \"a b\": must be 1 to 64"},
		"nowhere":         {"{id: a, role: consumer, env: O}", "secrets.api[0].allow: required"},
		"operator where":  {"{id: a, role: operator, env: O, allow: [a/b]}", "secrets.api[0].allow: only with role consumer"},
		"everywhere":      {"{id: a, role: consumer, env: O, allow: ['*/*']}", "must be namespace/scope"},
		"namespace alone": {"{id: a, role: consumer, env: O, allow: [a]}", "must be namespace/scope"},
		"not a list":      {"{id: a, role: consumer, env: O, allow: a/b}", "must be a list"},
		"short":           {"{id: a, role: operator, file: /run/short}", "secrets.api[0]: 5 bytes: must be at least 32"},
		"binary":          {"{id: a, role: operator, file: /run/binary}", "secrets.api[0]: must be visible ASCII"},
		"no secret":       {"{id: a, role: operator}", "secrets.api[0]: env or file"},
		"the bridge's":    {"{id: a, role: operator, file: /run/a}", "serves another purpose"},
		"the naming":      {"{id: a, role: operator, file: /run/b}", "serves another purpose"},
		"the sealing":     {"{id: a, role: operator, file: /run/c}", "serves another purpose"},
		"another's":       {"{id: a, role: operator, env: O}, {id: b, role: operator, env: O}", "secrets.api[1]: secret \"b\" serves another purpose"},
		"two roles":       {"{id: a, role: operator, env: O}, {id: a, role: consumer, env: C, allow: [a/b]}", `secrets.api[1].role: "consumer": id "a" has role operator already`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(minimal+"  api: ["+tc.api+"]\n", false, apiC, apiO)
			var faults Faults
			if !errors.As(err, &faults) || len(faults) != 1 || !strings.Contains(faults[0], tc.want) {
				t.Errorf("got %v, want %q alone", err, tc.want)
			}
		})
	}
}
