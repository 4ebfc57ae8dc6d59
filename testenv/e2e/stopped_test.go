package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/rediscluster"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// lapse is a lease short enough to outwait, and long enough for its rule.
const lapse = 6 * time.Second

// shortLeases writes the shop's rules with that lease on /orders, and with a longer
// patience for the bridge.
func shortLeases(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../stack/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	var c map[string]any
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	c["bridge"].(map[string]any)["timeout"] = "1500ms"
	for _, r := range c["rules"].([]any) {
		rule := r.(map[string]any)
		switch rule["name"] {
		case "orders":
			rule["upstream_timeout"] = "1s"
			fallthrough
		case "notes", "bookings": // their own would be too short now
			rule["recovery"].(map[string]any)["lease"] = lapse.String()
		}
	}
	if text, err = json.Marshal(c); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestEnvoyStopped stops an Envoy after the bridge has granted its claim and
// before it has heard of it, and lets it go on when the lease is over. It does
// not forward under a lease that may be another's by then.
func TestEnvoyStopped(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{
		Store: stack.Cluster, Gateways: 2, Rules: shortLeases(t),
		// The bridge holds each answer for so long: time to stop the Envoy. It is less
		// than half of bridge.timeout, after which the claim is sent once more.
		BridgeDelay: 500 * time.Millisecond,
	})
	w := story.Shop{Addr: s.Shop()}
	for _, test := range []struct {
		name  string
		taken bool // the other gateway takes over meanwhile
	}{{"another gateway takes over", true}, {"nobody takes over", false}} {
		t.Run(test.name, func(t *testing.T) {
			stopped, other := client(t, s.Gateway(0), story.HTTP1), client(t, s.Gateway(1), story.HTTP1)
			key, answer := stopBetween(t, s, w, stopped)
			resume := sync.OnceFunc(func() {
				if err := s.Resume(stack.GatewayPart(0)); err != nil {
					t.Error(err)
				}
			})
			defer resume()
			order := story.Post("/orders", key)
			granted := time.Now()
			if test.taken {
				wantKind(t, "the other gateway within the lease", other.Send(t.Context(), order), "409 in-flight")
				taken := retryWhile(t, other, order, "409 in-flight", 3*lapse)
				wantKind(t, "the other gateway after it", taken, "201 created")
			}
			eventually(t, "the lease's end", 3*lapse, func() bool { return time.Since(granted) > lapse+time.Second })
			resume()
			late := <-answer
			switch late.Kind() {
			case "503 unavailable", "409 in-flight", "409 outcome-unknown":
			case "201 replayed":
				if !test.taken {
					t.Errorf("the stopped gateway's client: %s, and nobody had executed it", late)
				}
			case "201 created":
				// Claimed anew, after the first claim was given up.
				if test.taken {
					t.Errorf("the stopped gateway's client: %s, after another had taken over", late)
				}
			default:
				t.Errorf("the stopped gateway's client: %s", late)
			}
			eventually(t, "the result, through the gateway that was stopped", 3*lapse, func() bool {
				again := stopped.Send(t.Context(), order)
				return again.Kind() == "201 replayed" || again.Kind() == "201 created"
			})
			wantKind(t, "and through the other", other.Send(t.Context(), order), "201 replayed")
			wantRuns(t, s, key, 1)
		})
	}
}

// stopBetween sends an order through the first gateway and stops that while the
// bridge, which has granted the claim, holds its answer.
func stopBetween(t *testing.T, s *stack.Stack, shop story.Shop, c *story.Client) (key string, answer chan story.Answer) {
	t.Helper()
	for try := range 10 {
		key = "stopped-" + strconv.Itoa(try) + "-" + strings.ReplaceAll(t.Name(), "/", "-")
		before := stored(t, s)
		answer = make(chan story.Answer, 1)
		go func() { answer <- c.Send(t.Context(), story.Post("/orders", key)) }()
		eventually(t, "the claim is in Redis", 10*time.Second, func() bool { return stored(t, s) > before })
		if err := s.Pause(stack.GatewayPart(0)); err != nil {
			t.Fatal(err)
		}
		x, err := shop.Executions(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if x.Count == 0 {
			return key, answer
		}
		// The machine was slower than the bridge's delay.
		if err := s.Resume(stack.GatewayPart(0)); err != nil {
			t.Fatal(err)
		}
		<-answer
	}
	t.Fatal("the gateway could not be stopped in time")
	return "", nil
}

// stored counts what the Redis nodes hold.
func stored(t *testing.T, s *stack.Stack) (count int) {
	t.Helper()
	for _, address := range s.Redis() {
		_, port, _ := strings.Cut(address, ":")
		p, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		n := rediscluster.Node{Port: p}
		answer, err := n.Do(t.Context(), "DBSIZE")
		if err != nil {
			t.Fatal(err)
		}
		size, err := strconv.Atoi(answer)
		if err != nil {
			t.Fatal(err)
		}
		count += size
	}
	return count
}
