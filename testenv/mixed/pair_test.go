package mixed

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestPreviousPlugin: the filters are upgraded after the bridges.
func TestPreviousPlugin(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Wasm: []string{old(t).Wasm}})
	exercise(t, s)
}

// TestPreviousBridge: a bridge was forgotten, or an upgrade is taken back.
func TestPreviousBridge(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{BridgeProgram: old(t).Bridge})
	exercise(t, s)
	a := door(t, s, 0).Send(t.Context(), story.Post("/idempotency-keys/replayed?scope=orders", "").Method("GET").Body(""))
	want(t, "a lookup, which such a bridge does not know", a, "503 unavailable")
}

// exercise plays what every pair of versions must do alike.
func exercise(t *testing.T, s *stack.Stack) {
	c := door(t, s, 0)
	send := func(r story.Request) story.Answer { return c.Send(t.Context(), r) }

	// Its connection breaks, and its lease runs while the rest is played.
	broken := story.Post("/notes", "broken").With("x-shop-fault", "close-after")
	begun := time.Now()
	first := send(broken)
	if first.Status/100 == 2 {
		t.Errorf("a broken request: %s", first)
	}

	order := story.Post("/orders", "replayed")
	created := send(order)
	want(t, "an order", created, "201 created")
	repeated := send(order)
	want(t, "its retry", repeated, "201 replayed")
	if string(repeated.Body) != string(created.Body) {
		t.Errorf("the retry got %q, the first %q", repeated.Body, created.Body)
	}
	want(t, "another order under its key", send(order.Body(`{"item":"lamp","amount":2}`)), "422 key-reused")
	want(t, "somebody else's", send(order.As("bob")), "201 created")
	if n := runs(t, s, "replayed"); n != 2 {
		t.Errorf("the backend ran %d times for two people's orders", n)
	}

	twins := story.Post("/orders", "twins").With("x-shop-delay", "400ms")
	if got, want := story.Count(c.SendAll(t.Context(), 4, twins)...), story.Exactly(1, "201 created").And(3, "409 in-flight"); !want.Met(got) {
		t.Errorf("four at once: %s, want %s", got, want)
	}
	waiting := story.Post("/payments", "waiting").With("x-shop-delay", "400ms")
	if got, want := story.Count(c.SendAll(t.Context(), 4, waiting)...), story.Exactly(1, "201 created").And(3, "201 replayed"); !want.Met(got) {
		t.Errorf("four that wait: %s, want %s", got, want)
	}
	for _, key := range []string{"twins", "waiting"} {
		if n := runs(t, s, key); n != 1 {
			t.Errorf("%s: the backend ran %d times", key, n)
		}
	}

	token := issued(t, c, "checkout")
	checkout := story.Post("/checkout", token)
	want(t, "a checkout", send(checkout), "201 created")
	want(t, "its repeat", send(checkout), "409 key-used")
	want(t, "somebody else's key", send(story.Post("/checkout", issued(t, c, "checkout")).As("bob")), "403 key-foreign")
	want(t, "a key for something else", send(story.Post("/refunds", issued(t, c, "checkout"))), "403 key-foreign")
	want(t, "a forged key", send(story.Post("/checkout", "forged")), "400 key-not-issued")

	// The rule's lease is 4 s; then another may take it over.
	var taken story.Answer
	eventually(t, "the broken request is taken over", time.Until(begun)+30*time.Second, func() bool {
		taken = send(broken.Without("x-shop-fault"))
		return taken.Kind() != "409 in-flight" && taken.Kind() != "409 outcome-unknown"
	})
	want(t, "a take-over", taken, "201 created")
	if n := runs(t, s, "broken"); n != 2 {
		t.Errorf("the backend ran %d times for a request that was taken over", n)
	}
}
