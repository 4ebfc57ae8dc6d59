package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

const debugHeader = "x-oncewall-debug"

// TestTrap makes the filter panic in each of its callbacks. Envoy lives, the
// request is answered and never let through by the fault, the fault is counted,
// another worker of the core takes over, and what is around it does not suffer.
func TestTrap(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Debug: true})
	c, near := door(t, s), door(t, s)
	pid := s.PID(stack.GatewayPart(0))
	for _, trap := range []struct {
		where string
		kinds []string // of the answer
		runs  int      // -1: either
	}{
		{"trap", []string{"500 misconfigured"}, 0},
		{"trap-rule", []string{"500 misconfigured"}, 0},
		{"trap-request-body", []string{"500 misconfigured"}, 0},
		{"trap-answer", []string{"500 misconfigured"}, 0},
		{"trap-response-headers", []string{"500 misconfigured"}, 1},
		{"trap-response-body", []string{"500 misconfigured"}, 1},
		{"trap-log", []string{"201 created"}, 1},
		// The tick may come before the claim is answered or after it.
		{"trap-tick", []string{"500 misconfigured", "201 created"}, -1},
	} {
		t.Run(trap.where, func(t *testing.T) {
			for i := range 2 {
				before := counter(t, s, "panic")
				// Another request is under way meanwhile, and waits for upstream.
				other := make(chan story.Answer, 1)
				go func() {
					other <- near.Send(t.Context(), story.Post("/orders", fmt.Sprint("near-", trap.where, i)).With("x-shop-delay", "300ms"))
				}()
				eventually(t, "the other request is forwarded", 20*time.Second, func() bool {
					x, err := story.Shop{Addr: s.Shop()}.Executions(t.Context(), fmt.Sprint("near-", trap.where, i))
					return err == nil && x.Count == 1
				})
				key := fmt.Sprint(trap.where, i)
				order := story.Post("/orders", key)
				a := c.Send(t.Context(), order.With(debugHeader, trap.where))
				if !contains(trap.kinds, a.Kind()) {
					t.Fatalf("got %s, want one of %v\n%s", a.Kind(), trap.kinds, a)
				}
				if trap.runs >= 0 {
					wantRuns(t, s, key, trap.runs)
				}
				eventually(t, "the panic is counted", 20*time.Second, func() bool { return counter(t, s, "panic") == before+1 })
				wantKind(t, "the other one", <-other, "201 created")
				next := story.Post("/orders", key+"-next")
				wantKind(t, "the next one", c.Send(t.Context(), next), "201 created")
				wantKind(t, "its retry", c.Send(t.Context(), next), "201 replayed")
				wantRuns(t, s, key+"-next", 1)
				if trap.where == "trap-response-headers" || trap.where == "trap-response-body" {
					// It was forwarded: nobody has to wait for the end of its lease to learn
					// that its outcome is not known.
					wantKind(t, "the same again", retryWhile(t, c, order, "409 in-flight", 5*time.Second), "409 outcome-unknown")
				}
				if trap.runs == 0 {
					// Nothing was forwarded, so that the key is free, at once or as soon as the
					// claim that was in the air is given back.
					wantKind(t, "the same again", retryWhile(t, c, order, "409 in-flight", 20*time.Second), "201 created")
				}
			}
		})
	}
	if n := counter(t, s, "reloaded"); n < 2 {
		t.Errorf("the core was started again %d times", n)
	}
	if stat(t, s, "wasm.envoy.wasm.runtime.v8.active") == 0 || stat(t, s, "wasm.oncewall.vm_reload_success") != 0 {
		t.Error("the VM did not survive")
	}
	if s.PID(stack.GatewayPart(0)) != pid {
		t.Error("Envoy was started again")
	}
	wantIdle(t, s)
}

// TestFatal ends the VM as Go does when it has no memory left, which nothing in
// it can survive: Envoy refuses the request and starts another.
func TestFatal(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Debug: true})
	c := door(t, s)
	for i := range 2 {
		order := story.Post("/orders", fmt.Sprint("fatal-", i))
		if a := c.Send(t.Context(), order.With(debugHeader, "fatal")); a.Status != 503 {
			t.Fatalf("the request: %s", a)
		}
		wantRuns(t, s, fmt.Sprint("fatal-", i), 0)
		var a story.Answer
		eventually(t, "another VM", 30*time.Second, func() bool {
			a = c.Send(t.Context(), order)
			return a.Status != 503
		})
		wantKind(t, "the same again", a, "201 created")
		wantKind(t, "its retry", c.Send(t.Context(), order), "201 replayed")
		if n := stat(t, s, "wasm.oncewall.vm_reload_success"); n != i+1 {
			t.Fatalf("%d VMs were started", n)
		}
	}
}

// TestTrapIsForTests: without ONCEWALL_DEBUG the header means nothing.
func TestTrapIsForTests(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{})
	c := door(t, s)
	for _, where := range []string{"trap", "trap-answer", "trap-tick", "trap-log", "fatal"} {
		wantKind(t, where, c.Send(t.Context(), story.Post("/orders", where).With(debugHeader, where)), "201 created")
	}
	if n := counter(t, s, "panic"); n != 0 {
		t.Errorf("%d panics", n)
	}
}

func contains(all []string, s string) bool {
	for _, v := range all {
		if v == s {
			return true
		}
	}
	return false
}

// counter reads one of the filter's counters or gauges.
func counter(t *testing.T, s *stack.Stack, name string) int {
	t.Helper()
	return stat(t, s, "wasmcustom.idempotency."+name)
}

// stat reads one of Envoy's; 0 where there is none.
func stat(t *testing.T, s *stack.Stack, name string) int {
	t.Helper()
	for line := range strings.Lines(string(page(t, "http://"+s.GatewayAdmin(0)+"/stats?filter="+name))) {
		if v, ok := strings.CutPrefix(line, name+": "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(v))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// wantIdle wants nothing to be left of streams that have ended.
func wantIdle(t *testing.T, s *stack.Stack) {
	t.Helper()
	for _, name := range []string{"open_streams", "pending_operations", "waiting", "callouts_under_way", "body_bytes"} {
		eventually(t, name+" at 0", 60*time.Second, func() bool { return counter(t, s, name) == 0 })
	}
	eventually(t, "no request under way", 30*time.Second, func() bool { return stat(t, s, "http.gateway.downstream_rq_active") == 0 })
}
