package filter

import (
	"fmt"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// waiters is a rig in which one request of a key is under way and n more wait.
func waiters(t *testing.T, n int) (g *rig, first *seen, waits []*seen) {
	g = newRig(t, true)
	first = g.open("POST", "/wait", "k", true)
	g.answerAll()
	if first.resumed != 1 {
		t.Fatal("the first request is not forwarded")
	}
	for range n {
		waits = append(waits, g.open("POST", "/wait", "k", true))
	}
	g.answerClaims()
	return g, first, waits
}

// answerClaims answers everything but long polls.
func (g *rig) answerClaims() {
	for {
		i := g.find(false)
		if i < 0 {
			g.pass(batchPatience)
			if i = g.find(false); i < 0 {
				return
			}
		}
		g.answer(i, false)
	}
}

// find is the first long poll, or the first batch; -1: there is none.
func (g *rig) find(wait bool) int {
	for i := range g.flights {
		if g.flights[i].wait == wait {
			return i
		}
	}
	return -1
}

func (g *rig) polls() (n int) {
	for i := range g.flights {
		if g.flights[i].wait {
			n++
		}
	}
	return n
}

// ends lets the first request be answered, and the store acknowledge it.
func (g *rig) ends(first *seen) {
	g.respond(first, upstream(201), true)
	g.answerClaims()
}

func wantAll(t *testing.T, waits []*seen, want Code) {
	t.Helper()
	for i, s := range waits {
		if got := s.code(); got != string(want) {
			t.Fatalf("waiter %d of %d: %s, want %s", i, len(waits), got, want)
		}
	}
}

// However many wait, there is one poll, and its answer serves them all.
func TestOnePollForAll(t *testing.T) {
	g, first, waits := waiters(t, 500)
	if g.polls() != 1 || g.counts[MetricWaited] != 500 {
		t.Fatalf("%d polls, %d wait", g.polls(), g.counts[MetricWaited])
	}
	claims := g.counts[MetricOperation]
	for range 500 { // the key is known to be in flight: no more claims
		waits = append(waits, g.open("POST", "/wait", "k", true))
	}
	other := g.open("POST", "/wait?other", "k", true)
	if n := g.counts[MetricOperation]; n != claims+1 {
		t.Fatalf("%d claims, want that of another fingerprint alone", n-claims)
	}
	g.answerClaims()
	wantAll(t, []*seen{other}, CodeKeyReused)
	claims++
	g.pass(time.Second)
	if n := g.counts[MetricOperation]; n != claims {
		t.Fatalf("%d operations while waiting, want none", n-claims)
	}
	g.respond(first, upstream(201), true)
	g.answer(g.find(false), true) // the completion took effect; its answer is lost, so the worker knows nothing
	g.answer(g.find(true), false)
	wantAll(t, waits, CodeReplayed)
	if len(g.w.room.groups) != 0 || g.w.room.n != 0 || len(g.w.room.polls) != 0 {
		t.Fatalf("left behind: %+v", g.w.room)
	}
}

// The wait ends with the rule's bound, and says how long the lease is still.
func TestWaitIsBounded(t *testing.T) {
	g, _, waits := waiters(t, 3)
	g.w.SetClock(g.now, time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).UnixNano())
	g.pass(1900 * time.Millisecond)
	if len(waits[0].replies) != 0 {
		t.Fatal("ended before its time")
	}
	g.pass(200 * time.Millisecond)
	wantAll(t, waits, CodeInFlight)
	r := waits[0].replies[0]
	if r.header("retry-after") != "7" || r.header(HeaderLeaseUntil) != "Fri, 01 May 2026 10:00:09 GMT" {
		t.Fatalf("%v", r.Headers)
	}
	if r.header("link") != "<"+problemBase+`in-flight.md>; rel="describedby"` {
		t.Fatalf("%v", r.Headers)
	}
	// The poll outlives them, and its end is nobody's.
	g.answerAll()
	if len(g.w.room.groups) != 0 {
		t.Fatal("a group is left")
	}
}

// Free: one claims for all. The others wait for what becomes of it.
func TestFreeElectsOne(t *testing.T) {
	g, first, waits := waiters(t, 100)
	g.respond(first, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true) // never sent: released
	g.answerClaims()
	g.answer(g.find(true), false)
	if i := g.find(false); i < 0 || len(g.flights[i].batch.Ops) != 1 {
		t.Fatal("not one claim")
	}
	g.answerClaims()
	if waits[0].resumed != 1 || g.polls() != 1 {
		t.Fatalf("resumed %d, %d polls", waits[0].resumed, g.polls())
	}
	g.ends(waits[0])
	g.answer(g.find(true), false)
	wantAll(t, waits[1:], CodeReplayed)
}

// A poll that comes to nothing costs waiting: one of the group claims, with a
// pause that grows, and the store's answer counts.
func TestPollFails(t *testing.T) {
	g, first, waits := waiters(t, 10)
	before := g.counts[MetricOperation]
	for range 40 {
		if i := g.find(true); i >= 0 {
			g.fail(i)
		}
		g.answerClaims()
		g.pass(tickWaiting)
	}
	claims := g.counts[MetricOperation] - before
	if claims < 3 || claims > 12 || g.counts[MetricPollFailed] < 3 {
		t.Fatalf("%d claims, %d failed polls in a second", claims, g.counts[MetricPollFailed])
	}
	g.ends(first)
	g.pass(maxPause + tickWaiting)
	for g.find(true) >= 0 {
		g.fail(g.find(true))
	}
	g.pass(maxPause + tickWaiting)
	g.answerClaims()
	wantAll(t, waits, CodeReplayed)
}

// Who has claimed for the others in vain is still the one who waits longest, and
// goes next.
func TestLeaderKeepsItsPlace(t *testing.T) {
	g, first, waits := waiters(t, 3)
	for range 2 {
		g.fail(g.find(true))
		for range 20 { // the leader claims after a pause, and another poll follows
			g.pass(tickWaiting)
			g.answerClaims()
		}
	}
	g.respond(first, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
	g.answerClaims()
	g.answer(g.find(true), false)
	for range 20 {
		g.pass(tickWaiting)
		g.answerClaims()
	}
	if waits[0].resumed != 1 || waits[1].resumed+waits[2].resumed != 0 {
		t.Fatalf("forwarded: %d, %d, %d", waits[0].resumed, waits[1].resumed, waits[2].resumed)
	}
}

// While the store is away a waiter knows that another request is in flight: it
// waits on, and is never forwarded unprotected.
func TestStoreAwayWhileWaiting(t *testing.T) {
	g, first, waits := waiters(t, 5)
	for range 10 {
		for len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(100 * time.Millisecond)
	}
	for _, s := range waits {
		if len(s.replies)+s.resumed > 0 {
			t.Fatalf("answered: %s", s.code())
		}
	}
	g.respond(first, upstream(201), true)
	for range 20 {
		g.answerAll()
		g.pass(50 * time.Millisecond)
	}
	wantAll(t, waits, CodeReplayed)
}

func TestPollAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		result wire.Result
		want   Code
	}{
		"unknown":       {wire.Result{Code: wire.OutcomeUnknown, RetryAfterMS: 5000}, CodeOutcomeUnknown},
		"reused":        {wire.Result{Code: wire.KeyReused, Differs: []byte{1}}, CodeKeyReused},
		"used":          {wire.Result{Code: wire.KeyUsed, Status: 201}, CodeKeyUsed},
		"not kept":      {wire.Result{Code: wire.ResponseNotKept, Status: 201}, CodeResponseNotKept},
		"too many":      {wire.Result{Code: wire.TooManyWaiting}, CodeTooManyWaiting},
		"broken record": {wire.Result{Code: wire.Replayed, Status: 201, Result: []byte{9}}, CodeResponseNotKept},
	} {
		t.Run(name, func(t *testing.T) {
			g, _, waits := waiters(t, 3)
			b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{c.result}})
			if err != nil {
				t.Fatal(err)
			}
			f := g.flights[g.find(true)]
			g.flights = nil
			g.w.CallAnswered(g.now, f.id, b)
			g.perform()
			wantAll(t, waits, c.want)
		})
	}
}

// A result that is withheld is fetched once, and serves them all.
func TestWithheldWhileWaiting(t *testing.T) {
	g, first, waits := waiters(t, 50)
	g.respond(first, upstream(201), true)
	g.answer(g.find(false), true)
	b, _ := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{{Code: wire.Replayed, Withheld: true}}})
	i := g.find(true)
	f := g.flights[i]
	g.flights = append(g.flights[:i], g.flights[i+1:]...)
	g.w.CallAnswered(g.now, f.id, b)
	g.perform()
	fetches := 0
	for _, f := range g.flights {
		for _, op := range f.batch.Ops {
			if op.Fetch {
				fetches++
			}
		}
	}
	if fetches != 1 {
		t.Fatalf("%d fetches, want 1", fetches)
	}
	g.answerAll()
	wantAll(t, waits, CodeReplayed)
}

// A waiter's end costs nothing: it has claimed nothing that could be released.
func TestWaiterLeaves(t *testing.T) {
	g, first, waits := waiters(t, 3)
	for _, s := range waits {
		g.finish(s, Trail{})
	}
	if g.find(false) >= 0 || g.w.Pending() != 0 {
		t.Fatal("a waiter that left had something to say")
	}
	if g.w.room.n != 0 {
		t.Fatalf("%d wait", g.w.room.n)
	}
	g.ends(first)
	g.answerAll()
	if len(g.w.room.groups) != 0 {
		t.Fatal("a group is left")
	}
}

// The leader's end hands its group on.
func TestLeaderLeaves(t *testing.T) {
	g, first, waits := waiters(t, 3)
	g.respond(first, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
	g.answerClaims()
	g.answer(g.find(true), false)
	g.finish(waits[0], Trail{}) // its claim is in the air
	g.settleDown()
	if waits[1].resumed != 1 {
		t.Fatal("nobody took over")
	}
	g.ends(waits[1])
	g.settleDown()
	wantAll(t, waits[2:], CodeReplayed)
}

func TestWaitingIsCapped(t *testing.T) {
	g := newRig(t, true)
	for i := range maxPolls + 1 {
		g.open("POST", "/wait", fmt.Sprint("k", i), true)
		g.answerClaims()
	}
	for i := range maxPolls {
		g.open("POST", "/wait", fmt.Sprint("k", i), true)
	}
	g.answerClaims()
	if g.polls() != maxPolls {
		t.Fatalf("%d polls", g.polls())
	}
	over := g.open("POST", "/wait", fmt.Sprint("k", maxPolls), true)
	g.answerClaims()
	if over.code() != string(CodeTooManyWaiting) || over.replies[0].Status != 409 || over.replies[0].header("retry-after") != "9" {
		t.Fatalf("%s %v", over.code(), over.replies)
	}
	same := g.open("POST", "/wait", "k0", true)
	g.answerClaims()
	if len(same.replies) != 0 {
		t.Fatalf("of a key that is polled: %s", same.code())
	}
}

func TestWaitersAreCapped(t *testing.T) {
	g, _, waits := waiters(t, maxWaiting+10)
	n := 0
	for _, s := range waits {
		if len(s.replies) > 0 {
			n++
		}
	}
	if n != 10 || g.counts[MetricTooManyWaiting] != 10 || g.polls() != 1 {
		t.Fatalf("%d answered at once, %d polls", n, g.polls())
	}
}

// A bridge that does not wait is not asked in a loop.
func TestHastyPolls(t *testing.T) {
	g, _, _ := waiters(t, 1)
	n := 0
	for range 40 {
		for g.find(true) >= 0 {
			g.answer(g.find(true), false) // in flight, at once
			n++
		}
		g.answerClaims()
		g.pass(tickWaiting)
	}
	if n > 12 {
		t.Fatalf("%d polls in a second", n)
	}
}

func TestPreferWait(t *testing.T) {
	prefer := func(v string) wire.HeaderLine { return wire.HeaderLine{Name: "prefer", Value: v} }
	for _, c := range []struct {
		path, prefer string
		wait         time.Duration
		applied      string
	}{
		{"/wait", "wait=1", time.Second, "wait=1"},
		{"/wait", "respond-async, wait=100;x=y", 2 * time.Second, "wait=2"},
		{"/wait", "Wait = \"1\"", time.Second, "wait=1"},
		{"/wait", "wait=0", 0, "wait=0"},
		{"/wait", "wait=soon", 2 * time.Second, ""},
		{"/asked", "wait=1", time.Second, "wait=1"},
		{"/asked", "wait=100", 1500 * time.Millisecond, "wait=2"},
		{"/asked", "", 0, ""},
		{"/orders", "wait=1", 0, ""},
	} {
		t.Run(c.path+" "+c.prefer, func(t *testing.T) {
			g := newRig(t, true)
			g.open("POST", c.path, "k", true)
			g.answerClaims()
			s := g.open("POST", c.path, "k", true, prefer(c.prefer))
			g.answerClaims()
			if c.wait > 0 {
				g.pass(c.wait - 100*time.Millisecond)
				if len(s.replies) != 0 {
					t.Fatal("answered before its time")
				}
				g.pass(200 * time.Millisecond)
			}
			if s.code() != string(CodeInFlight) || s.replies[0].header("preference-applied") != c.applied {
				t.Fatalf("%s %q", s.code(), s.replies[0].header("preference-applied"))
			}
		})
	}
}

func TestReplayDates(t *testing.T) {
	g := newRig(t, true)
	g.w.SetClock(g.now, time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).UnixNano())
	first := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.ends(first)
	g.pass(time.Minute)
	again := g.open("POST", "/orders", "k", true)
	g.answerAll()
	r := again.replies[0] // the rig's records are 1.5 s old
	if r.header(HeaderFirstSeen) != "Fri, 01 May 2026 10:00:58 GMT" || r.header(HeaderAge) != "1" || r.header(HeaderExpiresIn) != "60" {
		t.Fatalf("%v", r.Headers)
	}
}
