package e2e

import (
	"bytes"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestRounds sends 20 identical orders at one instant, round after round, with a
// new key each round. Connections are kept, so that both workers get some.
func TestRounds(t *testing.T) {
	rounds := 200
	if long {
		rounds = 2000
	}
	w := world(t)
	c := door(t, w.Town)
	for round := range rounds {
		key := w.Key("round")
		answers := c.SendAll(t.Context(), 20, story.Post("/orders", key))
		var result []byte
		for _, a := range answers {
			switch kind := a.Kind(); kind {
			case "201 created", "201 replayed":
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
		if result == nil {
			t.Fatalf("round %d: nobody was told the result: %s", round, story.Count(answers...))
		}
		wantRuns(t, w.Town, key, 1)
	}
}
