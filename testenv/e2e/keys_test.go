package e2e

import (
	"fmt"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestKeysFromBodies: a transfer names itself, and a payment provider's callback
// carries neither a header of ours nor a user.
func TestKeysFromBodies(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	id := w.Key("transfer")
	transfer := story.Post("/transfers", "").Body(fmt.Sprintf(`{"transfer_id":%q,"amount":1}`, id))
	wantKind(t, "a transfer", c.Send(t.Context(), transfer), "201 created")
	wantKind(t, "its retry", c.Send(t.Context(), transfer), "201 replayed")
	wantKind(t, "members in another order", c.Send(t.Context(), transfer.Body(fmt.Sprintf(`{"amount":1.00, "transfer_id":%q}`, id))), "201 replayed")
	wantKind(t, "another amount", c.Send(t.Context(), transfer.Body(fmt.Sprintf(`{"transfer_id":%q,"amount":2}`, id))), "422 key-reused")
	wantRuns(t, w.Town, id, 1)

	id = w.Key("event")
	callback := func(kind string) story.Request {
		return story.Post("/callbacks/psp", "").As("").Body(fmt.Sprintf(`{"type":%q,"id":%q}`, kind, id)).With("x-shop-delay", "200ms")
	}
	answers := c.SendAll(t.Context(), 10, callback("paid"))
	if got := story.Count(answers...); got["201 created"] != 1 || got["201 replayed"] != 9 {
		t.Errorf("ten callbacks at once: %s", got)
	}
	wantKind(t, "an event of another type", c.Send(t.Context(), callback("refunded")), "201 created")
	wantRuns(t, w.Town, "paid:"+id, 1)
	wantRuns(t, w.Town, "refunded:"+id, 1)
}

// TestSpellings sends orders without a key under other spellings of their path.
// Each must be refused, or be sent back to its one spelling; none may pass by
// the rule.
func TestSpellings(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	tag := w.Key("spelling")
	for _, path := range []string{
		"/orders", "/orders/", "/orders?x=1", "//orders", "/./orders", "/x/../orders", "/%6Frders", "/orders%2Fnew", "/orders/../orders", "/x/%2e%2e/orders",
	} {
		a := c.Send(t.Context(), story.Post(path, "").With("x-shop-tag", tag))
		if sentBack := a.Status == 307 && a.Header.Get("Location") != ""; a.Kind() != "400 key-missing" && !sentBack {
			t.Errorf("%s: %s", path, a)
		}
	}
	x, err := story.Shop{Addr: w.Town.Shop()}.Tagged(t.Context(), tag)
	if err != nil || x.Count != 0 {
		t.Errorf("%d of them reached the shop (%v)", x.Count, err)
	}
}
