package server

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestDrain: a batch under way is finished and answered while readiness fails,
// and then Run returns.
func TestDrain(t *testing.T) {
	t.Run("http1", func(t *testing.T) { testDrain(t, false) })
	t.Run("h2c", func(t *testing.T) { testDrain(t, true) })
}

func testDrain(t *testing.T, h2c bool) {
	entered, release := make(chan struct{}), make(chan struct{})
	b := start(t, &stub{do: func(ctx context.Context, ops []store.Operation) []store.Reply {
		close(entered)
		<-release
		return answering(store.Reply{Code: wire.Created}).do(ctx, ops)
	}})
	b.client = client(h2c)
	first := make(chan []wire.Result, 1)
	go func() { first <- b.send(testPolicy(), testOp(wire.Claim, 1)) }()
	await(t, entered)
	b.stop()
	poll(t, "readiness fails", func() bool {
		status, body := b.get("/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "draining")
	})
	poll(t, "no connection is accepted", func() bool {
		_, err := client(false).Get(b.url)
		return err != nil
	})
	select {
	case <-b.done:
		t.Fatal("Run returned with a batch under way")
	default:
	}
	close(release)
	expect(t, await(t, first), wire.Created)
	if !await(t, b.done) {
		t.Error("drained, but not settled")
	}
}

// TestDrainIsBounded: a store that hangs does not keep the process.
func TestDrainIsBounded(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	b := start(t, &stub{do: func(context.Context, []store.Operation) []store.Reply {
		close(entered)
		<-release
		return nil
	}}, func(c *Config) { c.DrainTimeout = 20 * time.Millisecond })
	op := testOp(wire.Claim, 1)
	op.BudgetMS = 60_000
	go func() {
		r, _ := http.NewRequest(http.MethodPost, b.url+wire.BatchPath, strings.NewReader(string(encode(t,
			&wire.Batch{Namespace: "edge", Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{op}}))))
		r.Header.Set("Authorization", "Bearer "+testSecret)
		r.Header.Set("Content-Type", wire.ContentType)
		if resp, err := b.client.Do(r); err == nil {
			resp.Body.Close()
			t.Errorf("answered %d by a store that hangs", resp.StatusCode)
		}
	}()
	await(t, entered)
	b.stop()
	if await(t, b.done) {
		t.Error("settled, with a store call under way")
	}
	if !strings.Contains(b.logs.String(), "drain cut short") {
		t.Error("not logged")
	}
}

func TestMetrics(t *testing.T) {
	st := answering(store.Reply{Code: wire.Created, Takeover: true, Restored: true, Dropped: true})
	b := start(t, st)
	done := testOp(wire.Complete, 1)
	done.Unprotected = true
	bad := testOp(wire.Claim, 1)
	bad.Kind = 77
	b.send(testPolicy(), testOp(wire.Claim, 1), done, bad)
	b.post(nil)
	_, body := b.get("/metrics")
	for _, line := range []string{
		`oncewall_bridge_operations_total{operation="claim",outcome="created"} 1`,
		`oncewall_bridge_operations_total{operation="other",outcome="invalid"} 1`,
		`oncewall_bridge_operation_duration_seconds_count{operation="complete"} 1`,
		`oncewall_bridge_batch_size_sum 3`,
		`oncewall_bridge_batch_duration_seconds_count 1`,
		`oncewall_bridge_requests_total{code="200"} 1`,
		`oncewall_bridge_requests_total{code="400"} 1`,
		`oncewall_bridge_store_batches_total 1`,
		`oncewall_bridge_store_operations_total 2`,
		`oncewall_bridge_takeovers_total 2`,
		`oncewall_bridge_restored_total 2`, `oncewall_bridge_forgotten_owners_total 2`,
		`oncewall_bridge_unprotected_completions_total 1`,
		`oncewall_build_info{`,
	} {
		if !strings.Contains(body, "\n"+line) {
			t.Errorf("no %s", line)
		}
	}
}

func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 10s", what)
		}
	}
}

// await receives from ch, and fails the test rather than waiting for ever on a
// goroutine that has failed.
func await[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20s")
		panic("unreachable")
	}
}
