package e2e

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/shop"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// crowd is some clients, each of which sends one order after the other and
// repeats each until it has a result.
type crowd struct {
	t        *testing.T
	tag      string
	standing time.Duration // how long an order may be told that it is under way
	results  []int         // per client, the orders that have a result
	answered atomic.Int64
	end      func()
}

// gather starts a crowd; clients are given one each. Nobody but its client sends
// an order, one request after the other: what is under way is what the client was
// told is not, for as long as its release takes.
func gather(t *testing.T, tag string, standing time.Duration, clients ...*story.Client) *crowd {
	c := &crowd{t: t, tag: tag, standing: standing, results: make([]int, len(clients))}
	over := make(chan struct{})
	var senders sync.WaitGroup
	c.end = sync.OnceFunc(func() {
		close(over)
		senders.Wait()
	})
	t.Cleanup(c.end) // whatever fails
	for i, client := range clients {
		senders.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if err := c.untilResult(client, story.Post("/orders", c.key(i, c.results[i])).With("x-shop-tag", tag)); err != nil {
					t.Error(err)
					return
				}
				c.results[i]++
			}
		})
	}
	return c
}

func (c *crowd) key(client, order int) string { return fmt.Sprintf("%s-%d-%d", c.tag, client, order) }

// untilResult repeats an order until it has a result. Nothing else may be told
// than that it is under way or that the store is away, and nothing late.
func (c *crowd) untilResult(client *story.Client, order story.Request) error {
	var seen []story.Answer
	var since time.Time // of the first of the last answers, which all said in-flight
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		a := client.Send(c.t.Context(), order)
		seen = append(seen, a)
		c.answered.Add(1)
		switch kind := a.Kind(); kind {
		case "201 created", "201 replayed":
			return nil
		case "409 in-flight", "503 unavailable":
			if kind == "503 unavailable" {
				since = time.Time{}
			} else if since.IsZero() {
				since = time.Now()
			} else if stood := time.Since(since); stood > c.standing {
				return fmt.Errorf("in-flight for %v with nobody behind it, after %s: %s", stood, story.Count(seen...), a)
			}
			if a.Took > 3*time.Second {
				return fmt.Errorf("it took too long: %s", a)
			}
		default:
			return fmt.Errorf("got %s after %s: %s", kind, story.Count(seen...), a)
		}
	}
	return fmt.Errorf("no result within 40s: %s", story.Count(seen...))
}

// goOn waits until every client has had some more answers.
func (c *crowd) goOn() {
	c.t.Helper()
	before := c.answered.Load()
	eventually(c.t, "more answers", 30*time.Second, func() bool {
		return c.t.Failed() || c.answered.Load() >= before+3*int64(len(c.results))
	})
}

// check ends the crowd and looks at every order that has a result.
func (c *crowd) check(s *stack.Stack, right func(runs []shop.Execution) bool) {
	t := c.t
	t.Helper()
	c.end()
	x, err := story.Shop{Addr: s.Shop()}.Tagged(t.Context(), c.tag)
	if err != nil || x.Forgotten != 0 {
		t.Fatalf("%v, %d forgotten", err, x.Forgotten)
	}
	runs := map[string][]shop.Execution{}
	for _, e := range x.Requests {
		key := e.Headers["idempotency-key"][0]
		runs[key] = append(runs[key], e)
	}
	total := 0
	for i, n := range c.results {
		total += n
		for order := range n {
			if got := runs[c.key(i, order)]; !right(got) {
				t.Errorf("order %d of client %d ran %d times: %+v", order, i, len(got), got)
			}
		}
	}
	if total < 20 {
		t.Errorf("only %d orders: too few to show anything", total)
	}
	t.Logf("%d orders, %d runs", total, len(x.Requests))
}

// TestBridgeComesAndGoes kills, freezes and brings back the bridge again and
// again. Every order runs once, and none is held up by a claim that came after its
// own release: the lease of an order is 10s.
func TestBridgeComesAndGoes(t *testing.T) {
	w := world(t)
	var clients []*story.Client
	for i := range 8 {
		clients = append(clients, client(t, w.Town.Gateway(i%2), story.HTTP1))
	}
	c := gather(t, w.Key("away"), 3*time.Second, clients...)
	bridge := stack.BridgePart(0)
	rounds := 2
	if long {
		rounds = 20
	}
	for range rounds {
		for _, step := range []func() error{
			func() error { return w.Town.Kill(bridge) },
			func() error { return w.Town.StartPart(t.Context(), bridge) },
			func() error { return w.Town.Pause(bridge) },
			func() error { return w.Town.Resume(bridge) },
		} {
			if err := step(); err != nil {
				t.Error(err)
			}
			c.goOn()
		}
	}
	c.check(w.Town, func(runs []shop.Execution) bool {
		// A second attempt would mean that a claim outlived its client.
		return len(runs) == 1 && slices.Equal(runs[0].Headers["idempotency-attempt"], []string{"1"})
	})
}

// TestRedisMasterKilled kills a master under load. Its keys are unavailable
// until a replica has taken over, the others are not concerned. A claim that the
// master had acknowledged and not yet handed on is lost with it, so that what is
// promised is one effect: the shop's guards are on.
func TestRedisMasterKilled(t *testing.T) {
	w := world(t)
	var clients []*story.Client
	for range 8 {
		clients = append(clients, door(t, w.Mesh))
	}
	c := gather(t, w.Key("failover"), 40*time.Second, clients...)
	c.goOn()
	parts := w.Mesh.Parts()
	master := parts[slices.IndexFunc(parts, isRedis)]
	if err := w.Mesh.Kill(master); err != nil {
		t.Fatal(err)
	}
	c.goOn()
	if err := w.Mesh.StartPart(t.Context(), master); err != nil {
		t.Fatal(err)
	}
	c.goOn()
	c.check(w.Mesh, func(runs []shop.Execution) bool {
		effects := 0
		for _, e := range runs {
			if e.Effect == "done" {
				effects++
			}
		}
		return effects == 1
	})
}

func isRedis(part string) bool { return len(part) > 6 && part[:6] == "redis-" }
