package story

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// bridgeTimeout is bridge.timeout in the demo's rules; answerSlack is what a busy
// machine may add to it.
const (
	bridgeTimeout = time.Second
	answerSlack   = 2 * time.Second
)

// BridgeKilled: the store is away, and every rule says what that means for its
// business.
func BridgeKilled(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The bridge is killed")
	before := w.Key("before")
	done := s.send(Post("/orders", before))
	s.row("an order, before", Exactly(1, "201 created"), before, 1, done)
	s.must(s.stack.Kill(stack.BridgePart(0)))

	key := w.Key("order")
	order := Post("/orders", key)
	refused := s.send(order)
	s.row("/orders, unavailable: reject", Exactly(1, "503 unavailable"), key, 0, refused)
	s.holds(refused.Header.Get("Retry-After") != "", []Answer{refused}, "it must say when to come back")
	s.holds(refused.Took < bridgeTimeout+answerSlack, []Answer{refused}, "it must be answered within the bridge's timeout of %s", bridgeTimeout)

	up := w.Key("upload")
	upload := Post("/uploads", up)
	passed := s.send(upload)
	s.row("/uploads, unavailable: forward", Exactly(1, "201 unprotected"), up, 1, passed)
	x, err := s.shop.Executions(ctx, up)
	s.must(err)
	told := !s.over && len(x.Requests) == 1 && fmt.Sprint(x.Requests[0].Headers["idempotency-status"]) == "[unprotected]"
	s.holds(told, []Answer{passed}, "the backend must be told too that the request was not protected")

	s.must(s.stack.StartPart(ctx, stack.BridgePart(0)))
	s.await("the completion of the unprotected upload", 20*time.Second, func() (bool, error) {
		n, err := s.completions()
		return n > 0, err
	})
	again := s.send(upload)
	s.row("the bridge is back: the upload was recorded late", Exactly(1, "201 replayed"), up, 1, again)
	s.holds(bytes.Equal(passed.Body, again.Body), []Answer{passed, again}, "it must be the same answer")
	s.row("the refused order runs now", Exactly(1, "201 created"), key, 1, s.send(order))
	if w.Store == stack.Cluster {
		// The embedded store has died with the bridge; Redis has not.
		s.row("the order from before", Exactly(1, "201 replayed"), before, 1, s.send(Post("/orders", before)))
	}
	return s.end()
}

// completions asks the bridge how many completions of unprotected requests it
// has recorded since it started.
func (s *stage) completions() (int, error) {
	b, err := get(s.ctx, "http://"+s.stack.BridgeAdmin(0)+"/metrics")
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(string(b), "\n") {
		if v, ok := strings.CutPrefix(line, "oncewall_bridge_unprotected_completions_total "); ok {
			return strconv.Atoi(v)
		}
	}
	return 0, fmt.Errorf("bridge: the metric of unprotected completions is missing")
}

// BridgeFrozen: the bridge's port is open and nobody answers (SIGSTOP). A
// request must not hang with it.
func BridgeFrozen(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The bridge is frozen")
	key, up := w.Key("order"), w.Key("upload")
	s.must(s.stack.Pause(stack.BridgePart(0)))
	upload := s.later(s.door, Post("/uploads", up))
	refused := s.send(Post("/orders", key))
	passed := upload()
	s.must(s.stack.Resume(stack.BridgePart(0)))
	s.row("/orders, unavailable: reject", Exactly(1, "503 unavailable"), key, 0, refused)
	s.row("/uploads, unavailable: forward", Exactly(1, "201 unprotected"), up, 1, passed)
	for _, a := range []Answer{refused, passed} {
		s.holds(a.Took < bridgeTimeout+answerSlack, []Answer{a}, "it must be answered within the bridge's timeout of %s", bridgeTimeout)
	}
	// The bridge finds the refused order's claim in its socket, and behind it the
	// release that the gateway sent after it: well before the claim's lease of
	// 10 s ends the order is free.
	got := s.retryUntil(s.door, Post("/orders", key), 5*time.Second, "503 unavailable", "409 in-flight")
	s.row("the bridge goes on: the order runs", Exactly(1, "201 created").Rest("503 unavailable", "409 in-flight"), key, 1, got...)
	return s.end()
}

// BridgeAwayLocal: no bridge, and a rule under which the workers of an Envoy then
// deduplicate among themselves.
func BridgeAwayLocal(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The bridge is killed: unavailable: local")
	s.must(s.stack.Kill(stack.BridgePart(0)))
	key := w.Key("local")
	booking := Post("/bookings", key)
	passed := s.send(booking)
	repeats := []Answer{s.send(booking), s.send(booking)}
	s.must(s.stack.StartPart(ctx, stack.BridgePart(0)))
	s.row("/bookings: the first goes through, marked", Exactly(1, "201 unprotected"), key, 1, passed)
	s.row("its repeats do not", Exactly(2, "409 response-not-kept"), key, 1, repeats...)
	got := s.retryUntil(s.door, booking, 20*time.Second, "409 response-not-kept", "503 unavailable")
	s.row("the bridge is back, and was told of it", Exactly(1, "201 replayed").Rest("409 response-not-kept", "503 unavailable"), key, 1, got...)
	if n := len(got); n > 0 {
		s.holds(bytes.Equal(passed.Body, got[n-1].Body), []Answer{passed, got[n-1]}, "it must be the same answer")
	}
	return s.end()
}
