package story

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
)

// Lookup: asking what became of a key, without sending the request again.
func Lookup(ctx context.Context, w *World) Result {
	s := w.begin(ctx, w.Town, "Asking about a key, and waiting for it")
	key := w.Key("ask")
	payment := Post("/payments", key)
	ask := Post("/idempotency-keys/"+url.PathEscape(key)+"?scope=payments", "").Method("GET").Body("")

	s.rowUncounted("a key that nobody used", Exactly(1, "404 key-unknown"), s.send(ask))
	first := s.later(s.door, payment.With("x-shop-delay", "700ms"))
	s.arrived(key, 1)
	asked := s.send(ask)
	waited := s.later(s.door, payment)
	hasty := s.send(payment.With("prefer", "wait=0"))
	s.rowUncounted("while the first request runs: processing", Exactly(1, "200 unmarked"), asked)
	s.holds(stateOf(asked) == "processing", []Answer{asked}, "its state must be processing")
	s.row("a duplicate that does not want to wait", Exactly(1, "409 in-flight"), key, 1, hasty)
	created, replayed := first(), waited()
	s.row("the first request, and a duplicate that waited", Exactly(1, "201 created").And(1, "201 replayed"), key, 1, created, replayed)
	s.holds(bytes.Equal(created.Body, replayed.Body), []Answer{created, replayed}, "both must be the same answer")

	asked = s.send(ask)
	s.row("asked again: completed, with its result", Exactly(1, "200 unmarked"), key, 1, asked)
	var told struct {
		State  string
		Status int
		Result struct{ Body []byte }
	}
	if !s.over {
		err := json.Unmarshal(asked.Body, &told)
		s.holds(err == nil && told.State == "completed" && told.Status == 201 && bytes.Equal(told.Result.Body, created.Body), []Answer{asked}, "it must hold the first answer")
	}
	s.row("eve asks about ada's key", Exactly(1, "404 key-unknown"), key, 1, s.send(ask.As("eve")))

	// The backend says how long its answer is worth keeping.
	key = w.Key("brief")
	brief := Post("/orders", key).With("x-shop-header", "Idempotency-TTL: 60")
	s.row("the shop answers with Idempotency-TTL: 60", Exactly(1, "201 created"), key, 1, s.send(brief))
	again := s.send(brief)
	s.row("its retry", Exactly(1, "201 replayed"), key, 1, again)
	left := number(again.Header.Get("Idempotency-Expires-In"))
	s.holds(left > 0 && left <= 60, []Answer{again}, "it must expire in at most 60 s, not in the rule's 24 h")
	return s.end()
}

// stateOf is the state in an answer about a key.
func stateOf(a Answer) string {
	var told struct{ State string }
	if json.Unmarshal(a.Body, &told) != nil {
		return ""
	}
	return told.State
}
