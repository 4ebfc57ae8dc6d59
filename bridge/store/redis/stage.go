package redis

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
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
// own and in pieces (large.go), and the scripts only say whose it is.

// stagedLife is how long a result waits for its script. One that nobody comes for
// is gone after it.
const stagedLife = time.Minute

// makeRoom makes a staged result of zeros with a life, in one step: it has its
// length from the start, so that it is never copied as it grows, and never stays
// for ever. ARGV 1 the offset of its last byte, 2 its life (ms).
const makeRoom = "redis.call('SETRANGE',KEYS[1],ARGV[1],'\\0') return redis.call('PEXPIRE',KEYS[1],ARGV[2])"

// stagedKey is where an owner's result waits, beside the record's own. Each try has
// one of its own: one that was given up may still be writing, and the same result
// sealed twice is two texts.
func stagedKey(result string, owner []byte) string {
	return result + ":" + hex.EncodeToString(owner) + ":" + strconv.FormatUint(rand.Uint64(), 36)
}

// proof is what the script tests a staged result by: its length, and for each piece
// the offset of a byte that is not zero. A node that took over while pieces came
// may lack some, and has zeros there. A piece of zeros needs no proof.
func proof(body []byte) string {
	b := strconv.AppendInt(nil, int64(len(body)), 10)
	for from := 0; from < len(body); from += pieceBytes {
		for at := from; at < min(from+pieceBytes, len(body)); at++ {
			if body[at] != 0 {
				b = strconv.AppendInt(append(b, ','), int64(at), 10)
				break
			}
		}
	}
	return string(b)
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
	f := s.freight(r)
	err := f.enter(ctx)
	if err == nil {
		err = s.write(ctx, c, f, r)
		f.leave()
	}
	if err != nil && strings.Contains(err.Error(), "OOM command not allowed") {
		s.discard(ctx, c, r.staged)
		r.staged, r.args, err = "", slices.Clone(r.args), nil
		r.args[proofArg] = ""
	}
	return err
}

// write makes room for a result and fills it.
func (s *Store) write(ctx context.Context, c rueidis.Client, f *freight, r *request) error {
	left := (len(r.body) + pieceBytes - 1) / pieceBytes
	err := f.piece(ctx, left, func() error {
		s.commands.Add(1)
		return c.Do(ctx, c.B().Arbitrary("EVAL", makeRoom, "1").Keys(r.staged).
			Args(strconv.Itoa(len(r.body)-1), millis(stagedLife)).Blocking().ToRetryable()).Error()
	})
	for at := 0; at < len(r.body) && err == nil; at += pieceBytes {
		left--
		err = f.piece(ctx, left, func() error {
			s.commands.Add(1)
			n, err := c.Do(ctx, c.B().Arbitrary("SETRANGE").Keys(r.staged).
				Args(strconv.Itoa(at), rueidis.BinaryString(r.body[at:min(at+pieceBytes, len(r.body))])).
				Blocking().ToRetryable()).AsInt64()
			if err == nil && n != int64(len(r.body)) {
				// Another node, which had not heard of it, and gave it no life.
				s.discard(ctx, c, r.staged)
				err = errTorn
			}
			return err
		})
	}
	return err
}

func (s *Store) discard(ctx context.Context, c rueidis.Client, staged string) {
	s.commands.Add(1)
	c.Do(ctx, c.B().Arbitrary("DEL").Keys(staged).Blocking().ToRetryable())
}

// freight is that of the node to which r goes.
func (s *Store) freight(r *request) *freight { return s.layout.Load().of[r.bucket].load.freight }

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
	f := s.freight(r)
	if err := f.enter(ctx); err != nil {
		return unavailable(err), d, true
	}
	defer f.leave()
	var results []rueidis.RedisResult
	err := f.piece(ctx, 0, func() error {
		s.commands.Add(3)
		results = c.DoMulti(ctx, claim.solo(c, false),
			c.B().Arbitrary("STRLEN").Keys(r.result).Blocking().ToRetryable(),
			piece(c, r.result, 0))
		return nil
	})
	if err != nil {
		return unavailable(err), d, true
	}
	if noScript(results[0]) {
		return reply, d, false
	}
	reply, d = decode(results[0])
	if !d.large {
		return reply, d, true
	}
	length, err := results[1].AsInt64()
	if err != nil || length <= maxInline {
		return reply, d, false
	}
	result, fence, err := s.remainder(ctx, c, f, r, results[2], int(length))
	if err != nil || fence != reply.Fence {
		return reply, d, false
	}
	reply.Code, reply.Fence, reply.Result = wire.Replayed, 0, result
	return reply, duty{acks: d.acks}, true
}

// remainder reads what follows the first piece of a result, and then the fence of its
// record.
func (s *Store) remainder(ctx context.Context, c rueidis.Client, f *freight, r *request, first rueidis.RedisResult, length int) ([]byte, uint64, error) {
	result := make([]byte, 0, length)
	var fence uint64
	add := func(res rueidis.RedisResult) error {
		text, err := res.ToString()
		if err == nil && len(text) != min(length-len(result), pieceBytes) {
			err = errTorn
		}
		result = append(result, text...)
		return err
	}
	err := add(first)
	for left := (length - 1) / pieceBytes; left > 0 && err == nil; {
		left--
		err = f.piece(ctx, left, func() error {
			s.commands.Add(2)
			results := c.DoMulti(ctx, piece(c, r.result, len(result)),
				c.B().Arbitrary("HGET").Keys(r.record).Args("fe").Blocking().ToRetryable())
			var err error
			if fence, err = results[1].AsUint64(); err != nil {
				return err
			}
			return add(results[0])
		})
	}
	return result, fence, err
}

// piece reads a piece of a result.
func piece(c rueidis.Client, result string, at int) rueidis.Completed {
	return c.B().Arbitrary("GETRANGE").Keys(result).
		Args(strconv.Itoa(at), strconv.Itoa(at+pieceBytes-1)).Blocking().ToRetryable()
}
