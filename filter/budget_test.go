package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// budgetRig has a rule with bodies as large as rules may have.
func budgetRig(t failer) *rig {
	cfg, err := rules.Parse([]byte(`{
 "namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true, "buffer_limit": "16MiB"},
 "rules": [{"name": "big", "match": {"path": {"prefix": "/big"}}, "principal": {"header": "x-user-id", "trusted": true},
  "key": {"from": [{"header": "idempotency-key"}]}, "fingerprint": {"body": "raw", "max_body": "8MiB"},
  "record": {"max_body": "8MiB"}, "upstream_timeout": "5s", "recovery": {"lease": "10s", "action": "hold"}, "unavailable": "reject"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return rigWith(t, cfg)
}

const mib = 1 << 20

// within checks that no budget is exceeded and returns what is held.
func (g *rig) within() Held {
	g.t.Helper()
	w := g.w
	if w.read > maxReadBytes || w.captured > maxCaptureBytes || w.pendingBytes > maxPendingBytes || w.pending > maxPending ||
		w.pendingTexts > maxPendingBytes || w.done.bytes > cacheBytes {
		g.t.Fatalf("over budget: read %d, captured %d, pending %d with %d and %d bytes, memory %d",
			w.read, w.captured, w.pending, w.pendingBytes, w.pendingTexts, w.done.bytes)
	}
	return w.Held()
}

// TestRequestBodyBudget: bodies that come in slowly fill the budget, the next is
// refused and counted, and what was held is given back.
func TestRequestBodyBudget(t *testing.T) {
	g := budgetRig(t)
	chunk := strings.Repeat("x", mib)
	var open []*seen
	for i := range maxReadBytes/mib/4 + 3 {
		s := g.open("POST", "/big", fmt.Sprint(i), false)
		for range 4 {
			if len(s.replies) == 0 {
				g.body(s, chunk, false)
			}
		}
		g.within()
		open = append(open, s)
	}
	refused := 0
	for _, s := range open {
		if len(s.replies) == 1 && s.replies[0].Status == 503 && s.replies[0].header("retry-after") != "" {
			refused++
		}
	}
	if refused != 3 || g.counts[MetricOverBudget] != 3 {
		t.Fatalf("%d refused, %d counted, want 3", refused, g.counts[MetricOverBudget])
	}
	g.finish(open[0], Trail{})
	next := g.open("POST", "/big", "next", false)
	g.body(next, chunk, true)
	g.answerAll()
	if next.resumed != 1 {
		t.Error("a request was refused although there is room again")
	}
	for _, s := range append(open[1:], next) {
		g.finish(s, Trail{})
	}
	g.settleDown()
	if h := g.within(); h.Bodies != 0 {
		t.Errorf("%d bytes are held for nobody", h.Bodies)
	}
}

// TestResponseBodyBudget: captures fill the budget; what comes then passes, is
// told as executed, and is counted.
func TestResponseBodyBudget(t *testing.T) {
	g := budgetRig(t)
	chunk := strings.Repeat("x", mib)
	var open []*seen
	for i := range maxCaptureBytes/mib/8 + 2 {
		s := g.open("POST", "/big", fmt.Sprint(i), true)
		g.answerAll()
		g.respond(s, upstream(201), false)
		for range 8 {
			g.respondBody(s, chunk, false)
		}
		g.within()
		open = append(open, s)
	}
	g.answerAll()
	passed := 0
	for _, s := range open {
		if s.released == 1 {
			passed++
		}
	}
	if passed != 2 || g.counts[MetricOverBudget] != 2 || g.counts[MetricDropped] != 2 {
		t.Fatalf("%d passed, counted %d and %d", passed, g.counts[MetricOverBudget], g.counts[MetricDropped])
	}
	for _, s := range open {
		g.finish(s, Trail{Attempts: 1})
	}
	g.settleDown()
	if h := g.within(); h.Bodies != 0 || h.Pending != 0 {
		t.Errorf("left: %+v", h)
	}
}

// TestPendingBudget: while the bridge is away results pile up to a bound, then
// operations without results to another; each client gets its answer.
func TestPendingBudget(t *testing.T) {
	g := budgetRig(t)
	body := strings.Repeat("x", mib)
	n := maxPendingBytes/mib + 8
	var open []*seen
	for i := range n {
		s := g.open("POST", "/big", fmt.Sprint(i), true)
		g.answerAll()
		open = append(open, s)
	}
	for _, s := range open {
		g.respond(s, upstream(201), false)
		g.respondBody(s, body, true)
		g.within()
	}
	for range 40 {
		for len(g.flights) > 0 {
			g.fail(0)
		}
		g.pass(25 * time.Millisecond)
		g.within()
	}
	for i, s := range open {
		if s.released != 1 {
			t.Fatalf("client %d has no answer", i)
		}
		g.finish(s, Trail{Attempts: 1})
	}
	if g.w.Pending() != n || g.counts[MetricOverBudget] < 8 {
		t.Fatalf("%d pending of %d, %d over budget", g.w.Pending(), n, g.counts[MetricOverBudget])
	}
	for range 12 {
		g.settleDown()
	}
	if h := g.within(); h.Pending != 0 || h.Bodies != 0 || g.w.pendingTexts != 0 {
		t.Errorf("left: %+v", h)
	}
	kept := 0
	for _, r := range g.records {
		if r.state == "C" {
			kept++
		}
	}
	if kept != n-8 && kept != n-9 {
		t.Errorf("%d results were kept of %d", kept, n)
	}
}

// TestPendingCount: the number of operations that wait is bounded, with names as
// long as names may be.
func TestPendingCount(t *testing.T) {
	g := budgetRig(t)
	key := strings.Repeat("k", 200)
	g.w.b.breaker = breaker{open: true, next: 1 << 62}
	for i := range maxPending + 100 {
		s := &Stream{w: g.w, rule: g.w.rules[g.w.cfg.Rules[0]], key: key, principal: "u", owner: g.w.nextOwner()}
		g.w.settle(g.now, s, s.operation(wire.Release), false)
		if i%1000 == 0 {
			g.w.pump(g.now)
			g.within()
		}
		g.w.effects = g.w.effects[:0]
	}
	h := g.within()
	if h.Pending < maxPending/2 || h.Pending > maxPending {
		t.Errorf("%d pending", h.Pending)
	}
}

// TestGivenUpKeepsTheEarlier: a word for which there is no room does not take the
// place of one that has it.
func TestGivenUpKeepsTheEarlier(t *testing.T) {
	g := newRig(t, true)
	s := g.open("POST", "/after", "k", true)
	g.answerAll()
	g.respond(s, upstream(201), false) // executed is on its way
	g.fail(0)
	held := g.w.pendingTexts
	g.w.pendingTexts = maxPendingBytes
	g.respondBody(s, "done", true)
	g.w.pendingTexts = held
	g.finish(s, Trail{Attempts: 1})
	for range 20 {
		g.pass(maxBackoff)
		g.answerAll()
	}
	if r := g.records[recordKey(s.core)]; r.state != "E" || g.w.Pending() != 0 {
		t.Errorf("%+v, %d pending", r, g.w.Pending())
	}
}

// TestMemoryOwnsItsBytes: what is remembered of a finished key, and what waits,
// does not keep the message or the headers that it came in.
func TestMemoryOwnsItsBytes(t *testing.T) {
	g := newRig(t, true)
	first := g.open("POST", "/orders", "k", true)
	g.answerAll()
	g.respond(first, upstream(201), false)
	g.respondBody(first, "body", true)
	g.answerAll()
	g.w.done = newCache()
	again := g.open("POST", "/orders", "k", true)
	f := g.flights[0]
	g.flights = nil
	r := g.step(&f.batch, &f.batch.Ops[0])
	answer, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
	if err != nil {
		t.Fatal(err)
	}
	g.w.CallAnswered(g.now, f.id, answer)
	g.perform()
	if len(again.replies) != 1 {
		t.Fatal("not replayed")
	}
	from, to := uintptr(unsafe.Pointer(&answer[0])), uintptr(unsafe.Pointer(&answer[0]))+uintptr(len(answer))
	for _, e := range g.w.done.entries {
		if p := uintptr(unsafe.Pointer(unsafe.SliceData(e.response.Body))); p >= from && p < to {
			t.Error("an entry keeps the whole answer of its batch")
		}
	}

	all := strings.Repeat("h", 1000) + "late"
	s := g.open("POST", "/orders", all[1000:], true)
	g.fail(0)
	g.fail(0) // a release follows
	g.fail(0)
	g.fail(0)
	g.pass(300 * time.Millisecond)
	for _, w := range g.w.waiting {
		if w.op.Key == "late" && unsafe.StringData(w.op.Key) == unsafe.StringData(all[1000:]) {
			t.Error("an operation that waits keeps the request's headers")
		}
	}
	if g.w.Pending() != 1 || len(s.replies) != 1 {
		t.Errorf("%d pending, %d replies", g.w.Pending(), len(s.replies))
	}
}

// TestObservedBodyBudget: what is only observed gives way to what is held.
func TestObservedBodyBudget(t *testing.T) {
	g := observeRig(t, true)
	g.w.read = maxReadBytes - 1
	s := g.open("POST", "/seen", "k", false)
	g.body(s, "xx", false)
	if s.untouched(t); g.lastCode(t) != "would-unavailable" || g.w.read != maxReadBytes-1 || g.counts[MetricOverBudget] != 1 {
		t.Errorf("%+v, %d bytes read, counted %d times", g.decisions, g.w.read, g.counts[MetricOverBudget])
	}
}
