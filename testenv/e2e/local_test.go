package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestLocal takes the bridge away from a rule with unavailable: local. The four
// workers of the Envoy let one of simultaneous first requests through, the bridge
// learns of it when it is back, and no key ran twice.
func TestLocal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.json")
	text := shopRules(t)
	at := strings.Index(text, `"name": "orders"`)
	rest := strings.Replace(text[at:], `"unavailable": "reject"`, `"unavailable": "local"`, 1)
	write(t, file, text[:at]+rest)
	s := start(t, stack.Options{Concurrency: 4, Rules: file})
	const each = 8
	var clients []*story.Client
	for range each {
		clients = append(clients, door(t, s))
	}
	together := func(r story.Request) []story.Answer {
		answers := make([]story.Answer, each)
		var all sync.WaitGroup
		for i, c := range clients {
			all.Go(func() { answers[i] = c.Send(t.Context(), r) })
		}
		all.Wait()
		return answers
	}
	together(story.Post("/orders", "local-warm"))

	bridge := stack.BridgePart(0)
	if err := s.Kill(bridge); err != nil {
		t.Fatal(err)
	}
	rounds := 40
	if long {
		rounds = 10_000
	}
	for i := range rounds {
		key := fmt.Sprint("local-", i)
		won := 0
		for _, a := range together(story.Post("/orders", key).With("x-shop-delay", "5ms")) {
			switch a.Kind() {
			case "201 unprotected":
				won++
			case "409 in-flight", "409 response-not-kept":
			default:
				t.Fatalf("round %d: %s", i, a)
			}
		}
		if won != 1 {
			t.Fatalf("round %d: %d requests went through", i, won)
		}
		wantRuns(t, s, key, 1)
		wantKind(t, "a later repeat", clients[i%each].Send(t.Context(), story.Post("/orders", key).With("x-shop-delay", "5ms")), "409 response-not-kept")
	}
	other := story.Post("/orders", "local-0").Body(`{"other": true}`)
	wantKind(t, "another request with a used key", clients[0].Send(t.Context(), other), "422 key-reused")

	if err := s.StartPart(t.Context(), bridge); err != nil {
		t.Fatal(err)
	}
	// All completions come back at once, to a store that takes about one in a millisecond.
	limit := 30*time.Second + time.Duration(rounds)*10*time.Millisecond
	for i := range rounds {
		key := fmt.Sprint("local-", i)
		eventually(t, "the recorded result of "+key, limit, func() bool {
			a := clients[i%each].Send(t.Context(), story.Post("/orders", key).With("x-shop-delay", "5ms"))
			switch a.Kind() {
			case "201 replayed":
				return true
			case "409 response-not-kept", "503 unavailable":
				return false
			}
			t.Fatalf("on the way back: %s", a)
			return false
		})
		wantRuns(t, s, key, 1)
	}
	wantKind(t, "a new key", clients[0].Send(t.Context(), story.Post("/orders", "local-after")), "201 created")
}
