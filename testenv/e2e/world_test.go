package e2e

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// long reports whether the long forms are asked for.
var long = os.Getenv("ONCEWALL_E2E") == "long"

var opened struct {
	sync.Once
	world *story.World
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if opened.world != nil {
		if err := opened.world.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// world returns the World that all tests share.
func world(t *testing.T) *story.World {
	t.Helper()
	opened.Do(func() {
		// It outlives the test that opens it.
		opened.world, opened.err = story.Open(context.Background(), stack.Options{Store: stack.Cluster, Concurrency: 2, Debug: true})
	})
	if opened.err != nil {
		t.Fatal(opened.err)
	}
	return opened.world
}

// door is a client of a stack's first gateway.
func door(t *testing.T, s *stack.Stack) *story.Client {
	t.Helper()
	return client(t, s.Gateway(0), story.HTTP1)
}

func client(t *testing.T, addr string, p story.Protocol) *story.Client {
	t.Helper()
	c := story.NewClient(addr, p, 32)
	t.Cleanup(c.Close)
	return c
}

// start starts a stack that ends with the test.
func start(t *testing.T, o stack.Options) *stack.Stack {
	t.Helper()
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

// wantKind wants an answer of one kind.
func wantKind(t *testing.T, what string, a story.Answer, kind string) {
	t.Helper()
	if a.Kind() != kind {
		t.Fatalf("%s: got %s, want %s\n%s", what, a.Kind(), kind, a)
	}
}

// wantRuns wants the backend to have run n times for a key.
func wantRuns(t *testing.T, s *stack.Stack, key string, n int) {
	t.Helper()
	x, err := story.Shop{Addr: s.Shop()}.Executions(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if x.Count != n || x.Forgotten != 0 {
		t.Fatalf("the backend ran %d times for this key (%d forgotten), want %d", x.Count, x.Forgotten, n)
	}
}

// eventually polls until ok.
func eventually(t *testing.T, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// retryWhile repeats a request as long as its answer is of one kind.
func retryWhile(t *testing.T, c *story.Client, r story.Request, kind string, limit time.Duration) (last story.Answer) {
	t.Helper()
	eventually(t, "another answer than "+kind, limit, func() bool {
		last = c.Send(t.Context(), r)
		return last.Kind() != kind
	})
	return last
}
