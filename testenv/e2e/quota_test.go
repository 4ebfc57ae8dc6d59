package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestOverQuota: a client that makes up a key for every request uses up the
// quota of its namespace. What is refused is not forwarded, under no rule; the
// key stays free.
func TestOverQuota(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	// A key a second, and ten that were saved.
	if err := os.WriteFile(file, []byte("limits: {namespaces: [{name: edge, new_keys_per_second: 1}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, stack.Options{BridgeConfig: file})
	c := door(t, s)
	kinds := map[string]int{}
	var refused []string
	for i := range 40 {
		key := fmt.Sprint("flood-", i)
		// The rule of /uploads forwards when the store is away.
		a := c.Send(t.Context(), story.Post("/uploads", key))
		kinds[a.Kind()]++
		if a.Kind() == "429 over-quota" {
			wantProblem(t, a, true, true)
			refused = append(refused, key)
		}
	}
	if kinds["201 created"] < 9 || len(refused) < 10 || len(kinds) != 2 {
		t.Fatalf("answers: %v", kinds)
	}
	for _, key := range refused {
		wantRuns(t, s, key, 0)
	}
	again := retryWhile(t, c, story.Post("/uploads", refused[0]), "429 over-quota", 10*time.Second)
	wantKind(t, "the refused key, later", again, "201 created")
}
