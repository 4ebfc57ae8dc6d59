package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

var _ store.Recoverer = (*Store)(nil)

var (
	//go:embed lua/reconcile.lua
	reconcileLua string
	//go:embed lua/share.lua
	shareLua string

	reconcileScript = newScript(reconcileLua)
	shareScript     = newScript(shareLua)
)

// shares is into how many parts of neighbouring buckets the records are split for
// reconcilers: a lease for each is cheap, and losing a bridge moves few at a time.
const (
	shares          = 64
	bucketsPerShare = Buckets / shares
	shareSuffix     = "share"
)

var (
	errShare   = fmt.Errorf("redis: share: want 0 to %d", shares-1)
	errFinding = errors.New("redis: reconcile: not a valid finding")
)

// Shares implements [store.Recoverer].
func (s *Store) Shares() int { return shares }

// Hold implements [store.Recoverer].
func (s *Store) Hold(ctx context.Context, share int, holder string, life time.Duration) (store.Lease, error) {
	return s.share(ctx, share, holder, millis(life))
}

// Yield implements [store.Recoverer].
func (s *Store) Yield(ctx context.Context, share int, holder string) error {
	_, err := s.share(ctx, share, holder, "0")
	return err
}

func (s *Store) share(ctx context.Context, share int, holder, life string) (store.Lease, error) {
	if share < 0 || share >= shares {
		return 0, errShare
	}
	c, err := s.connection()
	if err != nil {
		return 0, away(err)
	}
	b := share * bucketsPerShare
	r := request{script: shareScript, bucket: b, record: tags[b] + shareSuffix, index: indexes[b], args: []string{holder, life}}
	r.result = r.record + resultSuffix
	n, err := s.read(ctx, c, []request{r})[0].AsInt64()
	if err != nil {
		return 0, away(err)
	}
	return [...]store.Lease{store.LeaseOthers, store.LeaseHeld, store.LeaseTaken}[n], nil
}

// Due implements [store.Recoverer]. One server's clock stands for all here: they
// agree within the clock skew, and what is done about a record looks at its own.
func (s *Store) Due(ctx context.Context, share, limit int) ([]store.Due, error) {
	if share < 0 || share >= shares {
		return nil, errShare
	}
	c, err := s.connection()
	if err != nil {
		return nil, away(err)
	}
	s.commands.Add(bucketsPerShare + 1)
	clock, err := c.Do(ctx, c.B().Time().Build()).AsIntSlice()
	if err != nil || len(clock) != 2 {
		return nil, away(errors.Join(errAnswer, err))
	}
	now := clock[0]*1_000_000 + clock[1]
	commands := make(rueidis.Commands, bucketsPerShare)
	for i := range commands {
		commands[i] = c.B().Zrangebyscore().Key(indexes[share*bucketsPerShare+i]).
			Min("-inf").Max(strconv.FormatInt(now, 10)).Withscores().Limit(0, int64(limit)).Build()
	}
	var list []store.Due
	for _, res := range c.DoMulti(ctx, commands...) {
		members, err := res.AsZScores()
		if err != nil {
			return nil, away(err)
		}
		for _, m := range members {
			name, ok := parseMember(m.Member)
			if !ok {
				continue
			}
			d := store.Due{Name: name, Overdue: time.Duration(now-int64(m.Score)) * time.Microsecond}
			if m.Score == 0 {
				d.Overdue = -1
			}
			list = append(list, d)
		}
	}
	return list, nil
}

// Look implements [store.Recoverer].
func (s *Store) Look(ctx context.Context, names []store.Name) ([]store.Record, error) {
	c, err := s.connection()
	if err != nil {
		return nil, away(err)
	}
	return s.get(ctx, c, names, false)
}

// outcomes are the letters that reconcile.lua takes.
var outcomes = map[store.Outcome]string{
	store.FoundResult: "C", store.FoundExecuted: "E", store.FoundNothing: "R", store.Compensating: "M",
}

// Reconcile implements [store.Recoverer].
func (s *Store) Reconcile(ctx context.Context, f store.Finding) (store.Verdict, error) {
	what, ok := outcomes[f.Outcome]
	final := f.Outcome == store.FoundResult || f.Outcome == store.FoundExecuted
	if !ok || len(f.Owner) == 0 || f.Fence > maxFence || final && f.Status < 100 {
		return 0, errFinding
	}
	v, err := s.decide(ctx, reconcileScript, decision{
		name: f.Name, owner: f.Owner, fence: f.Fence, letter: what, status: f.Status,
		result: f.Result, wait: f.Quiet, deadline: f.Deadline,
	})
	if v == store.Live && f.Outcome == store.Compensating {
		v = store.Busy
	}
	return v, err
}

// Tidy implements [store.Recoverer].
func (s *Store) Tidy(ctx context.Context, share int) (removed int, err error) {
	if share < 0 || share >= shares {
		return 0, errShare
	}
	for b := share * bucketsPerShare; b < (share+1)*bucketsPerShare; b++ {
		n, err := s.Sweep(ctx, b)
		removed += n
		if err != nil {
			return removed, away(err)
		}
	}
	return removed, nil
}
