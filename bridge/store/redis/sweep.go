package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/rueidis"
)

// sweepPage is how many members of an index are looked at in one pipeline.
const sweepPage = 256

// Sweep takes those members out of a bucket's index behind which there is no
// unresolved record: it was lost, or its life ended without a word. It returns
// how many it took out. bucket is 0 to Buckets-1. It may run beside anything,
// another Sweep included: each member is judged and taken out in one step.
func (s *Store) Sweep(ctx context.Context, bucket int) (int, error) {
	if bucket < 0 || bucket >= Buckets {
		return 0, fmt.Errorf("redis: sweep: bucket %d, want 0 to %d", bucket, Buckets-1)
	}
	c, err := s.connection()
	if err != nil {
		return 0, err
	}
	removed := 0
	for cursor := uint64(0); ; {
		s.commands.Add(1)
		page, err := c.Do(ctx, c.B().Zscan().Key(indexes[bucket]).Cursor(cursor).Count(sweepPage).Build()).AsScanEntry()
		if err != nil {
			return removed, fmt.Errorf("redis: sweep: %w", err)
		}
		n, err := s.sweep(ctx, c, bucket, page.Elements)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("redis: sweep: %w", err)
		}
		if cursor = page.Cursor; cursor == 0 {
			return removed, nil
		}
	}
}

// sweep judges a page of an index: members and scores in turn.
func (s *Store) sweep(ctx context.Context, c rueidis.Client, bucket int, page []string) (removed int, err error) {
	var list []request
	for i := 0; i+1 < len(page); i += 2 {
		r := request{bucket: bucket, script: sweepScript, index: indexes[bucket]}
		r.record = tags[bucket] + page[i]
		r.result = r.record + resultSuffix
		list = append(list, r)
	}
	for whole := false; len(list) > 0; whole = true {
		commands := make(rueidis.Commands, len(list))
		for i := range list {
			commands[i] = list[i].command(c, whole)
		}
		s.commands.Add(uint64(len(commands)))
		var unknown []request
		for i, res := range c.DoMulti(ctx, commands...) {
			if !whole && noScript(res) {
				unknown = append(unknown, list[i])
				continue
			}
			if later(res) {
				continue
			}
			n, e := res.AsInt64()
			removed += int(n)
			err = errors.Join(err, e)
		}
		list = unknown
	}
	return removed, err
}
