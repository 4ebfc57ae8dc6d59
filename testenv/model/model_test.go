package model

import (
	"slices"
	"strings"
	"testing"
)

// small is the number of states up to which a run belongs to the short form.
const small = 20_000

// The short form of `make model`: every small run, exhaustively.
func TestSmallRuns(t *testing.T) {
	expected := expectations(t)
	n := 0
	for _, c := range Runs() {
		e := expected[c.Name]
		if e.Bounded || e.States > small {
			continue
		}
		n++
		r := Explore(&c, DefaultMax)
		if difference := e.Compare(&r, DefaultMax); difference != "" {
			t.Errorf("%s: %s", c.Name, difference)
		}
	}
	t.Logf("%d runs", n)
	if n < 40 {
		t.Errorf("%d runs are small, want some 60", n)
	}
}

// Every run has an expectation and every expectation a run; where every rule is
// on and the store keeps what it acknowledged, nothing but waiting for the
// operator may be expected.
func TestExpectations(t *testing.T) {
	expected := expectations(t)
	names := map[string]bool{}
	for _, c := range Runs() {
		if names[c.Name] {
			t.Errorf("%q: two runs", c.Name)
		}
		names[c.Name] = true
		e, ok := expected[c.Name]
		if !ok {
			t.Errorf("%q: no expectation", c.Name)
		}
		durable := c.Ledger || c.Flushes == 0 && (c.Failovers == 0 || c.Wait)
		ruled := c.off&^(1<<issuedHeld) == 0 && c.Older == note && c.Short == letGo && !c.RefusalIsResult
		if !durable || !ruled || c.LostRenewals > 0 || c.Attempts > 0 {
			continue // max_attempts may hold a record early, see docs/model.md
		}
		for _, name := range strings.Fields(e.Broken) {
			if name[0] == 'I' && (name != stuck.name || c.Recovery != hold) {
				t.Errorf("%q: every rule is on, and %s is broken", c.Name, name)
			}
		}
	}
	for r := range rules {
		if !slices.ContainsFunc(Runs(), func(c Config) bool { return !c.rule(r) }) {
			t.Errorf("rule %d: no run switches it off", r)
		}
	}
	for name := range expected {
		if !names[name] {
			t.Errorf("%q: an expectation without a run", name)
		}
	}
}

// Each of these rules is needed: a run finds a promise broken with the rule off
// that it does not find with the rule on. Rules that take longer to show are
// shown by `make model`.
func TestRulesAreNeeded(t *testing.T) {
	expected := expectations(t)
	for _, c := range []struct {
		rule   rule
		broken *promise
		run    string
	}{
		{byFence, thrownAway, "K executed only cur/hold failover, none"},
		{executedIsFinal, grantedTold, "K EXECUTED over is re-acquired/reacquire crash"},
		{ownClock, secondForward, "B same owner re-entrant after lease, no elapsed/reacquire"},
		{leaversKept, grantedGone, "U released owners forgotten/client/hold"},
		{leaversKept, grantedGone, "U released owners forgotten/issued/hold"},
		{marker, grantedGone, "B no marker/hold crash"},
		{settle, bodyLost, "K executed kept pending after complete/hold flush+crash"},
		{waitExecuted, resultLost, "K WAIT not on executed/hold failover+crash"},
		{ledgerDecides, secondForward, "E ledger row taken by higher fence/hold flush"},
		{ledgerGrants, secondForward, "E ledger insert-or-ignore/hold flush"},
		{confirmRefusal, resultLost, "E redis refusals not confirmed/hold away"},
		{probePromises, freedSent, "B probe 'not done' is no promise/probe"},
		{issuedAgain, unusedRefused, "Q issued: release gives RELEASED/hold crash"},
	} {
		if !strings.Contains(" "+expected[c.run].Broken+" ", " "+c.broken.name+" ") {
			t.Errorf("%s: %s is not expected", c.run, c.broken.name)
		}
		i := slices.IndexFunc(Runs(), func(r Config) bool { return r.Name == c.run })
		if i < 0 {
			t.Fatalf("no run %q", c.run)
		}
		with := Runs()[i]
		with.off &^= 1 << c.rule
		r := Explore(&with, DefaultMax)
		if r.Bounded || strings.Contains(" "+r.Names()+" ", " "+c.broken.name+" ") {
			t.Errorf("%s: with the rule on: [%s]", c.run, r.Names())
		}
	}
}

// A trace leads from the start to the broken promise, a step a line.
func TestTrace(t *testing.T) {
	i := slices.IndexFunc(Runs(), func(r Config) bool { return r.Name == "K EXECUTED over is re-acquired/reacquire crash" })
	c := Runs()[i]
	r := Explore(&c, DefaultMax)
	for _, f := range r.Findings {
		if len(f.Trace) == 0 || !strings.HasPrefix(f.Trace[0], "o1: comes, claims") {
			t.Fatalf("%s: %q", f.Promise, f.Trace)
		}
		if f.Promise == grantedTold.name {
			last := f.Trace[len(f.Trace)-1]
			if !strings.Contains(last, "created f") || !strings.Contains(last, "redis=PROCESSING") {
				t.Fatalf("%s ends with %q", f.Promise, last)
			}
		}
	}
}

func expectations(t *testing.T) map[string]Expectation {
	t.Helper()
	e, err := Expected()
	if err != nil {
		t.Fatal(err)
	}
	return e
}
