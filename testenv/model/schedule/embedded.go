package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/testenv/model/table"
)

// Embedded is a Target over a Redis inside this process, whose clock is the
// schedule's alone.
type Embedded struct {
	server *miniredis.Miniredis
	store  *redis.Store
	now    time.Time
}

var _ Target = (*Embedded)(nil)

// limits are the defaults of both targets' stores.
var limits = table.Limits{Skew: redis.DefaultClockSkew, Marker: time.Minute}

// NewEmbedded starts one; Close ends it.
func NewEmbedded(ctx context.Context) (*Embedded, error) {
	e := &Embedded{server: miniredis.NewMiniRedis(), now: time.UnixMicro(1_790_000_000_123_456)}
	if err := e.server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("schedule: embedded: %w", err)
	}
	e.server.SetTime(e.now)
	s, err := redis.Open(ctx, redis.Config{Addresses: []string{e.server.Addr()}, Mode: redis.Single})
	if err != nil {
		e.server.Close()
		return nil, err
	}
	e.store = s
	return e, nil
}

// Close ends store and server.
func (e *Embedded) Close() {
	e.store.Close()
	e.server.Close()
}

// Store is the store under test.
func (e *Embedded) Store() store.Store { return e.store }

// Inspector is the same store, for operators.
func (e *Embedded) Inspector() store.Inspector { return e.store }

// Limits are what it is configured with.
func (e *Embedded) Limits() table.Limits { return limits }

// Exact is true: time moves by Pass alone.
func (e *Embedded) Exact() bool { return true }

// Read reads beside the store, without a network.
func (e *Embedded) Read(n store.Name) (table.Record, error) {
	p, db := placesOf(n), e.server.DB(0)
	fields := map[string]string{}
	if names, err := db.HKeys(p.record); err == nil {
		for _, name := range names {
			fields[name] = e.server.HGet(p.record, name)
		}
	}
	r, err := decode(fields)
	if err != nil {
		return r, err
	}
	r.Left = e.server.TTL(p.record).Microseconds()
	if result, err := e.server.Get(p.result); err == nil {
		r.Result, r.ResultLeft = result, e.server.TTL(p.result).Microseconds()
	}
	if e.server.Exists(p.index) {
		if members, err := e.server.SortedSet(p.index); err == nil {
			if due, ok := members[p.member]; ok {
				r.Indexed, r.Due = true, int64(due)
			}
		}
	}
	return r, nil
}

// Now is the schedule's clock.
func (e *Embedded) Now() (int64, error) { return e.now.UnixMicro(), nil }

// Pass moves the clock; only forward does it end lives.
func (e *Embedded) Pass(d time.Duration, _ []store.Name) error {
	e.now = e.now.Add(d)
	e.server.SetTime(e.now)
	if d > 0 {
		e.server.FastForward(d)
	}
	return nil
}

// Lose takes that part of n's record away.
func (e *Embedded) Lose(what Verb, n store.Name) error {
	p := placesOf(n)
	switch what {
	case LoseAll:
		e.server.FlushAll()
	case LoseRecord:
		e.server.Del(p.record)
	case LoseResult:
		e.server.Del(p.result)
	case LoseIndex:
		_, _ = e.server.ZRem(p.index, p.member) // an error says that there is none
	case LoseScripts:
		return flushScripts(e.server.Addr())
	}
	return nil
}
