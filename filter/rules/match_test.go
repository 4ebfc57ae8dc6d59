package rules

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// routes is a configuration of the given rules, "METHODS exact|prefix PATH [off]"
// each; the rule's name is its index.
func routes(t testing.TB, lines ...string) *Config {
	t.Helper()
	var rules []string
	for i, line := range lines {
		w := strings.Fields(line)
		methods := ""
		if w[0] != "*" {
			methods = `"methods": ["` + strings.ReplaceAll(w[0], ",", `", "`) + `"], `
		}
		mode := "enforce"
		if len(w) > 3 {
			mode = "off"
		}
		rules = append(rules, fmt.Sprintf(`{"name": "%d", "match": {%s"path": {"%s": "%s"}}, "mode": "%s"}`, i, methods, w[1], w[2], mode))
	}
	return mustParse(t, `{`+head+`, "defaults": {`+must+`}, "rules": [`+strings.Join(rules, ",")+`]}`)
}

func name(r *Rule) string {
	if r == nil {
		return "-"
	}
	return r.Name
}

func TestMatch(t *testing.T) {
	c := routes(t,
		"* prefix /orders",        // 0
		"* exact /orders",         // 1
		"POST prefix /orders/vip", // 2
		"PUT,PATCH exact /items",  // 3
		"GET exact /reports",      // 4
		"* prefix /orders/public off",
		"* prefix /a/b", // 6
		"POST exact /same",
		"* exact /same",
		"* exact /bücher/neu",
		"* exact /orders/ping off", // 10
		"* exact /alone off",
	)
	for _, test := range []struct{ method, path, want string }{
		// Which rule.
		{"POST", "/orders", "1"},
		{"POST", "/orders/", "1"},
		{"POST", "/orders?x=/orders/vip", "1"},
		{"POST", "/orders/1", "0"},
		{"POST", "/orders2", "-"},
		{"POST", "/order", "-"},
		{"POST", "/", "-"},
		{"POST", "/orders/vip/1", "2"},
		{"PUT", "/orders/vip/1", "0"},
		{"POST", "/same", "7"},
		{"PUT", "/same", "8"},
		{"PUT", "/items", "3"},
		{"POST", "/items", "-"},
		{"PUT", "/items/1", "-"},
		{"GET", "/reports", "4"},
		{"POST", "/reports", "-"},
		{"POST", "/orders/public/x", "5"},
		{"POST", "/Orders", "-"},

		// Methods.
		{"GET", "/orders", "-"},
		{"HEAD", "/orders", "-"},
		{"OPTIONS", "/orders", "-"},
		{"TRACE", "/orders", "-"},
		{"post", "/orders", "1"},
		{"get", "/orders", "1"},
		{"pAtCh", "/items", "3"},
		{"DELETE", "/orders/1", "0"},
		{"BREW", "/orders/1", "0"},
		{"", "/orders/1", "0"},

		// Spellings that the normal form undoes.
		{"POST", "//orders", "1"},
		{"POST", "/./orders", "1"},
		{"POST", "/x/../orders", "1"},
		{"POST", "/x/..//orders/.", "1"},
		{"POST", "/../orders", "1"},
		{"POST", "/%6frders", "1"},
		{"POST", "/%6Frders", "1"},
		{"POST", "%2forders", "1"},
		{"POST", "/%2forders", "1"},
		{"POST", "/orders%2f1", "0"},
		{"POST", "/%256frders", "1"},
		{"POST", "/%25256frders", "1"},
		{"POST", "/x/%2e%2e/orders", "1"},
		{"POST", "/x/%252e%252e/orders", "1"},
		{"POST", "/orders;v=1", "1"},
		{"POST", "/orders;v=1/7", "0"},
		{"POST", "/;x/orders", "1"},
		{"POST", "/orders%3bv=1", "1"},
		{"POST", `\orders`, "1"},
		{"POST", `/x\..\orders`, "1"},
		{"POST", "/%5corders", "1"},
		{"POST", "orders", "1"},
		{"POST", "/orders#x", "1"},
		{"POST", "/orders#x?y", "1"},
		{"POST", "/b%C3%BCcher/n%65u", "9"},
		{"POST", "/bücher/neu", "9"},
		{"POST", "/orders%zz", "-"},
		{"POST", "/orders/%zz", "0"},
		{"POST", "/orders/%", "0"},
		{"POST", "/.well-known/orders", "-"},
		{"POST", "/...", "-"},

		// Spellings that readers take in different ways.
		{"POST", "/orders%3fx=1", "1"},
		{"POST", "/orders%3fx/1", "(ambiguous)"},
		{"POST", "/orders%00.txt", "1"},
		{"POST", "/%3f/../orders", "1"},
		{"POST", "/orders/../x", "1"},
		{"POST", "/orders/..;/x", "1"},
		{"POST", "/a//../b/x", "6"},
		{"POST", "/a/..;x/../b", "6"},
		{"POST", `/a/..\/../b`, "6"},
		{"POST", "/a/%2e%2e/../b", "6"},
		{"POST", "/;%2fx/%6frders", "1"},
		{"POST", "/x/../y/z", "-"},
		// A rule that is off is not to be had by spelling.
		{"POST", "/orders/x/..%2fpublic", "(ambiguous)"},
		{"POST", "/orders/%70ublic", "0"},
		{"POST", "/orders/public/../x", "(ambiguous)"},
		{"POST", "/orders/public/", "5"},
		{"POST", "/orders/../public", "1"},
		{"POST", "/orders/public%2f", "0"},
		{"POST", "/orders//public", "0"},
		{"POST", "/orders/./public", "0"},
		{"POST", "/orders/public;x", "0"},
		{"POST", `/orders\public`, "0"},
		{"POST", "/orders/public/a%20b", "5"},
		{"POST", "/orders/public/a%20b/", "5"},
		{"POST", "/orders/public/a%2520b", "5"},
		{"POST", "/orders/ping", "10"},
		{"POST", "/orders/ping/", "0"},
		{"POST", "/orders/ping%20", "0"},
		{"POST", "/alone", "11"},
		{"POST", "//alone", "-"},
	} {
		if got := name(c.Match(test.method, test.path)); got != test.want {
			t.Errorf("%s %s: rule %s, want %s", test.method, test.path, got, test.want)
		}
	}
}

func TestMatchEverything(t *testing.T) {
	c := routes(t, "* prefix /", "* exact /")
	for path, want := range map[string]string{"/": "1", "": "1", "*": "0", "/x": "0", "//": "1", "/..": "1", "/?x": "1"} {
		if got := name(c.Match("POST", path)); got != want {
			t.Errorf("%q: rule %s, want %s", path, got, want)
		}
	}
}

func TestIsIssue(t *testing.T) {
	c := routes(t, "* prefix /")
	for _, test := range []struct {
		method, path string
		want         bool
	}{
		{"POST", "/idempotency-keys", true},
		{"POST", "/idempotency-keys?x", true},
		{"POST", "/idempotency-keys/", true},
		{"POST", "//idempotency%2dkeys;x", true},
		{"PUT", "/idempotency-keys", false},
		{"post", "/idempotency-keys", false},
		{"POST", "/idempotency-keys/x", false},
		{"POST", "/idempotency%252dkeys", false},
		{"POST", "/", false},
		{"POST", "", false},
	} {
		if got := c.IsIssue(test.method, test.path); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.method, test.path, got, test.want)
		}
	}
	c = mustParse(t, strings.Replace(withRule(""), `, "issue": {}`, "", 1))
	if c.IsIssue("POST", "/idempotency-keys") {
		t.Error("issues without an issue block")
	}
}

// hops are the things that a proxy, a framework or a server does to a path
// before its router looks at it. Any of them may come in any order.
var hops = map[string]func(string) string{
	"decode":      decode,
	"decode more": decode,
	"unreserved":  func(s string) string { return string(appendUnreserved(nil, s)) },
	"backslash":   func(s string) string { return strings.ReplaceAll(s, `\`, "/") },
	"merge": func(s string) string {
		for strings.Contains(s, "//") {
			s = strings.ReplaceAll(s, "//", "/")
		}
		return s
	},
	"parameters": func(s string) string {
		parts := strings.Split(s, "/")
		for i, p := range parts {
			parts[i], _, _ = strings.Cut(p, ";")
		}
		return strings.Join(parts, "/")
	},
	"query":    func(s string) string { s, _, _ = strings.Cut(s, "?"); return s },
	"fragment": func(s string) string { s, _, _ = strings.Cut(s, "#"); return s },
	"nul":      func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s },
	"dots": func(s string) string { // RFC 3986, 5.2.4: an empty segment is one
		var out []string
		for _, p := range strings.Split(strings.TrimPrefix(s, "/"), "/") {
			switch {
			case p == ".":
			case p == "..":
				if len(out) > 0 {
					out = out[:len(out)-1]
				}
			default:
				out = append(out, p)
			}
		}
		return "/" + strings.Join(out, "/")
	},
	"slash": func(s string) string { return strings.TrimSuffix(s, "/") },
}

// guardedRoutes are what checkGuarded expects to be guarded.
var guardedRoutes = []string{"* prefix /a/b", "* exact /only", "* prefix /a/b/x off", "* exact /a/b/a off",
	"* template /b/{any}/a", "* template /x/{any} off", "* regexp /x/[a-f]+/a", "* regexp /x/x off"}

var guardedExpr = regexp.MustCompile(`^/x/[a-f]+/a$`)

func mustGuard(route string) bool {
	under := func(prefix string) bool { return route == prefix || strings.HasPrefix(route, prefix+"/") }
	parts := strings.Split(route, "/")
	template := len(parts) == 4 && parts[0] == "" && parts[1] == "b" && parts[2] != "" && parts[3] == "a"
	return route == "/only" || under("/a/b") && !under("/a/b/x") && route != "/a/b/a" || template || guardedExpr.MatchString(route)
}

// checkGuarded fails if some order of some hops leads a request to a rule's
// route and Match does not guard it.
func checkGuarded(t *testing.T, c *Config, path string, r *rand.Rand) {
	t.Helper()
	met := c.Match("POST", path)
	guarded := met != nil && met.Mode != Off
	names := slices.Sorted(func(yield func(string) bool) {
		for n := range hops {
			if !yield(n) {
				return
			}
		}
	})
	for range 20 {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		route := cutQuery(path)
		order := names[:r.IntN(len(names)+1)]
		for _, n := range order {
			route = hops[n](route)
		}
		if mustGuard(route) && !guarded {
			t.Fatalf("%q escapes: %q after %v", path, route, order)
		}
	}
}

// pieces are what paths are made of when they are meant to confuse.
var pieces = []string{
	"/", "/", "/", "a", "b", "/b/", "/x/", "/a", "/a", "/b", "/a/b", "only", "/only", "x", "..", "/..", "/../", ".", "/./", "//", "/b/x", "/b/a", `\`, ";", ";x", "?", "#",
	"%2f", "%2F", "%5c", "%2e", "%2e%2e", "%3b", "%3f", "%23", "%00", "%61", "%62", "%25", "%2561", "%252f", "%252e%252e", "%253b", "%2", "%zz",
}

func TestNoSpellingEscapes(t *testing.T) {
	c := routes(t, guardedRoutes...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var path strings.Builder
		for range 1 + r.IntN(9) {
			path.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkGuarded(t, c, path.String(), r)
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"/a/b", "/a//../b", "/;%2fx/%61/b", "/%252e", "", "*", "\xff%", "/b/%2f/a", "/%62/%2f/a", "/b/;/a", "/b/./a", "/x/a;/b/a", "/x/%61%62/a"} {
		f.Add(s)
	}
	c := routes(f, guardedRoutes...)
	f.Fuzz(func(t *testing.T, path string) {
		checkGuarded(t, c, path, rand.New(rand.NewPCG(1, 2)))
		c.IsIssue("POST", path)
	})
}

// The cost of a path meant to be dear does not grow with the ways in which the
// segments of a rule can be found in it: here some 10^20.
func TestMatchVisitsARuleOnce(t *testing.T) {
	c := routes(t, "* prefix /a/a/a/a/a/a/a/a/b")
	if got := name(c.Match("POST", strings.Repeat("/a/..", 5000))); got != "-" {
		t.Errorf("rule %s", got)
	}
	if got := name(c.Match("POST", strings.Repeat("/a/..", 8)+"/b/..")); got != "0" {
		t.Errorf("rule %s", got)
	}
	if got := name(c.Match("POST", strings.Repeat("/a/..", 7)+"/b/..")); got != "-" {
		t.Errorf("rule %s", got)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	c := readShop(t)
	for _, path := range []string{"/orders/1?x=y", "/elsewhere/a/b/c", "/callbacks/psp/", "/"} {
		if n := testing.AllocsPerRun(100, func() { c.Match("POST", path); c.IsIssue("POST", path) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	c := readShop(b)
	for _, bench := range []struct{ name, path string }{
		{"covered", "/orders/1234?x=y"},
		{"not covered", "/static/js/app.min.js"},
		{"encoded", "/orders/a%20b"},
		{"hostile", strings.Repeat("/x/..;%2f", 6000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Match("POST", bench.path)
			}
		})
	}
}

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
		{strings.Repeat("a.", 200) + "example", "/orders", "", "any"},
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
