package e2e

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/shop"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestCompensation: a payment that the backend has not executed and never will is
// compensated before its key is free, by one call where that is answered; then the
// next retry runs. One that was executed is not compensated.
func TestCompensation(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.json")
	write(t, rules, shopRules(t, `{"action": "probe", "lease": "30s"}`, `{"action": "probe", "lease": "8s"}`))
	s := start(t, stack.Options{Store: stack.Cluster, Bridges: 2, Rules: rules})
	at := story.Shop{Addr: s.Shop()}
	payment := func(key string) story.Request { return story.Post("/payments", key).With("prefer", "wait=0") }
	fails := func(t *testing.T, key, fault string) {
		t.Helper()
		if a := door(t, s).Send(t.Context(), payment(key).With("x-shop-fault", fault)); a.Kind() == "201 created" {
			t.Fatalf("%s", a)
		}
	}
	again := func(t *testing.T, key string) story.Answer {
		t.Helper()
		return retryWhile(t, door(t, s), payment(key), "409 outcome-unknown", time.Minute)
	}
	calls := func(t *testing.T, key string) []shop.Compensation {
		t.Helper()
		x, err := at.Compensations(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return x.Calls
	}
	// ordered wants a run that began after the last compensation, with a higher fence.
	ordered := func(t *testing.T, key string, list []shop.Compensation) {
		t.Helper()
		x, err := at.Executions(t.Context(), key)
		if err != nil || x.Count != 1 {
			t.Fatalf("%+v, %v", x, err)
		}
		last, run := list[len(list)-1], x.Requests[0]
		if !run.At.After(last.At) {
			t.Errorf("it ran at %s, the compensation came at %s", run.At, last.At)
		}
		if fence := strings.Join(run.Headers["idempotency-fence"], ""); len(fence) < 16 || fence <= strconv.FormatInt(last.Fence, 10) {
			t.Errorf("it ran under fence %q, the compensation was for %d", fence, last.Fence)
		}
	}

	t.Run("one call, then the next retry runs", func(t *testing.T) {
		fails(t, "once", "close-before")
		wantKind(t, "the retry", again(t, "once"), "201 created")
		wantKind(t, "and another", door(t, s).Send(t.Context(), payment("once")), "201 replayed")
		list := calls(t, "once")
		if len(list) != 1 || list[0].Status != 204 || list[0].Route != "/payments" || list[0].Principal != "ada" {
			t.Fatalf("%+v", list)
		}
		ordered(t, "once", list)
	})
	t.Run("what was executed is replayed", func(t *testing.T) {
		fails(t, "done", "close-after")
		wantKind(t, "the retry", again(t, "done"), "201 replayed")
		wantRuns(t, s, "done", 1)
		if list := calls(t, "done"); len(list) != 0 {
			t.Errorf("%+v", list)
		}
	})
	t.Run("nothing is free while it fails", func(t *testing.T) {
		if err := at.AnswerCompensations(t.Context(), 503); err != nil {
			t.Fatal(err)
		}
		fails(t, "twice", "close-before")
		eventually(t, "the first call", time.Minute, func() bool { return len(calls(t, "twice")) > 0 })
		wantKind(t, "a retry", door(t, s).Send(t.Context(), payment("twice")), "409 outcome-unknown")
		wantRuns(t, s, "twice", 0)
		if err := at.AnswerCompensations(t.Context(), 204); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "the retry", again(t, "twice"), "201 created")
		list := calls(t, "twice")
		if len(list) < 2 || list[0].Status != 503 || list[len(list)-1].Status != 204 || list[0].Fence != list[len(list)-1].Fence {
			t.Fatalf("%+v", list)
		}
		ordered(t, "twice", list)
	})
}
