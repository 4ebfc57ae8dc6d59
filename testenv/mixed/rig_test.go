package mixed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/previous"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

var build = sync.OnceValues(func() (previous.Programs, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return previous.Programs{}, err
	}
	// Not under a test's context: others need it too.
	return previous.Build(context.Background(), root)
})

// old returns the programs of the previous version.
func old(t *testing.T) previous.Programs {
	t.Helper()
	p, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bridgeConfig is one that bridges of both versions take.
const bridgeConfig = "drain_timeout: 5s\n"

func start(t *testing.T, o stack.Options) *stack.Stack {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(file, []byte(bridgeConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	// A configuration that both versions know.
	o.BridgeConfig, o.Rules = file, old(t).Rules
	s, err := stack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// door is a client of a gateway.
func door(t *testing.T, s *stack.Stack, gateway int) *story.Client {
	t.Helper()
	c := story.NewClient(s.Gateway(gateway), story.HTTP1, 32)
	t.Cleanup(c.Close)
	return c
}

func want(t *testing.T, what string, a story.Answer, kind string) {
	t.Helper()
	if a.Kind() != kind {
		t.Errorf("%s: got %s, want %s\n%s", what, a.Kind(), kind, a)
	}
}

func runs(t *testing.T, s *stack.Stack, key string) int {
	t.Helper()
	x, err := story.Shop{Addr: s.Shop()}.Executions(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return x.Count
}

func eventually(t *testing.T, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// issued asks a gateway for a key.
func issued(t *testing.T, c *story.Client, scope string) string {
	t.Helper()
	a := c.Send(t.Context(), story.Post("/idempotency-keys", "").Body(fmt.Sprintf(`{"scope":%q}`, scope)))
	var got struct{ Key string }
	if err := json.Unmarshal(a.Body, &got); a.Status != 201 || err != nil || got.Key == "" {
		t.Fatalf("no key for %s: %s", scope, a)
	}
	return got.Key
}
