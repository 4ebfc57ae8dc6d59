package redis

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var (
	//go:embed lua/resolve.lua
	resolveLua string
	//go:embed lua/audit.lua
	auditLua string

	resolveScript = newScript(resolveLua)
	auditScript   = newScript(auditLua)
)

// Bounds of the entries about operators' decisions: each bucket keeps the newest
// auditKept, until none has come for auditLife.
const (
	auditKept   = 256
	auditLife   = 400 * 24 * time.Hour
	auditSuffix = "audit"
)

var errResolution = errors.New("redis: resolve: not a valid resolution")

// actions are the letters that resolve.lua takes.
var actions = map[store.Action]string{store.Complete: "C", store.Execute: "E", store.Free: "R", store.Extend: "X"}

// Resolve carries out an operator's decision; see [store.Inspector].
func (s *Store) Resolve(ctx context.Context, r store.Resolution) (store.Verdict, error) {
	action, ok := actions[r.Action]
	if !ok || len(r.Owner) == 0 || r.Fence > maxFence || len(r.Audit) > store.MaxAuditBytes || r.By < 0 {
		return 0, errResolution
	}
	if err := s.audit(ctx, r.Name, r.Audit, r.Deadline); err != nil {
		return 0, err
	}
	return s.decide(ctx, resolveScript, decision{
		name: r.Name, owner: r.Owner, fence: r.Fence, letter: action, status: r.Status,
		result: r.Result, wait: r.By, deadline: r.Deadline,
	})
}

// audit stores an entry about a record.
func (s *Store) audit(ctx context.Context, name store.Name, text []byte, deadline time.Time) error {
	b := bucket(name)
	entry := append(hex.AppendEncode(nil, name[:]), ' ')
	audit := request{
		script: auditScript, bucket: b, record: tags[b] + auditSuffix, index: indexes[b], deadline: deadline,
		args: []string{string(append(entry, text...)), strconv.Itoa(auditKept), millis(auditLife)},
	}
	audit.result = audit.record + resultSuffix
	return s.one(ctx, audit).Err
}

// one carries out a single request as Do does its own, replicas included.
func (s *Store) one(ctx context.Context, r request) store.Reply {
	c, err := s.connection()
	if err != nil {
		return unavailable(err)
	}
	parts := make(chan part, 1)
	go s.pipeline(ctx, c, batch{idx: []int{0}, requests: []request{r}}, 0, parts)
	select {
	case p := <-parts:
		if p.replies[0].Code == wire.Invalid {
			return unavailable(errLater)
		}
		return p.replies[0]
	case <-ctx.Done():
		s.suspect()
		return store.Reply{Err: errLate}
	}
}

// Audit returns the entries about a record; see [store.Inspector].
func (s *Store) Audit(ctx context.Context, name store.Name) ([][]byte, error) {
	c, err := s.connection()
	if err != nil {
		return nil, away(err)
	}
	s.commands.Add(1)
	list, err := c.Do(ctx, c.B().Lrange().Key(tags[bucket(name)]+auditSuffix).Start(0).Stop(auditKept-1).Build()).AsStrSlice()
	if err != nil {
		return nil, away(err)
	}
	var own [][]byte
	prefix := hex.EncodeToString(name[:]) + " "
	for _, e := range list {
		if len(e) > len(prefix) && e[:len(prefix)] == prefix {
			own = append(own, []byte(e[len(prefix):]))
		}
	}
	return own, nil
}
