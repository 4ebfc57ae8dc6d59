package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

const head = "story: x\nrules: main\n"

func TestParse(t *testing.T) {
	s, err := Parse("x", `
# a comment
story: Title: with a colon
rules: main
mode: both
runs: core
each fault: loses | delays 3ms
envoy: loses

bridge claim,release: {fault} once
a: POST /orders key=k body="a \"b\" c" x-a=1 x-a=2 open
a sees: 201 created body={"a":1} !x-b x-c=* within=3ms
`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "Title: with a colon" || len(s.Modes) != 2 || !s.In(Core) || s.In(Envoy) {
		t.Errorf("%+v", s)
	}
	if len(s.Variants) != 4 || s.Variants[1].Name != "delays 3ms" || len(s.Told(Envoy, true)) != 1 || len(s.Told(Core, true)) != 2 {
		t.Errorf("variants: %+v", s.Variants)
	}
	if step := s.Variants[1].Steps[0]; step.Line != 10 || step.Text != "bridge claim,release: delays 3ms once" {
		t.Errorf("step: %+v", step)
	}
}

// Without a word on its mode a story is told in both, the second one where that is
// cheap; a step may be for one of them.
func TestModes(t *testing.T) {
	s, err := Parse("x", head+"on only: a: POST /x\noff only: a: POST /y\na sees: 200\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Variants) != 2 || s.Variants[0].Short || !s.Variants[1].Short || len(s.Told(Envoy, false)) != 0 || len(s.Told(Core, false)) != 1 {
		t.Errorf("%+v", s.Variants)
	}
	for i, want := range []string{"a: POST /x", "a: POST /y"} {
		if v := s.Variants[i]; len(v.Steps) != 2 || v.Steps[0].Text != want {
			t.Errorf("%+v", v)
		}
	}
	if s, err = Parse("x", "mode: off\n"+head+"a: GET /\n"); err != nil || len(s.Variants) != 1 || s.Variants[0].Short || s.Variants[0].Flag {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestRequestWords(t *testing.T) {
	ws, err := words(`key=k user= body="a \"b\" c" x-a=1 x-a=2 open h2`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := request("a", "POST", "/x", ws, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Headers.Get("idempotency-key") != "k" || r.Headers.All("x-user-id") != nil || string(r.Body) != `a "b" c` ||
		r.Headers.Get("x-a") != "1,2" || !r.Open || !r.HTTP2 || r.Headers.Get("x-client") != "a" {
		t.Errorf("%+v", r)
	}
	again, err := request("b", "", "", nil, &r)
	if err != nil || again.Path != "/x" || again.Headers.Get("x-client") != "b" || r.Headers.Get("x-client") != "a" {
		t.Errorf("%+v, %v; the first one: %+v", again, err, r)
	}
}

// Each text has one fault, in the line given.
func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"rules: main\nwait 1s", "x.story:1: a story begins with"},
		{head, "x.story:1: a story without steps"},
		{head + "story: again\nwait 1s", "x.story:3: story is said twice"},
		{head + "mode: maybe\nwait 1s", `x.story:3: mode "maybe"`},
		{head + "runs: core cloud\nwait 1s", `x.story:3: runner "cloud"`},
		{head + "each: a | b\nwait 1s", "x.story:3: each wants a name"},
		{head + "each x: a | b\nenvoy: c\nwait 1s", `x.story:4: "c" is none`},
		{head + "wait soon", `x.story:3: "soon" is no time`},
		{head + "a: POST orders", "x.story:3: a request is METHOD /path"},
		{head + "a: POST /orders kee=", ""}, // a header that is called so
		{head + "a: POST /orders Key=k", `x.story:3: unknown word "Key"`},
		{head + "a: POST /orders opne", `x.story:3: unknown word "opne"`},
		{head + `a: POST /orders body="x`, "x.story:3: body: a value in quotes"},
		{head + "a: POST /o\na: POST /o", `x.story:4: "a" has sent a request already`},
		{head + "b: as a", `x.story:3: "a" has not sent`},
		{head + "a sees: 200", `x.story:3: "a" has not sent`},
		{head + "a: GET /o\na sees: 99", `x.story:4: "99" is no status`},
		{head + "a: GET /o\na sees: 200 craeted", `x.story:4: unknown code "craeted"`},
		{head + "a: GET /o\na dances", "x.story:4: a client sees"},
		{head + "upstream: sleeps", `x.story:3: "sleeps" is no status`},
		{head + "upstream: resets 200", "x.story:3: resets takes no more"},
		{head + "upstream answers z: 200", `x.story:3: "z" has not sent`},
		{head + "bridge: explodes", "x.story:3: unknown fault"},
		{head + "bridge clam: loses", `x.story:3: unknown operation "clam"`},
		{head + "bridge: delays", "x.story:3: delays wants a time"},
		{head + "bridge: loses thrice", `x.story:3: unknown word "thrice"`},
		{head + "bridge claim: refuses", "x.story:3: refuses: meets all operations"},
		{head + "backend ran", "x.story:3: want backend ran: N"},
		{head + "stats: callout=1", `x.story:3: no counter is called "callout"`},
		{head + "stats: callouts=many", `x.story:3: callouts: "many"`},
	} {
		_, err := Parse("x", c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", strings.TrimPrefix(c.text, head), err, c.want)
		}
	}
}

// What a story does not say is watched all the same.
func TestOracle(t *testing.T) {
	now := time.Duration(0)
	result := wire.Result{Code: wire.Created, Fence: 7}
	b := newBridge(func() time.Duration { return now }, func([]byte, Lines) bridgeAnswer {
		body, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{result}})
		if err != nil {
			t.Fatal(err)
		}
		return bridgeAnswer{status: 200, body: body}
	})
	do := func(k wire.Kind) {
		b.work(nil, nil, &wire.Batch{Policies: []wire.Policy{{TTLMS: 1000}},
			Ops: []wire.Operation{{Kind: k, Scope: "s", Principal: "header:ada", Key: "k"}}}, true)
	}
	run := func(headers ...[2]string) error { return b.mayRun(Request{Client: "a", Headers: headers}) }
	key, user, fence := [2]string{"idempotency-key", "k"}, [2]string{"x-user-id", "ada"}, [2]string{"idempotency-fence", "7"}

	if run(user) != nil || run(key, [2]string{"idempotency-status", "unprotected"}) != nil {
		t.Error("a request without a key, or one that is marked, is blamed")
	}
	if run(key, user) == nil || run(key, user, fence) == nil {
		t.Error("a request without a grant is not blamed")
	}
	do(wire.Claim)
	if err := run(key, user, fence); err != nil {
		t.Errorf("with its grant: %v", err)
	}
	if run([2]string{"idempotency-key", "other"}, user, fence) == nil || run(key, [2]string{"x-user-id", "eve"}, fence) == nil {
		t.Error("a request with another's grant is not blamed")
	}
	result = wire.Result{Code: wire.OK}
	do(wire.Complete)
	if run(key, user, fence) == nil {
		t.Error("a second run after a known result is not blamed")
	}
	now = time.Second
	if err := run(key, user, fence); err != nil {
		t.Errorf("after the record's life: %v", err)
	}
}

// A story that expects what does not happen fails.
func TestWrongStories(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: POST /orders key=k body={}\na sees: 201 created", "the status is 200"},
		{"a: POST /orders key=k body={}\na sees: 200 replayed", `the code is "created"`},
		{"a: POST /orders key=k body={}\na sees: 200 created body=x", `the body is ""`},
		{"a: POST /orders key=k body={}\na sees: 200 created x-a=1", "x-a is missing"},
		{"a: POST /orders key=k body={}\na sees: 200 created !idempotency-status", "idempotency-status is there"},
		{"upstream: 200 after=500ms\na: POST /orders key=k body={}\na sees: 200 created within=400ms", "it took 500ms"},
		{"a: POST /orders key=k open\na sees: 200 created", "a hangs"},
		{"a: POST /orders key=k body={}\na sees: 200\na waits", "a has an answer"},
		{"a: POST /orders key=k body={}\na is cut", "the answer is whole"},
		{"a: POST /orders key=k body={}\nbackend ran: 2", "the backend ran 1 times"},
		{"backend ran: 0\na: POST /orders key=k body={}\na sees: 200", "the backend ran 1 times in all, not 0"},
		{"a: POST /orders key=k body={}\na sees: 200\nstats: callouts=3", "callouts is 2, not 3"},
		{"a: POST /orders key=k body={}\na sees: 200\nbackend saw a: !idempotency-fence", "idempotency-fence is there"},
		{"bridge has: 1", "the bridge holds 0 answers"},
	} {
		s, err := Parse("x", head+c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		stage, err := newCore(rulesOf(t, "main", true), true)
		if err != nil {
			t.Fatal(err)
		}
		err = stage.play(&s.Variants[0])
		stage.w.close()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}
