package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// endingsConfig has a rule for every way to the bridge and back: two lanes, long
// polls, the local table, large results, records after the reply, and every
// `unavailable`.
const endingsConfig = `{
 "namespace": "edge", "bridge": {"cluster": "bridge", "wait_cluster": "wait", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": %t, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "upstream_timeout": "5s", "recovery": {"lease": "10s", "action": "hold"}},
 "rules": [
  {"name": "plain", "match": {"path": {"prefix": "/plain"}}, "fingerprint": {"body": "BODY"}, "unavailable": "reject", "record": {"max_body": "64KiB"}},
  {"name": "durable", "match": {"path": {"prefix": "/durable"}}, "fingerprint": {"body": "BODY"}, "unavailable": "forward", "durability": {"replicas": 1}},
  {"name": "wait", "match": {"path": {"prefix": "/wait"}}, "fingerprint": {"body": "BODY"}, "unavailable": "reject", "in_flight": {"action": "wait", "max_wait": "2s"}},
  {"name": "waitforward", "match": {"path": {"prefix": "/w2"}}, "fingerprint": {"body": "BODY"}, "unavailable": "forward", "in_flight": {"action": "wait", "max_wait": "1s"}},
  {"name": "local", "match": {"path": {"prefix": "/local"}}, "fingerprint": {"body": "BODY"}, "unavailable": "local", "recovery": {"lease": "10s", "action": "reacquire", "backend_checks_fence": true}},
  {"name": "after", "match": {"path": {"prefix": "/after"}}, "fingerprint": {"body": "BODY"}, "unavailable": "reject", "record": {"max_body": "1KiB", "when": "after_reply"}}
 ]}`

var endingsPaths = []string{"/plain", "/durable", "/wait", "/w2", "/local", "/after"}

// TestEndings plays random schedules over every part of the worker at once: lanes,
// the breaker, long polls, the local table, nonsense in answers, and streams that
// a panic has taken away. Nothing may hang, and nothing may be left of any of it.
func TestEndings(t *testing.T) {
	for _, flag := range []bool{true, false} {
		t.Run(fmt.Sprint("flag ", flag), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { endings(t, flag) })
		})
	}
}

func endings(t *rapid.T, flag bool) {
	body := "json"
	if !flag {
		body = "none"
	}
	cfg, err := rules.Parse([]byte(strings.ReplaceAll(fmt.Sprintf(endingsConfig, flag), "BODY", body)))
	if err != nil {
		t.Fatal(err)
	}
	p := &play{rig: rigWith(t, cfg), t: t, flag: flag, paths: endingsPaths, keys: []string{"k1", "k2"}}
	shared := newShared()
	p.w.UseLocal(shared)
	odd := []wire.Result{{}, {Code: 99}, {Code: wire.Unavailable}, {Code: wire.Free}, {Code: wire.TooManyWaiting}, {Code: wire.OK},
		{Code: wire.Created}, {Code: wire.InFlight}, {Code: wire.InFlight, RetryAfterMS: 1 << 62}, {Code: wire.OutcomeUnknown},
		{Code: wire.Replayed, Withheld: true}, {Code: wire.Lapsed}, {Code: wire.Stale}, {Code: wire.OverQuota}}
	nonsense := func(i int) { p.oddly(i, odd[p.pick(len(odd), "odd")]) }
	for range rapid.IntRange(1, 120).Draw(t, "steps") {
		switch p.pick(12, "what") {
		case 0, 1:
			p.arrive()
		case 2, 3, 4:
			p.advance()
		case 5, 6, 7:
			p.bridge(nonsense, p.tooLarge)
		case 8:
			p.pass(p.upTo(700))
			shared.clock.Store(int64(1_800_000_000*time.Second) + p.now)
		case 9:
			for range p.pick(7, "lost") { // opens the breaker
				if len(p.flights) > 0 {
					p.fail(0)
				}
			}
		case 10:
			p.leave()
		case 11:
			if a := p.somebody(); a != nil && p.pick(4, "panics") == 0 {
				// The adapter answers it and forgets it.
				a.done = true
				a.core.Abort(p.now)
				p.perform()
			}
		}
		p.within()
	}
	p.end()
	w := p.w
	if len(w.room.groups) != 0 || len(w.room.polls) != 0 || len(w.live) != 0 || len(w.waiting) != 0 || w.b.queued() {
		t.Fatalf("left behind: %d groups, %d polls, %d live, %d waiting", len(w.room.groups), len(w.room.polls), len(w.live), len(w.waiting))
	}
	if p.tick != 0 {
		t.Fatalf("a tick every %v for nothing", p.tick)
	}
	p.noneHeld()
}

// tooLarge refuses a flight for its size.
func (g *rig) tooLarge(i int) {
	id := g.flights[i].id
	g.flights = append(g.flights[:i], g.flights[i+1:]...)
	g.w.CallTooLarge(g.now, id)
	g.perform()
}

// noneHeld checks that every claim that the bridge granted has had its end, heard
// of or not. That of a stream which was told that it has none waits for its lease.
func (g *rig) noneHeld() {
	g.t.Helper()
	for id, r := range g.records {
		if r.state == "P" && !g.told[r.owner] {
			g.t.Fatalf("the claim of %q has no end", id)
		}
	}
}

// oddly answers a flight with the same result for all, which changes no record.
func (g *rig) oddly(i int, r wire.Result) {
	f := g.flights[i]
	g.flights = append(g.flights[:i], g.flights[i+1:]...)
	var a wire.Answer
	for range f.batch.Ops {
		a.Results = append(a.Results, r)
	}
	for j := range f.batch.Ops {
		switch r.Code {
		case wire.InFlight, wire.OutcomeUnknown, wire.Replayed, wire.Lapsed, wire.Stale:
			g.told[string(f.batch.Ops[j].Owner)] = true
		}
		// What acknowledges must be true.
		if k := f.batch.Ops[j].Kind; k != wire.Claim && k != wire.Wait && k != wire.Renew && (r.Code == wire.OK || r.Code == wire.Stale) {
			a.Results[j].Code = wire.Unavailable
		}
	}
	b, err := wire.AppendAnswer(nil, &a)
	if err != nil {
		g.t.Fatal(err)
	}
	g.w.CallAnswered(g.now, f.id, b)
	g.perform()
}
