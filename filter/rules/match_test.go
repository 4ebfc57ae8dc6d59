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
