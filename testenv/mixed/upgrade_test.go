package mixed

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestUpgrade replaces two bridges of the previous version one after the other, on a
// Redis Cluster, while gateways of both versions are under load. No key runs twice;
// every request is answered in the end, and its retry through the other gateway
// with the same result, whichever version has made the record.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	p := old(t)
	s := start(t, stack.Options{Store: stack.Cluster, Bridges: 2, Gateways: 2, BridgeProgram: p.Bridge, Wasm: []string{p.Wasm}})
	doors := []*story.Client{door(t, s, 0), door(t, s, 1)}

	var stop atomic.Bool
	var mu sync.Mutex
	results := map[string]string{} // body by key
	transfer := func(key string) story.Request {
		return story.Post("/transfers", "").Body(fmt.Sprintf(`{"transfer_id":%q,"amount":1}`, key))
	}
	// settle sends a transfer until it is done, through both gateways in turn.
	settle := func(key string, from int) (body string, ok bool) {
		kinds := story.Tally{}
		for i := range 200 {
			a := doors[(from+i)%2].Send(t.Context(), transfer(key))
			kinds[a.Kind()]++
			switch a.Kind() {
			case "201 created", "201 replayed":
				return string(a.Body), true
			case "503 unavailable", "409 in-flight", "409 outcome-unknown":
				<-time.After(50 * time.Millisecond)
			default:
				t.Errorf("%s: %s", key, a)
				return "", false
			}
		}
		t.Errorf("%s: never done: %s", key, kinds)
		return "", false
	}
	var load sync.WaitGroup
	for worker := range 4 {
		load.Go(func() {
			for n := 0; !stop.Load(); n++ {
				key := fmt.Sprintf("load-%d-%d", worker, n)
				if body, ok := settle(key, worker+n); ok {
					mu.Lock()
					results[key] = body
					mu.Unlock()
				}
				<-time.After(10 * time.Millisecond)
			}
		})
	}
	done := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(results)
	}
	more := func(what string) {
		t.Helper()
		from := done()
		eventually(t, what, 30*time.Second, func() bool { return done() >= from+40 })
	}
	more("load before the upgrade")
	for i := range 2 {
		name := stack.BridgePart(i)
		if err := s.SetProgram(name, ""); err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(name); err != nil {
			t.Fatal(err)
		}
		if err := s.StartPart(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		more(fmt.Sprintf("load after bridge %d is new", i))
	}
	stop.Store(true)
	load.Wait()

	// The gateway of this version says again what only the new bridges know.
	eventually(t, "a lookup", 20*time.Second, func() bool {
		a := doors[1].Send(t.Context(), story.Post("/idempotency-keys/load-0-0?scope=transfers", "").Method("GET").Body(""))
		if a.Status != 200 && a.Status != 503 {
			t.Fatalf("a lookup: %s", a)
		}
		return a.Status == 200
	})
	for key, body := range results {
		for i, d := range doors {
			if a := d.Send(t.Context(), transfer(key)); a.Kind() != "201 replayed" || string(a.Body) != body {
				t.Errorf("%s through gateway %d: %s, want %q", key, i, a, body)
			}
		}
		if n := runs(t, s, key); n != 1 {
			t.Errorf("%s: the backend ran %d times", key, n)
		}
	}
	// What the new version records, the gateway of the previous one repeats.
	fresh := transfer("fresh")
	created := doors[1].Send(t.Context(), fresh)
	want(t, "a transfer", created, "201 created")
	want(t, "its retry through the previous version", doors[0].Send(t.Context(), fresh), "201 replayed")
	want(t, "another amount", doors[0].Send(t.Context(), fresh.Body(`{"transfer_id":"fresh","amount":2}`)), "422 key-reused")
	t.Logf("%d transfers", len(results))
}
