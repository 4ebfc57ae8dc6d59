package story

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestExpected(t *testing.T) {
	rest := Exactly(1, "201 created").Rest("409 in-flight")
	for _, c := range []struct {
		name string
		want Expected
		got  Tally
		ok   bool
	}{
		{"as it must be", rest, Tally{"201 created": 1, "409 in-flight": 49}, true},
		{"nothing of the rest", rest, Tally{"201 created": 1}, true},
		{"two created", rest, Tally{"201 created": 2, "409 in-flight": 48}, false},
		{"none created", rest, Tally{"409 in-flight": 50}, false},
		{"a kind that is not allowed", rest, Tally{"201 created": 1, "500 unmarked": 1}, false},
		{"no answer at all", rest, Tally{}, false},
		{"two exact kinds", Exactly(1, "a").And(2, "b"), Tally{"a": 1, "b": 2}, true},
		{"one of them short", Exactly(1, "a").And(2, "b"), Tally{"a": 1, "b": 1}, false},
		{"none wanted, one came", Exactly(0, "a").Rest("b"), Tally{"a": 1, "b": 1}, false},
	} {
		if got := c.want.Met(c.got); got != c.ok {
			t.Errorf("%s: %t, want %t (%s of %s)", c.name, got, c.ok, c.got, c.want)
		}
	}
}

func TestKind(t *testing.T) {
	marked := Answer{Status: 409, Header: map[string][]string{"Idempotency-Status": {"in-flight"}}}
	for want, a := range map[string]Answer{
		"409 in-flight": marked,
		"503 unmarked":  {Status: 503},
		Lost:            {Status: 201, Err: errors.New("cut")}, // whatever had come by then
	} {
		if got := a.Kind(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A scene stops at its first wrong row, and that row says why.
func TestStageStopsAtTheFirstWrongRow(t *testing.T) {
	s := &stage{ctx: t.Context()}
	s.rowUncounted("right", Exactly(1, "201 unmarked"), Answer{Status: 201})
	s.rowUncounted("wrong", Exactly(1, "201 unmarked"), Answer{Status: 500, Body: []byte("oops")})
	s.rowUncounted("never played", Exactly(1, "201 unmarked"), Answer{Status: 201})
	r := s.result
	if len(r.Rows) != 2 || !r.Rows[0].OK || r.Rows[1].OK || r.OK() {
		t.Fatalf("%+v", r)
	}
	if len(r.Rows[1].Evidence) != 1 || !strings.Contains(r.Rows[1].Evidence[0], "oops") {
		t.Errorf("the evidence is missing: %q", r.Rows[1].Evidence)
	}

	s = &stage{ctx: t.Context()}
	s.rowUncounted("right", Exactly(1, "201 unmarked"), Answer{Status: 201})
	s.holds(false, nil, "bodies must be equal")
	if r = s.result; r.OK() || r.Rows[0].Wrong != "bodies must be equal" || !s.over {
		t.Errorf("%+v", r)
	}

	s = &stage{ctx: t.Context()}
	s.must(errors.New("no shop"))
	if s.result.OK() || !s.over {
		t.Error("a part's failure passes for a result")
	}
}

func TestPrinter(t *testing.T) {
	var b bytes.Buffer
	p := &Printer{w: &b}
	p.Result(Result{Title: "A scene", Rows: []Row{
		{Step: "fine", Saw: "1 x 201 created", Ran: 1, WantRan: 1, OK: true},
		{Step: "bad", Saw: "2 x 201 created", Expected: "1 x 201 created", Ran: 2, WantRan: 1, Evidence: []string{"201 with a body"}},
	}, Err: errors.New("a part is gone")})
	for _, want := range []string{
		"A scene", "ok\n", "WRONG", "expected  1 x 201 created; the backend runs: 1",
		"got       2 x 201 created; the backend runs: 2", "201 with a body", "a part is gone",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("colour where nobody sees it")
	}

	b.Reset()
	p.color = true
	p.row(Row{Step: "fine", OK: true})
	if !strings.Contains(b.String(), "\x1b[32mok\x1b[0m") {
		t.Errorf("no colour: %q", b.String())
	}
}

// A file is no terminal, and so are a pipe and everything else that tests have.
func TestColourOnlyOnATerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if NewPrinter(f, func(string) string { return "" }).color {
		t.Error("colour in a file")
	}
}

func TestWrap(t *testing.T) {
	got := wrap("  one two three four", 10)
	if want := []string{"  one two", "    three", "    four"}; strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
	if got := wrap(strings.Repeat("x", 30), 10); len(got) != 1 {
		t.Errorf("a long word was cut: %q", got)
	}
}
