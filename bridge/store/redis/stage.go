package redis

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// A script that takes or returns a megabyte copies it into Lua and back, and Redis
// does nothing else meanwhile: ten times as long as a plain SET or GET of it takes.
// So a long result is written and read by plain commands, on connections of their
// own, and the scripts only say whose it is.

// stagedLife is how long a result waits for its script. One that nobody comes for
// is gone after it.
const stagedLife = time.Minute

// stagedKey is where an owner's result waits, beside the record's own.
func stagedKey(result string, owner []byte) string {
	return result + ":" + hex.EncodeToString(owner)
}

// apart carries out a request on a connection of its own.
func (s *Store) apart(ctx context.Context, c rueidis.Client, q *request) (store.Reply, duty) {
	if err := s.stage(ctx, c, q); err != nil {
		return unavailable(err), duty{}
	}
	if q.kind == wire.Claim {
		if reply, d, ok := s.fetch(ctx, c, q); ok {
			return reply, d
		}
	}
	s.commands.Add(1)
	res := c.Do(ctx, q.solo(c, false))
	if noScript(res) {
		s.commands.Add(1)
		res = c.Do(ctx, q.solo(c, true))
	}
	return decode(res)
}

// stage writes the result of a request that has one to stage. A node that is full
// takes no result, and the request goes on without: the word is kept.
func (s *Store) stage(ctx context.Context, c rueidis.Client, r *request) error {
	if r.staged == "" {
		return nil
	}
	s.commands.Add(1)
	err := c.Do(ctx, c.B().Arbitrary("SET").Keys(r.staged).
		Args(r.body, "PX", millis(stagedLife)).Blocking().ToRetryable()).Error()
	if err != nil && strings.HasPrefix(err.Error(), "OOM ") {
		r.staged, err = "", nil
	}
	return err
}

// stageAll stages the results of requests whose answers replicas must acknowledge,
// all at once, and returns what can go on.
func (s *Store) stageAll(ctx context.Context, c rueidis.Client, b batch, owed []debt, parts chan<- part) []debt {
	errs := make([]error, len(owed))
	var all sync.WaitGroup
	for i, d := range owed {
		if q := &b.requests[d.at]; q.staged != "" {
			all.Go(func() { errs[i] = s.stage(ctx, c, q) })
		}
	}
	all.Wait()
	left := owed[:0]
	for i, d := range owed {
		if errs[i] != nil {
			parts <- part{idx: b.idx[d.at : d.at+1], replies: []store.Reply{unavailable(errs[i])}}
			s.suspect()
			continue
		}
		left = append(left, d)
	}
	return left
}

// fetch carries out a claim whose answer may be a long result: the script says
// whose it is, and the result is read after it. Fences only grow, so the result
// is that of the answer if the record's fence is the same after it was read. ok is
// false where it is not, or a node did not know the script.
func (s *Store) fetch(ctx context.Context, c rueidis.Client, r *request) (reply store.Reply, d duty, ok bool) {
	claim := *r
	claim.args = append([]string(nil), r.args...)
	claim.args[4] = inlineArg
	s.commands.Add(3)
	results := c.DoMulti(ctx, claim.solo(c, false),
		c.B().Arbitrary("GET").Keys(r.result).Blocking().ToRetryable(),
		c.B().Arbitrary("HGET").Keys(r.record).Args("fe").Blocking().ToRetryable())
	if noScript(results[0]) {
		return reply, d, false
	}
	reply, d = decode(results[0])
	if !d.large {
		return reply, d, true
	}
	result, err := results[1].AsBytes()
	fence, fenceErr := results[2].AsUint64()
	if err != nil || fenceErr != nil || fence != reply.Fence {
		return reply, d, false
	}
	reply.Code, reply.Fence, reply.Result = wire.Replayed, 0, result
	return reply, duty{acks: d.acks}, true
}
