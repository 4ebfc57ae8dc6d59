package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// arrived waits until the backend has begun with a key.
func arrived(t *testing.T, s *stack.Stack, key string) {
	t.Helper()
	eventually(t, "the first request's arrival", 20*time.Second, func() bool {
		x, err := story.Shop{Addr: s.Shop()}.Executions(t.Context(), key)
		return err == nil && x.Count >= 1
	})
}

// number reads one line of a bridge's metrics.
func number(t *testing.T, admin, line string) float64 {
	t.Helper()
	resp, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		return -1
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, line+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// TestThousandsWait: 2,000 duplicates of one key wait, and keys of others are
// claimed beside them as if nobody did. One execution serves them all.
func TestThousandsWait(t *testing.T) {
	const duplicates, fresh = 2000, 200
	w := world(t)
	key := w.Key("crowd")
	payment := story.Post("/payments", key)
	c := client(t, w.Town.Gateway(0), story.HTTP2)
	first := make(chan story.Answer, 1)
	go func() { first <- c.Send(t.Context(), payment.With("x-shop-delay", "4s")) }()
	arrived(t, w.Town, key)
	began := time.Now()
	var crowd, others []story.Answer
	var done sync.WaitGroup
	done.Go(func() { crowd = c.SendAll(t.Context(), duplicates, payment) })
	done.Go(func() {
		requests := make([]story.Request, fresh)
		for i := range requests {
			requests[i] = story.Post("/orders", w.Key("fresh"))
		}
		others = door(t, w.Town).SendEach(t.Context(), 4, requests)
	})
	done.Wait()
	wantKind(t, "the first", <-first, "201 created")
	replayed := 0
	for _, a := range crowd {
		switch a.Kind() {
		case "201 replayed":
			replayed++
			if !bytes.Equal(a.Body, crowd[0].Body) {
				t.Fatal("two results")
			}
		default:
			t.Fatalf("a duplicate: %s\n%s", a.Kind(), a)
		}
	}
	slowest := time.Duration(0)
	for _, a := range others {
		wantKind(t, "a fresh key", a, "201 created")
		slowest = max(slowest, a.Took)
	}
	t.Logf("%d replayed after %v; the slowest of %d fresh keys took %v", replayed, time.Since(began), fresh, slowest)
	if slowest > 3*time.Second {
		t.Errorf("a fresh key took %v beside those that wait", slowest)
	}
	wantRuns(t, w.Town, key, 1)
}

// waitStack is a stack whose bridge has these limits.
func waitStack(t *testing.T, limits string) *stack.Stack {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(file, []byte("limits: {"+limits+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return start(t, stack.Options{BridgeConfig: file})
}

// TestTooManyWaiting: above the bridge's bound a duplicate is answered at once.
// Those that wait are not concerned, and one whose client leaves makes no room
// for ever: its poll ends.
func TestTooManyWaiting(t *testing.T) {
	t.Parallel()
	s := waitStack(t, "max_waiters: 1")
	c := door(t, s)
	var firsts []chan story.Answer
	for i := range 2 {
		key := fmt.Sprint("slow-", i)
		first := make(chan story.Answer, 1)
		go func() { first <- c.Send(t.Context(), story.Post("/payments", key).With("x-shop-delay", "3s")) }()
		firsts = append(firsts, first)
		arrived(t, s, key)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	waits, left := make(chan story.Answer, 1), make(chan story.Answer, 1)
	go func() { waits <- c.Send(t.Context(), story.Post("/payments", "slow-0")) }()
	eventually(t, "a waiter", 10*time.Second, func() bool { return number(t, s.BridgeAdmin(0), "oncewall_bridge_waiters") == 1 })
	go func() { left <- c.Send(ctx, story.Post("/payments", "slow-0")) }()
	over := c.Send(t.Context(), story.Post("/payments", "slow-1"))
	wantKind(t, "one too many", over, "409 too-many-waiting")
	wantProblem(t, over, true, true)
	leave()
	wantKind(t, "the client that left", <-left, story.Lost)
	wantKind(t, "the one that waits", <-waits, "201 replayed")
	for i, f := range firsts {
		wantKind(t, "a first request", <-f, "201 created")
		wantRuns(t, s, fmt.Sprint("slow-", i), 1)
	}
	eventually(t, "no waiter", 10*time.Second, func() bool { return number(t, s.BridgeAdmin(0), "oncewall_bridge_waiters") == 0 })
}

// TestPreferWait: Prefer: wait shortens the rule's wait, and the answer says so.
func TestPreferWait(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	key := w.Key("prefer")
	first := make(chan story.Answer, 1)
	go func() { first <- c.Send(t.Context(), story.Post("/payments", key).With("x-shop-delay", "3s")) }()
	arrived(t, w.Town, key)
	a := c.Send(t.Context(), story.Post("/payments", key).With("prefer", "wait=1"))
	wantKind(t, "a client that prefers a second", a, "409 in-flight")
	wantProblem(t, a, true, true)
	if a.Header.Get("Preference-Applied") != "wait=1" || a.Took < 900*time.Millisecond || a.Took > 2900*time.Millisecond {
		t.Errorf("after %v: %v", a.Took, a.Header)
	}
	if until, err := http.ParseTime(a.Header.Get("Idempotency-Lease-Until")); err != nil || time.Until(until) < 0 || time.Until(until) > 2*time.Minute {
		t.Errorf("lease until %v %v", until, err)
	}
	if !strings.Contains(a.Header.Get("Link"), `rel="describedby"`) {
		t.Errorf("link %q", a.Header.Get("Link"))
	}
	wantKind(t, "the first", <-first, "201 created")
	b := c.Send(t.Context(), story.Post("/payments", key))
	wantKind(t, "later", b, "201 replayed")
	if seen, err := http.ParseTime(b.Header.Get("Idempotency-First-Seen")); err != nil || time.Since(seen) < 2*time.Second || time.Since(seen) > time.Minute {
		t.Errorf("first seen %v %v", seen, err)
	}
}

// TestBridgeKilledWhileTheyWait: whoever waits at a bridge that dies goes on at
// the other one.
func TestBridgeKilledWhileTheyWait(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Store: stack.Cluster, Bridges: 2, Concurrency: 2})
	c := client(t, s.Gateway(0), story.HTTP2)
	for i := range 2 { // each of the bridges once
		key := fmt.Sprint("orphans-", i)
		payment := story.Post("/payments", key)
		first := make(chan story.Answer, 1)
		go func() {
			// A bridge that has just been started may have no way to the store yet.
			a := c.Send(t.Context(), payment.With("x-shop-delay", "3s"))
			for a.Kind() == "503 unavailable" && t.Context().Err() == nil {
				a = c.Send(t.Context(), payment.With("x-shop-delay", "3s"))
			}
			first <- a
		}()
		arrived(t, s, key)
		crowd := make(chan []story.Answer, 1)
		go func() { crowd <- c.SendAll(t.Context(), 100, payment) }()
		at := -1
		eventually(t, "waiters", 10*time.Second, func() bool {
			for b := range 2 {
				if number(t, s.BridgeAdmin(b), "oncewall_bridge_waiters") > 0 {
					at = b
				}
			}
			return at >= 0
		})
		name := [...]string{"bridge", "bridge-2"}[at]
		if err := s.Kill(name); err != nil {
			t.Fatalf("%v of %v", err, s.Parts())
		}
		wantKind(t, "the first", <-first, "201 created")
		for _, a := range <-crowd {
			wantKind(t, "one that waits", a, "201 replayed")
		}
		wantRuns(t, s, key, 1)
		if err := s.StartPart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
}
