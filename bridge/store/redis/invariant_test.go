package redis_test

import (
	"context"
	"testing"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/model/schedule"
)

// checked is a store under test: after every operation what holds of any record
// is looked at once more in what is stored. Tests pay for that, production does
// not. It has every method of the store that it wraps.
type checked struct {
	*redis.Store
	t      *testing.T
	client rueidis.Client
}

func check(t *testing.T, s store.Store, c rueidis.Client) store.Store {
	switch s := s.(type) {
	case *redis.Store:
		return checked{s, t, c}
	case *redis.EmbeddedStore:
		return checked{s.Store, t, c}
	}
	return s
}

func (c checked) Do(ctx context.Context, ops []store.Operation) []store.Reply {
	replies := c.Store.Do(ctx, ops)
	seen := map[store.Name]bool{}
	for i := range ops {
		if seen[ops[i].Name] {
			continue
		}
		seen[ops[i].Name] = true
		r, err := schedule.Read(context.Background(), c.client, ops[i].Name)
		if err != nil {
			c.t.Errorf("after operation %d: %v", ops[i].Kind, err)
		}
		for _, broken := range r.Broken() {
			c.t.Errorf("after operation %d: %s: %+v", ops[i].Kind, broken, r)
		}
	}
	return replies
}
