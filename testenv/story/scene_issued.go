package story

import (
	"context"
	"encoding/json"
	"time"
)

// issued is the answer to a request for a key.
type issued struct {
	Key       string    `json:"key"`
	ExpiresAt time.Time `json:"expires_at"`
}

// issue asks the gateway for a key.
func (s *stage) issue(scope string) issued {
	a := s.send(Post("/idempotency-keys", "").Body(`{"scope":"` + scope + `"}`))
	s.rowUncounted("a key for "+scope, Exactly(1, "201 issued"), a)
	s.holds(a.Header.Get("Cache-Control") == "no-store", []Answer{a}, "a key must not be cached")
	var k issued
	if !s.over {
		err := json.Unmarshal(a.Body, &k)
		s.holds(err == nil && k.Key != "" && k.ExpiresAt.After(time.Now()), []Answer{a}, "the body must hold a key and its end: %v", err)
	}
	return k
}

// forged changes the last characters of a key's middle, which the signature
// covers.
func forged(key string) string {
	b := []byte(key)
	if len(b) > 0 {
		i := len(b) / 2
		if b[i] == 'A' {
			b[i] = 'B'
		} else {
			b[i] = 'A'
		}
	}
	return string(b)
}

// IssuedKeys: one-time tokens, spent once.
func IssuedKeys(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "Keys that the gateway issues")
	k := s.issue("checkout")
	checkout := Post("/checkout", k.Key)

	s.row("forged", Exactly(1, "400 key-not-issued"), forged(k.Key), 0, s.send(checkout.Key(forged(k.Key))))
	s.row("spent by eve: refused, not consumed", Exactly(1, "403 key-foreign"), k.Key, 0, s.send(checkout.As("eve")))
	s.row("spent on another operation: the same", Exactly(1, "403 key-foreign"), k.Key, 0, s.send(Post("/refunds", k.Key)))
	s.row("spent", Exactly(1, "201 created"), k.Key, 1, s.send(checkout))
	again := s.send(checkout)
	s.row("spent twice", Exactly(1, "409 key-used"), k.Key, 1, again)
	s.holds(again.Problem().OriginalStatus == 201, []Answer{again}, "the problem must name the original status 201")

	k = s.issue("checkout")
	s.row("another key, 50 times at once", Exactly(1, "201 created").Rest("409 in-flight", "409 key-used"), k.Key, 1,
		s.sendAll(50, Post("/checkout", k.Key).With("x-shop-delay", "100ms"))...)
	return s.end()
}

// IssuedKeyExpires: a token that was kept too long.
func IssuedKeyExpires(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Mesh, "An issued key past its life")
	k := s.issue("checkout")
	if !s.over {
		// The end is told in whole seconds, rounded down.
		s.pause(time.Until(k.ExpiresAt) + time.Second)
	}
	s.row("spent after its end", Exactly(1, "410 key-expired"), k.Key, 0, s.send(Post("/checkout", k.Key)))
	return s.end()
}
