package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/host"
)

// TestShort compares the host with Envoy 1.40 on a third of the scenarios; make
// conformance does it on all of them, and on 1.36, too.
func TestShort(t *testing.T) {
	var out strings.Builder
	results, err := Run(t.Context(), Options{Root: "../..", Versions: []string{"1.40.0"}, Short: true, Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	if !Report(&out, results) || results[0].Agreed < 1000 {
		t.Fatal(out.String())
	}
	t.Log(out.String())
}

// The names of scenarios are names in Envoy, and each stands for a fact.
func TestScenarios(t *testing.T) {
	seen, short := map[string]bool{}, 0
	for _, sc := range Scenarios {
		if seen[sc.Name] || sc.Fact == "" || sc.Play == nil || strings.Trim(sc.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("scenario %q: a name twice, or no name, or no fact", sc.Name)
		}
		seen[sc.Name] = true
		if sc.Short {
			short++
		}
	}
	if len(Scenarios) < 100 || short*5 < len(Scenarios) || short*2 > len(Scenarios) {
		t.Errorf("%d scenarios, %d in the short form", len(Scenarios), short)
	}
}

func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := documented(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if want != string(b) {
		t.Error("docs/conformance.md is out of date: make generate")
	}
	if _, err := documented("no marks"); err == nil {
		t.Error("a document without marks is written")
	}
}

func TestAlign(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		agreed int
		diffs  string
	}{
		{"a b c", "a b c", 3, ""},
		{"a b c", "a x c", 2, "b/x"},
		{"a c", "a b c", 2, "/b"},
		{"a b c d", "a d", 2, "b/ c/"},
		{"", "a b", 0, "/a /b"},
		{"a b", "b a", 1, "a/ /a"},
	} {
		n, diffs := align(strings.Fields(c.a), strings.Fields(c.b))
		var text []string
		for _, d := range diffs {
			text = append(text, d[0]+"/"+d[1])
		}
		if got := strings.Join(text, " "); n != c.agreed || got != c.diffs {
			t.Errorf("%q and %q: %d %q, want %d %q", c.a, c.b, n, got, c.agreed, c.diffs)
		}
	}
}

// A difference is explained by what the table says of it and nothing else; an
// explanation of what does not differ is stale, where its scenario was run.
func TestKnown(t *testing.T) {
	table := []KnownDifference{
		{ID: "a", Scenario: "end-.*", Section: "trace", Host: "^x", Envoy: "^$"},
		{ID: "b", Version: "1.36.2", Scenario: "end-two", Section: "trace", Host: "y", Envoy: "z"},
	}
	k := newKnown("1.40.0", table)
	for _, c := range []struct {
		d    Difference
		want bool
	}{
		{Difference{"end-one", "trace", "x1", ""}, true},
		{Difference{"end-one", "client 0", "x1", ""}, false},
		{Difference{"the-end-one", "trace", "x1", ""}, false},
		{Difference{"end-one", "trace", "x1", "x2"}, false},
		{Difference{"end-two", "trace", "y", "z"}, false},
	} {
		if k.explains(c.d) != c.want {
			t.Errorf("%+v: want %t", c.d, c.want)
		}
	}
	run := []*Scenario{{Name: "end-two"}}
	if s := newKnown("1.36.2", table).stale(run); len(s) != 2 {
		t.Errorf("stale: %+v", s)
	}
	if s := k.stale(run); len(s) != 0 {
		t.Errorf("stale: %+v", s)
	}
	if s := newKnown("1.36.2", table).stale([]*Scenario{{Name: "other"}}); len(s) != 0 {
		t.Errorf("stale: %+v", s)
	}
}

func TestNormalTrace(t *testing.T) {
	lines := func(text ...string) (ls []line) {
		for _, s := range text {
			ls = append(ls, line{"worker0", s})
		}
		return ls
	}
	got := strings.Join(normalTrace(&Scenario{}, lines("panic: not a trace", "T 7 create 3", "T 7 rqh 9 1", `T   get:0:date = 0 "now"`,
		`T   prop:source|address = 0 "1.2.3.4:5"`, `T   reply:200:d:a = b = 0 ""`, "T 3 cb 44 1 2 0", "T 3 cb 40 1 2 0", "T 3 cb 44 0 0 0")), "\n")
	want := `s1 create root
s1 rqh 9 1
  get:0:date = ok "<date>"
  prop:source|address = ok <true>
  reply:200:d:a = b = ok ""
root cb #1 1 2 0
root cb #2 1 2 0
root cb #1 0 0 0`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got = strings.Join(normalTrace(&Scenario{Merge: true}, lines("T 7 create 3", "T 7 rsb 9 0", "T 7 rsb 3 0", "T 7 rsb 0 1", "T 7 log")), ", ")
	if got != "s1 create root, s1 rsb 12 1, s1 log" {
		t.Error(got)
	}
	got = strings.Join(normalTrace(&Scenario{Startup: true}, []line{{"1", "T 1 create 0"}, {"2", "T 1 create 0"}, {"1", "T 1 configure 3"}}), ", ")
	if got != "-- another thread, root1 create 0, root1 configure 3, -- another thread, root1 create 0" {
		t.Error(got)
	}
}

func TestFields(t *testing.T) {
	got := strings.Join(fields(host.H(":status", "200", ":path", "/", "x-a", "1\r\nx-b: 2", "date", "today", "drop", "x"), func(n string) bool { return n == "drop" }), "|")
	if got != ":path: /|:status: 200|x-a: 1|x-b: 2|date: <date>" {
		t.Error(got)
	}
}
