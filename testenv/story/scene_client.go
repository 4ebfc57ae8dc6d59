package story

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
)

// FirstAndRetry: the client did not hear the answer, and asks again.
func FirstAndRetry(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "A first request and its retry")
	key := w.Key("first")
	order := Post("/orders", key)

	first := s.send(order)
	s.row("the first request", Exactly(1, "201 created"), key, 1, first)

	retry := s.send(order)
	s.row("the retry: recorded answer, marked", Exactly(1, "201 replayed"), key, 1, retry)
	both := []Answer{first, retry}
	s.holds(bytes.Equal(first.Body, retry.Body), both, "the body of the retry must be the first one's, byte for byte")
	s.holds(retry.Header.Get("Idempotent-Replayed") == "true", both, "the retry must carry Idempotent-Replayed: true")
	s.holds(first.Header.Get("Idempotent-Replayed") == "", both, "the first answer must not carry Idempotent-Replayed")
	s.holds(first.Header.Get("Content-Type") == retry.Header.Get("Content-Type"), both, "the retry must carry the first one's Content-Type")
	age, err := strconv.Atoi(retry.Header.Get("Idempotency-Age"))
	s.holds(err == nil && age >= 0 && age < 60, both, "Idempotency-Age must be the record's age in seconds")
	left, err := strconv.Atoi(retry.Header.Get("Idempotency-Expires-In"))
	s.holds(err == nil && left > 0, both, "Idempotency-Expires-In must be the seconds that the record has left")

	quoted := s.send(order.Key(`"` + key + `"`))
	s.row("the key as a quoted string: the same key", Exactly(1, "201 replayed"), key, 1, quoted)
	spaced := s.send(order.Body("{ \"amount\": 1.0,\n \"item\": \"l\\u0061mp\" }"))
	s.row("the same JSON in another spelling", Exactly(1, "201 replayed"), key, 1, spaced)
	return s.end()
}

// ConcurrentDuplicates: fifty clicks at one instant.
func ConcurrentDuplicates(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "50 concurrent duplicates")
	key := w.Key("click")
	order := Post("/orders", key).With("x-shop-delay", "300ms")
	const clicks = 50

	got := s.sendAll(clicks, order)
	s.row("rule in_flight: reject", Exactly(1, "201 created").Rest("409 in-flight", "201 replayed"), key, 1, got...)
	for _, a := range got {
		if a.Kind() == "409 in-flight" {
			wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
			s.holds(err == nil && wait >= 1 && wait <= 10, []Answer{a}, "an in-flight answer must say when to come back, at most the lease of 10 s")
		}
	}
	s.row("one of them again", Exactly(1, "201 replayed"), key, 1, s.send(order))

	key = w.Key("pay")
	got = s.sendAll(clicks, Post("/payments", key).With("x-shop-delay", "300ms"))
	s.row("rule in_flight: wait", Exactly(1, "201 created").And(clicks-1, "201 replayed"), key, 1, got...)
	for _, a := range got {
		s.holds(bytes.Equal(a.Body, got[0].Body), []Answer{got[0], a}, "all bodies must be equal")
	}
	return s.end()
}

// ChangedBody: a client that uses its key again for something else.
func ChangedBody(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "The same key for another request")
	key := w.Key("changed")
	order := Post("/orders", key)
	s.row("the first request", Exactly(1, "201 created"), key, 1, s.send(order))

	other := s.send(order.Body(`{"item":"lamp","amount":1000}`))
	s.row("another body", Exactly(1, "422 key-reused"), key, 1, other)
	s.holds(slices.Equal(other.Problem().Parts, []string{"body"}), []Answer{other}, `the problem's parts must be ["body"]`)

	other = s.send(Request{method: "PATCH", path: "/orders?gift=1", header: order.header, body: order.body})
	s.row("another method and query", Exactly(1, "422 key-reused"), key, 1, other)
	parts := other.Problem().Parts
	slices.Sort(parts)
	s.holds(len(parts) == 2 && !slices.Contains(parts, "body"), []Answer{other}, "the problem's parts must name the method and the part of the target that differ, got %q", parts)

	s.row("the first body again", Exactly(1, "201 replayed"), key, 1, s.send(order))
	return s.end()
}

// RefusedKeys: keys that are none. No store is asked, and nothing runs.
func RefusedKeys(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "No key, and keys that are none")
	tag := w.Key("refused")
	bare := Post("/orders", "").With("x-shop-tag", tag)
	invalid := func(value string) Answer { return s.send(bare.Key(value)) }

	s.rowUncounted("no key", Exactly(1, "400 key-missing"), s.send(bare))
	s.rowUncounted("two lines, a list, a tab inside, 256 bytes, an empty string, an open quote", Exactly(6, "400 key-invalid"),
		s.send(bare.With("idempotency-key", "a").With("idempotency-key", "b")),
		invalid("a, b"), invalid("a\tb"), invalid(strings.Repeat("k", 256)), invalid(`""`), invalid(`"a`))
	s.rowUncounted("255 bytes are a key", Exactly(1, "201 created"), invalid(tag+strings.Repeat("k", 255-len(tag))))
	s.rowUncounted("no principal", Exactly(1, "401 principal-missing"), s.send(bare.Key(w.Key("nobody")).As("")))
	s.rowUncounted("the key is optional for /uploads: passed", Exactly(1, "201 unmarked"), s.send(Post("/uploads", "").With("x-shop-tag", tag)))
	x, err := s.shop.Tagged(s.ctx, tag)
	s.must(err)
	s.add(Row{Step: "of all these the backend ran", Saw: "-", Expected: "-", Ran: x.Count, WantRan: 2, OK: x.Count == 2 || s.over})
	return s.end()
}

// OtherPrincipal: two callers who chose the same key.
func OtherPrincipal(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "Two callers, one key")
	key := w.Key("shared")
	order := Post("/orders", key)
	ada := s.send(order.As("ada"))
	s.row("ada", Exactly(1, "201 created"), key, 1, ada)
	eve := s.send(order.As("eve"))
	s.row("eve with ada's key: an order of her own", Exactly(1, "201 created"), key, 2, eve)
	s.holds(!bytes.Equal(ada.Body, eve.Body), []Answer{ada, eve}, "eve must not see ada's answer")
	again := s.send(order.As("ada"))
	s.row("ada again: her own answer", Exactly(1, "201 replayed"), key, 2, again)
	s.holds(bytes.Equal(ada.Body, again.Body), []Answer{ada, again}, "ada must see her own answer")
	return s.end()
}
