package redis_test

import (
	"context"
	"testing"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/bridge/store/storetest"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// TestLostReplies: the whole contract where every operation takes effect, its
// answer is lost, and the caller sends it once more. It must be told what it
// would have been told, whatever the state that it met.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	c := start(t, rediscluster.Start)
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		h := server(t, c, redis.Config{})
		h.Store = lossy{h.Store, h.Store.(store.Inspector)}
		h.Repeats = true
		// What these ask for is told once: that a place was taken from somebody, that a
		// noted owner's success became the final word (who comes again finds it final),
		// and each decision's entry, which a repeated decision writes again.
		h.Except = []string{
			"too many, a grant over RELEASED: the longest gone is dropped, and told",
			"too many: the longest gone is dropped, and told",
			"released again: one place is taken, and it is the newest",
			"PROCESSING noted: unknown of the current owner: EXECUTED by the noted one",
			"free on a noted record: the noted owner has run it",
			"every decision leaves its entry",
		}
		return h
	})
}

// lossy loses the first answer to everything.
type lossy struct {
	store.Store
	store.Inspector
}

func (l lossy) Resolve(ctx context.Context, r store.Resolution) (store.Verdict, error) {
	if _, err := l.Inspector.Resolve(ctx, r); err != nil {
		return 0, err
	}
	return l.Inspector.Resolve(ctx, r)
}

func (l lossy) Do(ctx context.Context, ops []store.Operation) []store.Reply {
	twice := make([]store.Operation, 0, 2*len(ops))
	for _, op := range ops {
		twice = append(twice, op, op)
	}
	replies := l.Store.Do(ctx, twice)
	for i := range ops {
		replies[i] = replies[2*i+1]
	}
	return replies[:len(ops)]
}
