package schedule

import (
	"context"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// Read reads n's record beside its store, in one pipeline to one node. A record
// that ends meanwhile is absent; one that will never end has a negative life.
func Read(ctx context.Context, c rueidis.Client, n store.Name) (table.Record, error) {
	p, b := placesOf(n), c.B()
	res := c.DoMulti(ctx,
		b.Hgetall().Key(p.record).Build(), b.Pttl().Key(p.record).Build(),
		b.Get().Key(p.result).Build(), b.Pttl().Key(p.result).Build(), b.Zscore().Key(p.index).Member(p.member).Build())
	fields, err := res[0].AsStrMap()
	if err != nil {
		return table.Record{}, fmt.Errorf("schedule: read: %w", err)
	}
	life := func(i int) (us int64, gone bool) {
		left, err := res[i].AsInt64()
		switch {
		case err != nil || left == -2:
			return 0, true
		case left < 0:
			return left, false
		}
		return left*1000 + 1, false // 0 would be no life
	}
	r, err := decode(fields)
	if err != nil {
		return r, err
	}
	left, gone := life(1)
	if gone {
		r = table.Record{}
	}
	r.Left = left
	if result, err := res[2].ToString(); err == nil {
		if left, gone := life(3); !gone {
			r.Result, r.ResultLeft = result, left
		}
	}
	if due, err := res[4].AsFloat64(); err == nil {
		r.Indexed, r.Due = true, int64(due)
	}
	return r, nil
}
