package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/tracing"
	"github.com/oncewall/oncewall/filter/wire"
)

// waitFor sends one wait and returns its result; ctx is the filter's patience.
func (b *bridge) waitFor(ctx context.Context, policy wire.Policy, op wire.Operation) (wire.Result, error) {
	body, err := wire.AppendBatch(nil, &wire.Batch{Namespace: "edge", Policies: []wire.Policy{policy}, Ops: []wire.Operation{op}})
	if err != nil {
		return wire.Result{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+wire.WaitPath, bytes.NewReader(body))
	if err != nil {
		return wire.Result{}, err
	}
	r.Header.Set("Authorization", "Bearer "+testSecret)
	r.Header.Set("Content-Type", wire.ContentType)
	resp, err := b.client.Do(r)
	if err != nil {
		return wire.Result{}, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return wire.Result{}, err
	}
	var a wire.Answer
	if err := wire.DecodeAnswer(answer, &a); err != nil || len(a.Results) != 1 || resp.Header.Get(wire.StampHeader) == "" {
		b.t.Errorf("status %d: %q", resp.StatusCode, answer)
		return wire.Result{}, err
	}
	return a.Results[0], nil
}

// waiting starts a wait and returns its result's channel.
func (b *bridge) waiting(policy wire.Policy, op wire.Operation) <-chan wire.Result {
	done := make(chan wire.Result, 1)
	go func() {
		r, err := b.waitFor(context.Background(), policy, op)
		if err != nil {
			b.t.Errorf("wait: %v", err)
		}
		done <- r
	}()
	return done
}

func waitOp() wire.Operation {
	op := testOp(wire.Wait, 2)
	op.BudgetMS = 30_000
	return op
}

// metric reports whether the admin side shows the line.
func (b *bridge) metric(line string) bool {
	_, body := b.get("/metrics")
	return strings.Contains(body, "\n"+line+"\n")
}

func TestWait(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		b := start(t, embedded(t))
		b.client = client(h2c)
		p := testPolicy()
		granted := b.send(p, testOp(wire.Claim, 1))
		expect(t, granted, wire.Created)
		done := b.waiting(p, waitOp())
		poll(t, "one waiter", func() bool { return b.metric("oncewall_bridge_waiters 1") })
		complete := testOp(wire.Complete, 1)
		complete.Fence = granted[0].Fence
		expect(t, b.send(p, complete), wire.OK)
		if r := await(t, done); r.Code != wire.Replayed || !bytes.Equal(r.Result, testResult()) || r.Status != 201 {
			t.Fatalf("%+v", r)
		}
		poll(t, "no waiter", func() bool { return b.metric("oncewall_bridge_waiters 0") })
		if !b.metric(`oncewall_bridge_waits_total{outcome="replayed"} 1`) {
			t.Error("the wait is not counted")
		}
		if !b.metric(`oncewall_bridge_operations_total{operation="wait",outcome="replayed"} 1`) ||
			!b.metric(`oncewall_bridge_operation_duration_seconds_count{operation="wait"} 1`) {
			t.Error("the wait is not counted among the operations")
		}
	}
}

// A wait ends in time, and says how long the lease still is.
func TestWaitEnds(t *testing.T) {
	b := start(t, embedded(t))
	p := testPolicy()
	if r, err := b.waitFor(t.Context(), p, waitOp()); err != nil || r.Code != wire.Free {
		t.Fatalf("%+v %v", r, err)
	}
	expect(t, b.send(p, testOp(wire.Claim, 1)), wire.Created)
	op := waitOp()
	op.BudgetMS = 1000
	began := time.Now()
	r, err := b.waitFor(t.Context(), p, op)
	if err != nil || r.Code != wire.InFlight || r.RetryAfterMS < 1 || r.RetryAfterMS > p.LeaseMS-500 {
		t.Fatalf("%+v %v", r, err)
	}
	if d := time.Since(began); d < 500*time.Millisecond {
		t.Errorf("ended after %v", d)
	}
	op.Fingerprint = testFingerprint(2)
	if r, err := b.waitFor(t.Context(), p, op); err != nil || r.Code != wire.KeyReused || len(r.Differs) == 0 {
		t.Fatalf("%+v %v", r, err)
	}
	p.LeaseMS = 0
	if r, err := b.waitFor(t.Context(), p, op); err != nil || r.Code != wire.Invalid {
		t.Fatalf("%+v %v", r, err)
	}
}

// The answer outlasts the time that the server gives to batches' requests.
func TestWaitIsNotCutByReadTimeout(t *testing.T) {
	if waitGrace <= maxWaitMargin || MaxWait < time.Minute {
		t.Fatal("a wait's answer has no time")
	}
	var set []time.Time
	r, _ := http.NewRequest(http.MethodPost, wire.WaitPath, bytes.NewReader(encode(t, &wire.Batch{
		Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{waitOp()}})))
	r.Header.Set("Content-Type", wire.ContentType)
	s, err := New(Config{Store: embedded(t), Keys: testRing(t)})
	if err != nil {
		t.Fatal(err)
	}
	w := &deadlines{set: &set}
	began := time.Now()
	s.DataHandler().ServeHTTP(w, r)
	if len(set) != 2 || !set[0].IsZero() || set[1].Before(began.Add(30*time.Second)) {
		t.Fatalf("%v", set)
	}
}

// deadlines is a writer that notes its deadlines.
type deadlines struct {
	discard
	set *[]time.Time
}

func (d *deadlines) Header() http.Header                { return http.Header{} }
func (d *deadlines) SetReadDeadline(t time.Time) error  { *d.set = append(*d.set, t); return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { *d.set = append(*d.set, t); return nil }

func TestWaitersAreBounded(t *testing.T) {
	b := start(t, embedded(t), func(c *Config) { c.MaxWaiters, c.MaxKeyWaiters, c.MaxInFlight = 3, 2, 1 })
	p := testPolicy()
	other := testOp(wire.Claim, 1)
	other.Key = "another"
	expect(t, b.send(p, testOp(wire.Claim, 1), other), wire.Created, wire.Created)
	otherWait := waitOp()
	otherWait.Key = "another"
	waits := []<-chan wire.Result{b.waiting(p, waitOp()), b.waiting(p, waitOp())}
	poll(t, "two waiters", func() bool { return b.metric("oncewall_bridge_waiters 2") })
	if r, err := b.waitFor(t.Context(), p, waitOp()); err != nil || r.Code != wire.TooManyWaiting {
		t.Fatalf("a third of one key: %+v %v", r, err)
	}
	waits = append(waits, b.waiting(p, otherWait))
	poll(t, "three waiters", func() bool { return b.metric("oncewall_bridge_waiters 3") })
	if r, err := b.waitFor(t.Context(), p, otherWait); err != nil || r.Code != wire.TooManyWaiting {
		t.Fatalf("a fourth: %+v %v", r, err)
	}
	// They take none of the batches' places, of which there is one.
	expect(t, b.send(p, testOp(wire.Release, 1)), wire.OK)
	for _, w := range waits[:2] {
		if r := await(t, w); r.Code != wire.Free {
			t.Fatalf("%+v", r)
		}
	}
	poll(t, "places again", func() bool { return b.metric("oncewall_bridge_waiters 1") })
	b.stop() // ends the last
	if r := await(t, waits[2]); r.Code != wire.InFlight {
		t.Fatalf("%+v", r)
	}
	if !await(t, b.done) {
		t.Error("drained, but not settled")
	}
}

// A filter that has gone does not wait.
func TestWaiterGone(t *testing.T) {
	for _, h2c := range []bool{false, true} {
		b := start(t, embedded(t))
		b.client = client(h2c)
		p := testPolicy()
		expect(t, b.send(p, testOp(wire.Claim, 1)), wire.Created)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := b.waitFor(ctx, p, waitOp()); ended <- err }()
		poll(t, "one waiter", func() bool { return b.metric("oncewall_bridge_waiters 1") })
		cancel()
		if await(t, ended) == nil {
			t.Error("answered")
		}
		poll(t, "no waiter", func() bool {
			return b.metric("oncewall_bridge_waiters 0") && b.metric(`oncewall_bridge_waits_total{outcome="client-gone"} 1`)
		})
	}
}

func TestWaitIsNoBatch(t *testing.T) {
	b := start(t, embedded(t))
	onWait := func(r *http.Request) { r.URL.Path = wire.WaitPath }
	for name, ops := range map[string][]wire.Operation{
		"a claim": {testOp(wire.Claim, 1)}, "two waits": {waitOp(), waitOp()}, "nothing": nil,
	} {
		resp, _ := b.post(encode(t, &wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: ops}), onWait)
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
	resp, _ := b.post(make([]byte, maxWaitBytes+1), onWait)
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", resp.StatusCode)
	}
	resp, _ = b.post(nil, onWait, func(r *http.Request) { r.Header.Del("Authorization") })
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", resp.StatusCode)
	}
	expect(t, b.send(testPolicy(), waitOp()), wire.Invalid)
}

// A record under an earlier name is waited for there.
func TestWaitUnderPreviousScope(t *testing.T) {
	b := start(t, embedded(t))
	p := testPolicy()
	granted := b.send(p, testOp(wire.Claim, 1))
	expect(t, granted, wire.Created)
	renamed := p
	renamed.PreviousScopes = "payments"
	op := waitOp()
	op.Scope = "pay"
	done := b.waiting(renamed, op)
	poll(t, "one waiter", func() bool { return b.metric("oncewall_bridge_waiters 1") })
	complete := testOp(wire.Complete, 1)
	complete.Fence = granted[0].Fence
	expect(t, b.send(p, complete), wire.OK)
	if r := await(t, done); r.Code != wire.Replayed {
		t.Fatalf("%+v", r)
	}
}

// A forged key is refused before anything is read.
func TestWaitForForgedKey(t *testing.T) {
	b := start(t, embedded(t))
	p := testPolicy()
	p.Issued = true
	op := waitOp()
	op.Key = "forged"
	if r, err := b.waitFor(t.Context(), p, op); err != nil || r.Code != wire.KeyNotIssued {
		t.Fatalf("%+v %v", r, err)
	}
}

// TestWaitIsTold: what a wait ends with is a line and a span as a claim's answer is,
// except that a wait which is to be asked for again is no refusal.
func TestWaitIsTold(t *testing.T) {
	b, c := traced(t, embedded(t), tracing.GRPC)
	p := testPolicy()
	first, op := testOp(wire.Claim, 1), waitOp()
	first.Trace, op.Trace = traceparent(trace1, parent1), traceparent(trace2, parent2)
	granted := b.send(p, first)
	expect(t, granted, wire.Created)
	short := op
	short.BudgetMS = 200
	if r, err := b.waitFor(t.Context(), p, short); err != nil || r.Code != wire.InFlight {
		t.Fatalf("%+v %v", r, err)
	}
	done := b.waiting(p, op)
	poll(t, "one waiter", func() bool { return b.metric("oncewall_bridge_waiters 1") })
	complete := testOp(wire.Complete, 1)
	complete.Fence = granted[0].Fence
	expect(t, b.send(p, complete), wire.OK)
	if r := await(t, done); r.Code != wire.Replayed {
		t.Fatalf("%+v", r)
	}
	reused := op
	reused.Fingerprint = testFingerprint(2)
	if r, err := b.waitFor(t.Context(), p, reused); err != nil || r.Code != wire.KeyReused {
		t.Fatalf("%+v %v", r, err)
	}

	list := spans(t, c, 4) // the completion has no trace
	for i, want := range []struct{ name, code, trace, link string }{
		{"oncewall claim", "created", trace1, ""},
		{"oncewall wait", "in-flight", trace2, trace1},
		{"oncewall wait", "replayed", trace2, trace1},
		{"oncewall wait", "key-reused", trace2, trace1},
	} {
		link := ""
		if s := list[i]; len(s.Links) == 1 {
			link = s.Links[0].TraceID
		}
		if s := list[i]; s.Name != want.name || s.Attributes["oncewall.code"] != want.code || s.TraceID != want.trace || link != want.link {
			t.Errorf("span %d: %+v, want %+v", i, s, want)
		}
	}
	name, err := b.Name(Subject{Namespace: "edge", Scope: op.Scope, Principal: op.Principal, Key: op.Key})
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "both lines", func() bool { return strings.Count(b.logs.String(), `"operation":"wait"`) >= 2 })
	lines := b.logs.String()
	for _, want := range []string{
		`"code":"replayed","class":"double-click"`, `"code":"key-reused","class":"key-reused"`,
		`"record":"` + recordHint(&name) + `","trace_id":"` + trace2 + `","first_trace_id":"` + trace1 + `"`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s is missing in %s", want, lines)
		}
	}
	if n := strings.Count(lines, `"operation":"wait"`); n != 2 {
		t.Errorf("%d lines of waits, want 2: %s", n, lines)
	}
}
