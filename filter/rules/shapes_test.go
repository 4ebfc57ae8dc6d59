package rules

import (
	"fmt"
	"strings"
	"testing"
)

func TestMatchTemplatesAndExpressions(t *testing.T) {
	c := routes(t,
		"* prefix /",                      // 0
		"* template /orders/{id}/items",   // 1
		"* template /orders/{id}",         // 2
		"* exact /orders/new",             // 3
		"* template /orders/{id}/{part}",  // 4
		"GET template /orders/{order}",    // 5
		"* template /{shop}/ping/x off",   // 6
		`* regexp /refunds/[0-9]+`,        // 7
		`* regexp /refunds/.*`,            // 8
		`PUT regexp (?i)/upper/[a-z]+`,    // 9
		`* regexp /off/[a-z]+ off`,        // 10
		"* template /orders/vip/{id}",     // 11
		"* template /{shop}/vip/{id}/all", // 12
		"* template /orders/{a}/{b}/all",  // 13
	)
	for _, test := range []struct{ method, path, want string }{
		{"POST", "/orders/1/items", "1"},
		{"POST", "/orders/1/items/", "1"},
		{"POST", "/orders/1/items/2", "0"},
		{"POST", "/orders/1", "2"},
		{"POST", "/orders/new", "3"},
		{"POST", "/orders/1/parts", "4"},
		{"POST", "/orders", "0"},
		{"GET", "/orders/1", "5"},
		{"GET", "/orders/new", "5"},
		{"POST", "/orders/vip/1", "11"},
		{"POST", "/orders/vip/items", "1"}, // more fixed bytes
		{"POST", "/orders/vip/1/all", "13"},
		{"POST", "/shop/vip/1/all", "12"},
		{"POST", "/a/ping/x", "6"},
		{"POST", "/refunds/12", "7"},
		{"POST", "/refunds/12/", "7"},
		{"POST", "/refunds/a", "8"},
		{"POST", "/refunds/12/3", "8"},
		{"POST", "/refund", "0"},
		{"PUT", "/UPPER/x", "9"},
		{"POST", "/UPPER/x", "0"},
		{"POST", "/off/a", "10"},
		{"POST", "/" + strings.Repeat("x", maxPatternText), "7"}, // taken to match

		// Spellings.
		{"POST", "/orders/%31/items", "1"},
		{"POST", "/orders/a%2fb/items", "(ambiguous)"},
		{"POST", "/%6frders/%2f/items", "(ambiguous)"},
		{"POST", "/orders/./items", "(ambiguous)"},
		{"POST", "/orders/..;/items", "(ambiguous)"},
		{"POST", "/orders/;x/items", "(ambiguous)"},
		{"POST", "/orders//items", "(ambiguous)"},
		{"POST", `/orders\1\items`, "1"},
		{"POST", "/refunds/%31%32", "7"},
		{"POST", "/refunds/;a/12", "7"},
		{"POST", "/refunds/x/../12", "(ambiguous)"},
		{"POST", "/off/a;x", "0"},
		{"POST", "/off/%61", "0"},
		{"POST", "/off/a/", "0"},
		{"POST", "/a/ping/x/", "0"},
		{"POST", "/a//ping/x", "0"},
	} {
		if got := name(c.Match(test.method, test.path)); got != test.want {
			t.Errorf("%s %s: rule %s, want %s", test.method, test.path, got, test.want)
		}
	}
}

// A path of which nobody can say what a backend makes of it meets a rule with a
// regular expression if what is left of it may.
func TestMatchLax(t *testing.T) {
	c := routes(t, `* regexp /a/[0-9]+/b`)
	for path, want := range map[string]string{
		"/a/;x/1/b": "0", "/a/1;x/b": "0", "/a/1/x/../b": "0", "/x/../a/1/b": "0", "/a//1//b": "0", `/a\1\b`: "0", "/a/1/b;x/y/..": "0",
		"/a/x;/b": "-", "/a;x/b": "-", "/1;/a/b": "-", "/x;y/z": "-",
		"/;" + strings.Repeat("x", maxLaxText): "0", // taken to match
	} {
		if got := name(c.Match("POST", path)); got != want {
			t.Errorf("%.80s: rule %s, want %s", path, got, want)
		}
	}
}

func TestMatchHosts(t *testing.T) {
	c := mustParse(t, `{`+head+`, "defaults": {`+must+`}, "rules": [
		{"name": "any", "match": {"path": {"prefix": "/orders"}}},
		{"name": "shop", "match": {"hosts": ["shop.example", "shop.test"], "path": {"prefix": "/"}}},
		{"name": "wild", "match": {"hosts": ["*.example"], "path": {"prefix": "/"}}},
		{"name": "deep", "match": {"hosts": ["*.eu.example"], "path": {"exact": "/orders"}}},
		{"name": "tenant", "match": {"hosts": ["*.test"], "headers": [{"name": "x-tenant", "prefix": "a-"}, {"name": "x-beta"}], "path": {"prefix": "/orders"}}},
		{"name": "spared", "match": {"hosts": ["*.test"], "headers": [{"name": "x-spare", "regexp": "y|yes"}], "path": {"prefix": "/orders/x"}}, "mode": "off"}]}`)
	for _, test := range []struct{ host, path, headers, want string }{
		{"", "/orders", "", "any"},
		{"else.where", "/orders", "", "any"},
		{"else.where", "/", "", "-"},
		{"shop.example", "/orders", "", "shop"},
		{"Shop.Example.:8443", "/orders", "", "shop"},
		{"shop.test", "/x", "", "shop"},
		{"a.example", "/orders", "", "wild"},
		{"a.b.example:1", "/orders", "", "wild"},
		{"example", "/orders", "", "any"},
		{".example", "/orders", "", "any"},
		{"a.eu.example", "/orders", "", "deep"},
		{"a.eu.example", "/x", "", "wild"},
		{"a.eu.example", "/orders;x", "", "deep"},
		{"[::1]:80", "/orders", "", "any"},
		{"a.test", "/orders", "x-tenant=a-1 x-beta=", "tenant"},
		{"a.test", "/orders", "x-tenant=b-1 x-tenant=a-1 x-beta=", "tenant"},
		{"a.test", "/orders", "x-tenant=b-1 x-beta=", "any"},
		{"a.test", "/orders", "x-tenant=a-1", "any"},
		{"a.test", "/orders/x", "x-spare=yes", "spared"},
		{"a.test", "/orders/x", "x-spare=yes x-spare=no", "any"},
		{"a.test", "/orders/x", "x-spare=yesno", "any"},
		{"a.test", "/orders//x", "x-spare=yes", "any"},
		{strings.Repeat("a.", 200) + "example", "/orders", "", "wild"},
	} {
		h := Head{Method: "POST", Path: test.path, Host: test.host, Headers: lines(test.headers)}
		if got := name(c.Select(h)); got != test.want {
			t.Errorf("%+v: rule %s, want %s", h, got, test.want)
		}
	}
	h := Head{Method: "POST", Path: "/orders/1", Host: "a.b.example:80"}
	if n := testing.AllocsPerRun(100, func() { c.Select(h) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var near []string
	for _, n := range c.NearMisses(Head{Method: "POST", Path: "/orders/x", Host: "a.test"}) {
		near = append(near, fmt.Sprintf("%s %d", n.Rule.Name, n.Miss))
	}
	if got := fmt.Sprint(near); got != fmt.Sprintf("[shop %d wild %d tenant %d spared %d]", MissHost, MissHost, MissHeader, MissHeader) {
		t.Errorf("near %s", got)
	}
}

// lines is the headers "name=value name=value".
type lines string

func (l lines) Header(name string) (out []string) {
	for _, w := range strings.Fields(string(l)) {
		if n, v, _ := strings.Cut(w, "="); n == name {
			out = append(out, v)
		}
	}
	return out
}

// A path that is meant to make regular expressions dear is bounded.
func BenchmarkMatchHostileExpressions(b *testing.B) {
	var rules []string
	for i := range maxPatterns {
		rules = append(rules, fmt.Sprintf("* regexp /%d/([a-z0-9;]+/)*[a-z]{1,90}x", i))
	}
	c := routes(b, rules...)
	path := strings.Repeat("/a;%2561", maxLaxText/8)
	b.ReportAllocs()
	for b.Loop() {
		c.Match("POST", path)
	}
}
