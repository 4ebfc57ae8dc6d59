package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestBridgeComesAndGoes sends orders from many clients, each repeated until it
// has a result, while the bridge is killed, frozen and brought back again and
// again. Every order runs once, and nobody is told anything but the result, that
// it is under way, or that the store is away.
func TestBridgeComesAndGoes(t *testing.T) {
	w := world(t)
	tag := w.Key("away")
	over := make(chan struct{})
	var answered atomic.Int64
	var clients sync.WaitGroup
	end := sync.OnceFunc(func() {
		close(over)
		clients.Wait()
	})
	t.Cleanup(end) // whatever fails
	orders := make([]int, 8)
	for i := range orders {
		c := client(t, w.Town.Gateway(i%2), story.HTTP1)
		clients.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				order := story.Post("/orders", fmt.Sprintf("%s-%d-%d", tag, i, orders[i])).With("x-shop-tag", tag)
				if err := untilResult(t, c, order, &answered); err != nil {
					t.Error(err)
					return
				}
				orders[i]++
			}
		})
	}
	for range 3 {
		for _, step := range []func() error{
			func() error { return w.Town.Kill(stack.BridgePart(0)) },
			func() error { return w.Town.StartPart(t.Context(), stack.BridgePart(0)) },
			func() error { return w.Town.Pause(stack.BridgePart(0)) },
			func() error { return w.Town.Resume(stack.BridgePart(0)) },
		} {
			if err := step(); err != nil {
				t.Error(err)
			}
			before := answered.Load()
			eventually(t, "answers in the new state", 30*time.Second, func() bool { return answered.Load() >= before+3*int64(len(orders)) })
		}
	}
	end()
	if t.Failed() {
		return
	}
	x, err := story.Shop{Addr: w.Town.Shop()}.Tagged(t.Context(), tag)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]int{}
	for _, e := range x.Requests {
		runs[e.Headers["idempotency-key"][0]]++
	}
	total := 0
	for i, n := range orders {
		total += n
		for k := range n {
			if got := runs[fmt.Sprintf("%s-%d-%d", tag, i, k)]; got != 1 {
				t.Errorf("order %d of client %d ran %d times", k, i, got)
			}
		}
	}
	if total < 20 || x.Forgotten != 0 {
		t.Errorf("only %d orders, %d forgotten: too few to show anything", total, x.Forgotten)
	}
	t.Logf("%d orders", total)
}

// untilResult repeats an order until it has a result, and counts the answers.
func untilResult(t *testing.T, c *story.Client, order story.Request, answered *atomic.Int64) error {
	var seen []story.Answer
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		a := c.Send(t.Context(), order)
		seen = append(seen, a)
		answered.Add(1)
		switch kind := a.Kind(); kind {
		case "201 created", "201 replayed":
			return nil
		case "409 in-flight", "503 unavailable":
			if a.Took > 3*time.Second {
				return fmt.Errorf("it took too long: %s", a)
			}
		default:
			return fmt.Errorf("got %s after %s: %s", kind, story.Count(seen...), a)
		}
	}
	return fmt.Errorf("no result within 30s: %s", story.Count(seen...))
}
