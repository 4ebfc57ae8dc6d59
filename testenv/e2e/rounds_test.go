package e2e

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestRounds sends 20 identical orders at one instant, round after round, with a
// new key each round. Connections are kept, so that both workers get some.
func TestRounds(t *testing.T) {
	rounds := 200
	if long {
		rounds = 5000
	}
	w := world(t)
	c := door(t, w.Town)
	for round := range rounds {
		key := w.Key("round")
		wantOneResult(t, round, c.SendAll(t.Context(), 20, story.Post("/orders", key)))
		wantRuns(t, w.Town, key, 1)
	}
}

// TestRoundsThroughTwoGateways is the same through two Envoys, which share
// nothing but the store.
func TestRoundsThroughTwoGateways(t *testing.T) {
	rounds := 50
	if long {
		rounds = 2000
	}
	w := world(t)
	doors := []*story.Client{door(t, w.Town), client(t, w.Town.Gateway(1), story.HTTP2)}
	for round := range rounds {
		key := w.Key("round")
		answers := make([][]story.Answer, len(doors))
		var done sync.WaitGroup
		for i, c := range doors {
			done.Go(func() { answers[i] = c.SendAll(t.Context(), 10, story.Post("/orders", key)) })
		}
		done.Wait()
		wantOneResult(t, round, slices.Concat(answers...))
		wantRuns(t, w.Town, key, 1)
	}
}

// wantOneResult wants one result, told to at least one client, and refusals for
// the others.
func wantOneResult(t *testing.T, round int, answers []story.Answer) {
	t.Helper()
	var result []byte
	created := 0
	for _, a := range answers {
		switch kind := a.Kind(); kind {
		case "201 created", "201 replayed":
			if kind == "201 created" {
				created++
			}
			if result == nil {
				result = a.Body
			}
			if !bytes.Equal(result, a.Body) {
				t.Fatalf("round %d: two results:\n%s\n%s", round, result, a.Body)
			}
		case "409 in-flight":
		default:
			t.Fatalf("round %d: got %s\n%s", round, kind, a)
		}
	}
	if created != 1 {
		t.Fatalf("round %d: %s, want 201 created once", round, story.Count(answers...))
	}
}
