package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

const observeConfig = `{
 "namespace": "edge",
 "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": %t, "buffer_limit": "1MiB"},
 "defaults": {"principal": {"header": "x-user-id", "trusted": true}, "record": {"max_body": "1KiB"},
  "recovery": {"lease": "10s", "action": "hold"}},
 "rules": [
  {"name": "orders", "match": {"path": {"prefix": "/orders"}}, "fingerprint": {"body": %q}, "upstream_timeout": "5s", "unavailable": "reject"},
  {"name": "seen", "scope": "orders", "match": {"path": {"prefix": "/seen"}}, "mode": "observe", "fingerprint": {"body": %[2]q, "max_body": "1KiB"}},
  {"name": "share", "match": {"path": {"prefix": "/share"}}, "mode": "observe", "enforce_percent": 50,
   "fingerprint": {"body": %[2]q}, "upstream_timeout": "5s", "unavailable": "forward"}%s
 ]}`

const observeBodyRules = `,
  {"name": "hooks", "match": {"path": {"prefix": "/hooks"}}, "mode": "observe", "key": {"from": [{"json": "/id"}]}},
  {"name": "halfhooks", "match": {"path": {"prefix": "/halfhooks"}}, "mode": "observe", "enforce_percent": 50,
   "key": {"from": [{"json": "/id"}]}, "fingerprint": {"max_body": "1KiB"}, "upstream_timeout": "5s", "unavailable": "reject"}`

func observeRig(t failer, flag bool) *rig {
	body, more := "json", observeBodyRules
	if !flag {
		body, more = "none", ""
	}
	cfg, err := rules.Parse(fmt.Appendf(nil, observeConfig, flag, body, more))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

// untouched fails if anything was done to an observed stream.
func (s *seen) untouched(t failer) {
	t.Helper()
	if len(s.request)+len(s.response)+len(s.removed)+len(s.replies)+s.resumed+s.released > 0 || s.pausedReq || s.pausedResp {
		t.Fatalf("an observed stream was touched: %+v", s)
	}
}

func (g *rig) lastCode(t failer) Code {
	t.Helper()
	if len(g.decisions) == 0 {
		return ""
	}
	return g.decisions[len(g.decisions)-1].Code
}

func TestObservedDecisions(t *testing.T) {
	created := func(g *rig, path, key string) *seen {
		s := g.open("POST", path, key, true)
		g.answerAll()
		g.respond(s, upstream(201), true)
		g.answerAll()
		g.finish(s, Trail{Attempts: 1})
		return s
	}
	for _, c := range []struct {
		name string
		run  func(g *rig) *seen
		want Code
	}{
		{"created", func(g *rig) *seen { return created(g, "/seen", "k") }, "would-created"},
		{"replayed", func(g *rig) *seen { created(g, "/seen", "k"); return g.open("POST", "/seen", "k", true) }, "would-replayed"},
		{"replayed, as the store says", func(g *rig) *seen {
			created(g, "/orders", "k")
			s := g.open("POST", "/seen", "k", true)
			g.answerAll()
			return s
		}, "would-key-reused"}, // another target
		{"in flight", func(g *rig) *seen {
			g.open("POST", "/seen", "k", true)
			g.answerAll()
			s := g.open("POST", "/seen", "k", true)
			g.answerAll()
			return s
		}, "would-in-flight"},
		{"key missing", func(g *rig) *seen { return g.open("POST", "/seen", "", true) }, "would-key-missing"},
		{"key invalid", func(g *rig) *seen { return g.open("POST", "/seen", strings.Repeat("k", 300), true) }, "would-key-invalid"},
		{"away", func(g *rig) *seen { s := g.open("POST", "/seen", "k", true); g.fail(0); g.fail(0); return s }, "would-unavailable"},
		{"never forwarded", func(g *rig) *seen {
			s := g.open("POST", "/seen", "k", true)
			g.answerAll()
			g.respond(s, headers{status: 503, trail: Trail{Attempts: 1, Flags: flagUF}}, true)
			return s
		}, "would-released"},
		{"too large", func(g *rig) *seen {
			s := g.open("POST", "/seen", "k", false)
			g.body(s, strings.Repeat("x", 1025), false)
			return s
		}, "would-too-large"},
		{"gone", func(g *rig) *seen {
			s := g.open("POST", "/seen", "k", true)
			g.answerAll()
			g.finish(s, Trail{Attempts: 1})
			return s
		}, "would-gone"},
		{"key in a body", func(g *rig) *seen {
			s := g.open("POST", "/hooks", "", false)
			g.body(s, `{"x":`, false)
			g.body(s, `1}`, true)
			return s
		}, "would-key-missing"},
		{"share, key missing", func(g *rig) *seen { return g.open("POST", "/share", "", true) }, "would-key-missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := observeRig(t, true)
			s := c.run(g)
			s.untouched(t)
			if s.core.observed == nil || g.lastCode(t) != c.want {
				t.Errorf("%+v, want %s", g.decisions, c.want)
			}
		})
	}
}

// TestObservedCodes holds every code of a claim's answer against its prefixed
// form: one without would be an empty label.
func TestObservedCodes(t *testing.T) {
	for code, as := range observedAs {
		if got := observedCode(as.code); !strings.HasPrefix(string(got), "would-") {
			t.Errorf("%v: %q", code, got)
		}
	}
}

// TestObservedClaimIsSeen: an enforcing rule meets the claim of an observed
// request, and its result when it is there.
func TestObservedClaimIsSeen(t *testing.T) {
	g := observeRig(t, true)
	a := g.open("POST", "/seen?x", "k", true)
	g.answerAll()
	other := g.w.rules[g.w.cfg.Rules[0]]
	b := g.w.Open(99, other, "POST", "/seen?x")
	seenB := &seen{core: b, request: map[string]string{}, response: map[string]string{}, removed: map[string]bool{}}
	g.streams[b] = seenB
	h := headers{lines: []wire.HeaderLine{{Name: "x-user-id", Value: "u"}, {Name: "idempotency-key", Value: "k"}}}
	b.RequestHeaders(g.now, h, true)
	g.perform()
	g.answerAll()
	if len(seenB.replies) != 1 || seenB.replies[0].code() != CodeInFlight {
		t.Fatalf("%+v", seenB.replies)
	}
	g.respond(a, upstream(201), true)
	g.answerAll()
	if r := g.records[recordKey(a.core)]; r.state != "C" {
		t.Errorf("%+v", r)
	}
	a.untouched(t)
}

// TestObservedOrder: upstream answers before the claim is; the last word waits
// for it.
func TestObservedOrder(t *testing.T) {
	g := observeRig(t, true)
	s := g.open("POST", "/seen", "k", true)
	g.respond(s, upstream(201), false)
	g.respondBody(s, "x", true)
	g.finish(s, Trail{Attempts: 1})
	if len(g.flights) != 1 || g.w.captured != 1 {
		t.Fatalf("%d flights, %d bytes", len(g.flights), g.w.captured)
	}
	g.answerAll()
	if r := g.records[recordKey(s.core)]; r.state != "C" || g.w.captured != 0 {
		t.Errorf("%+v, %d bytes", r, g.w.captured)
	}
}

// TestObservedLost: a claim whose answer is lost may have been granted. It ends.
func TestObservedLost(t *testing.T) {
	for status, want := range map[int]string{201: "C", 429: "R", 503: "U"} {
		g := observeRig(t, true)
		s := g.open("POST", "/seen", "k", true)
		g.answer(0, true)
		g.answer(0, true)
		g.respond(s, upstream(status), true)
		g.finish(s, Trail{Attempts: 1})
		// A release is no word of a request that ran without a claim.
		if op := g.flights[len(g.flights)-1].batch.Ops[0]; op.Unprotected != (want != "R") {
			t.Errorf("%d: %v, unprotected %v", status, op.Kind, op.Unprotected)
		}
		g.settleDown()
		if r := g.records[recordKey(s.core)]; r.state != want {
			t.Errorf("%d: %+v, want %s", status, r, want)
		}
	}
}

// TestObservedAborted: after a fault of the filter nothing is recorded of a stream
// whose capture is gone.
func TestObservedAborted(t *testing.T) {
	g := observeRig(t, true)
	s := g.open("POST", "/seen", "k", true)
	g.respond(s, upstream(201), false)
	g.respondBody(s, "x", true)
	s.core.Abort(g.now)
	g.perform()
	g.answerAll()
	if r := g.records[recordKey(s.core)]; r.state != "P" || g.w.captured != 0 {
		t.Errorf("%+v, %d bytes", r, g.w.captured)
	}
}

// TestObservedRenews: a claim without a last word is renewed while its stream
// lives.
func TestObservedRenews(t *testing.T) {
	g := observeRig(t, true)
	s := g.open("POST", "/seen", "k", true)
	g.answerAll()
	g.pass(3500 * time.Millisecond)
	if len(g.flights) != 1 || g.flights[0].batch.Ops[0].Kind != wire.Renew {
		t.Fatalf("%+v", g.flights)
	}
	g.finish(s, Trail{Attempts: 1})
	g.settleDown()
	g.pass(20 * time.Second)
	if len(g.flights) != 0 || g.tick != 0 {
		t.Errorf("%d flights, tick %s", len(g.flights), g.tick)
	}
}

func TestEnforcePercent(t *testing.T) {
	g := observeRig(t, true)
	enforced := 0
	for i := range 1000 {
		key := fmt.Sprintf("key-%d", i)
		s := g.open("POST", "/share", key, true)
		again := g.open("POST", "/share", key, true)
		if (s.core.observed == nil) != (again.core.observed == nil) {
			t.Fatal("a key is now enforced, now observed")
		}
		if s.core.observed == nil {
			enforced++
			if !s.pausedReq {
				t.Fatal("an enforced key was not held")
			}
		} else {
			s.untouched(t)
		}
		g.answerAll()
	}
	if enforced < 430 || enforced > 570 {
		t.Errorf("%d of 1000 keys are enforced, want half", enforced)
	}
}

// TestShareGrows: a key that a smaller share holds is in every larger one, none
// in that of 0 and all in that of 100.
func TestShareGrows(t *testing.T) {
	for i := range 100 {
		id := makeRecordID("s", "p", fmt.Sprint(i))
		held := false
		for percent := range 101 {
			holds := (&Rule{Rule: &rules.Rule{EnforcePercent: percent}}).picks(id)
			if held && !holds || holds && percent == 0 || !holds && percent == 100 {
				t.Fatalf("key %d at %d: %t", i, percent, holds)
			}
			held = holds
		}
	}
}

// TestShareOfBodyKeys: such a request is held until its key is known. Then it is
// enforced, its own headers stripped, or it passes as it is.
func TestShareOfBodyKeys(t *testing.T) {
	g := observeRig(t, true)
	enforced, observed := 0, 0
	forged := wire.HeaderLine{Name: HeaderFence, Value: "9"}
	for i := range 100 {
		s := g.open("POST", "/halfhooks", "", false, forged)
		if !s.pausedReq || s.removed[HeaderFence] {
			t.Fatalf("%+v", s)
		}
		a := g.body(s, fmt.Sprintf(`{"id":"%d"}`, i), true)
		if s.core.observed == nil {
			enforced++
			if a == Continue || !s.removed[HeaderFence] {
				t.Fatalf("enforced: %v %+v", a, s)
			}
		} else {
			observed++
			s.untouched(t)
		}
		g.answerAll()
	}
	if enforced < 20 || observed < 20 {
		t.Errorf("%d enforced, %d observed", enforced, observed)
	}
	for _, body := range []string{`{"id":`, `{}`, strings.Repeat("x", 1025)} {
		s := g.open("POST", "/halfhooks", "", false, forged)
		if a := g.body(s, body, true); a != Continue {
			t.Errorf("%.10q: %v", body, a)
		}
		s.untouched(t)
	}
}

// TestObserveSchedules plays random schedules of observed, enforced and shared
// requests for few keys.
func TestObserveSchedules(t *testing.T) {
	for _, flag := range []bool{true, false} {
		t.Run(fmt.Sprint(flag), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { observeSchedule(t, flag) })
		})
	}
}

func observeSchedule(t *rapid.T, flag bool) {
	p := &play{rig: observeRig(t, flag), t: t, flag: flag, keys: []string{"k1", "k2", "k3", ""},
		paths: []string{"/orders", "/seen", "/seen", "/share", "/hooks", "/halfhooks"}}
	if !flag {
		p.paths = p.paths[:4]
	}
	p.run(p.noWordOvertakes)
	p.end()
	observed, told := 0, 0
	for _, a := range p.actors {
		if a.core.observed != nil {
			observed++
			a.untouched(t)
		}
		// The claim of an unprotected request that did not run ends with its lease.
		r := p.records[recordKey(a.core)]
		if r != nil && r.state == "P" && r.owner == string(a.core.owner) && !(a.core.observed == nil && a.core.unprotected) {
			t.Fatalf("the claim of %q has not ended: %+v %+v", recordKey(a.core), a.core.observed, a.seen)
		}
	}
	for _, d := range p.decisions {
		if d.Observed {
			told++
			if d.Code == "" || d.Status != 0 {
				t.Fatalf("%+v", d)
			}
		}
	}
	if told != observed || p.counts[MetricObserved] != observed {
		t.Fatalf("%d decisions and a count of %d for %d observed streams", told, p.counts[MetricObserved], observed)
	}
}

// noWordOvertakes fails if a last word is under way beside its own claim.
func (g *rig) noWordOvertakes() {
	var claims []string
	for _, f := range g.flights {
		for _, op := range f.batch.Ops {
			if op.Kind == wire.Claim {
				claims = append(claims, string(op.Owner))
			}
		}
	}
	for _, f := range g.flights {
		for _, op := range f.batch.Ops {
			if op.Kind != wire.Claim && op.Kind != wire.Release && slices.Contains(claims, string(op.Owner)) {
				g.t.Fatalf("%v is under way beside its claim", op.Kind)
			}
		}
	}
}
