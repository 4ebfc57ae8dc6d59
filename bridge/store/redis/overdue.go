package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

// overdueStride is how many indexes are read in one pipeline.
const overdueStride = 128

// Overdue lists unresolved records whose lease is over; see [store.Inspector].
// A cursor is the bucket and how many of its members have been looked at.
func (s *Store) Overdue(ctx context.Context, cursor string, limit int) (list []store.Entry, next string, err error) {
	bucket, offset, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	c, err := s.connection()
	if err != nil {
		return nil, "", away(err)
	}
	for bucket < Buckets {
		end := min(bucket+overdueStride, Buckets)
		members, err := s.members(ctx, c, bucket, end, offset, limit)
		if err != nil {
			return nil, "", err
		}
		for i, names := range members {
			seen := 0
			if i == 0 {
				seen = offset
			}
			// One name more than there is room for tells that there is another page.
			room := limit - len(list)
			records, err := s.get(ctx, c, names[:min(len(names), room)], false)
			if err != nil {
				return nil, "", err
			}
			for j, r := range records {
				if r.State.Unresolved() && r.LeaseOver {
					list = append(list, store.Entry{Name: names[j], Record: r})
				}
			}
			// Members stand by the end of their lease: behind a live one all are live.
			if n := len(records); n > 0 && records[n-1].State.Unresolved() && !records[n-1].LeaseOver {
				continue
			}
			if len(names) > room || len(list) == limit {
				return list, fmt.Sprintf("%d.%d", bucket+i, seen+len(records)), nil
			}
		}
		bucket, offset = end, 0
	}
	return list, "", nil
}

// members reads the first members of the indexes from to end, those whose lease
// ends soonest first: at most limit+1 each, the first index from its offset on.
func (s *Store) members(ctx context.Context, c rueidis.Client, from, end, offset, limit int) ([][]store.Name, error) {
	commands := make(rueidis.Commands, 0, end-from)
	for b := from; b < end; b++ {
		commands = append(commands, c.B().Zrange().Key(indexes[b]).Min(strconv.Itoa(offset)).Max(strconv.Itoa(offset+limit)).Build())
		offset = 0
	}
	s.commands.Add(uint64(len(commands)))
	out := make([][]store.Name, len(commands))
	for i, res := range c.DoMulti(ctx, commands...) {
		members, err := res.AsStrSlice()
		if err != nil {
			return nil, away(err)
		}
		for _, m := range members {
			if n, ok := parseMember(m); ok {
				out[i] = append(out[i], n)
			}
		}
	}
	return out, nil
}

func parseCursor(s string) (bucket, offset int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	b, o, ok := strings.Cut(s, ".")
	bucket, err1 := strconv.Atoi(b)
	offset, err2 := strconv.Atoi(o)
	if !ok || err1 != nil || err2 != nil || bucket < 0 || bucket >= Buckets || offset < 0 || offset > 1<<30 {
		return 0, 0, store.ErrBadCursor
	}
	return bucket, offset, nil
}
