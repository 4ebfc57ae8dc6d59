package redis

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var _ store.Eraser = (*Store)(nil)

//go:embed lua/erase.lua
var eraseLua string

var eraseScript = newScript(eraseLua)

var errErasure = errors.New("redis: erase: not a valid erasure")

// findPage is how many keys of a node are looked at in one step.
const findPage = 500

// Erase forgets a record; see [store.Eraser].
func (s *Store) Erase(ctx context.Context, e store.Erasure) (store.Erased, error) {
	if len(e.Audit) > store.MaxAuditBytes {
		return 0, errErasure
	}
	if e.Audit != nil {
		if err := s.audit(ctx, e.Name, e.Audit, e.Deadline); err != nil {
			return 0, err
		}
	}
	r := request{
		script: eraseScript, bucket: bucket(e.Name), deadline: e.Deadline,
		args: []string{string(digit(e.Forget)), string(digit(e.Force))},
	}
	r.record, r.result, r.index = keys(e.Name)
	reply := s.one(ctx, r)
	switch {
	case reply.Err != nil:
		return 0, reply.Err
	case reply.Code == wire.OK:
		return store.ErasedNow, nil
	case reply.Code == wire.NotFound:
		return store.ErasedNothing, nil
	case reply.Code == wire.OutcomeUnknown:
		return store.ErasedUnresolved, nil
	}
	return 0, away(errAnswer)
}

// Find looks for the records of callers; see [store.Eraser]. A cursor is the digest
// of the nodes' shares, the node, and the node's own cursor.
func (s *Store) Find(ctx context.Context, callers [][]byte, cursor string, most, rate int) (store.Page, error) {
	var page store.Page
	c, err := s.connection()
	if err != nil {
		return page, away(err)
	}
	l := s.layout.Load()
	at, scan, known, err := l.parseFind(cursor)
	if err != nil {
		return page, err
	}
	page.Restarted = !known
	for page.Examined < most && at < len(l.nodes) {
		began := time.Now()
		n := c
		if c.Mode() == rueidis.ClientModeCluster {
			if n = nodeAt(c.Nodes(), l.nodes[at].address); n == nil {
				s.suspect()
				return page, away(fmt.Errorf("redis: no connection to %s", l.nodes[at].address))
			}
		}
		s.commands.Add(1)
		e, err := n.Do(ctx, n.B().Scan().Cursor(scan).Match("ow:{b*").Count(findPage).Type("hash").Build()).AsScanEntry()
		if err != nil {
			s.suspect()
			return page, away(err)
		}
		if err := s.pick(ctx, c, e.Elements, callers, &page); err != nil {
			return page, err
		}
		if scan = e.Cursor; scan == 0 {
			at++
		}
		if rate > 0 {
			pause := time.NewTimer(time.Duration(max(len(e.Elements), findPage/10))*time.Second/time.Duration(rate) - time.Since(began))
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return page, away(ctx.Err())
			}
		}
	}
	if now := s.layout.Load(); now != l && now.digest() != l.digest() {
		page.Restarted, page.Next = true, now.digest()+".0.0"
	} else if at < len(l.nodes) {
		page.Next = fmt.Sprintf("%s.%d.%d", l.digest(), at, scan)
	}
	return page, nil
}

// pick adds those of a node's records that belong to callers.
func (s *Store) pick(ctx context.Context, c rueidis.Client, list []string, callers [][]byte, page *store.Page) error {
	var commands rueidis.Commands
	var names []store.Name
	for _, k := range list {
		var name store.Name
		if len(k) < 2*len(name) {
			continue
		}
		if _, err := hex.Decode(name[:], []byte(k[len(k)-2*len(name):])); err != nil || tags[bucket(name)]+k[len(k)-2*len(name):] != k {
			continue
		}
		names = append(names, name)
		commands = append(commands, c.B().Hget().Key(k).Field("cl").Build())
	}
	page.Examined += len(names)
	if len(commands) == 0 {
		return nil
	}
	s.commands.Add(uint64(len(commands)))
	for i, res := range c.DoMulti(ctx, commands...) {
		caller, err := res.AsBytes()
		if rueidis.IsRedisNil(err) {
			continue
		}
		if err != nil {
			return away(err)
		}
		if slices.ContainsFunc(callers, func(want []byte) bool { return string(want) == string(caller) }) {
			page.Names = append(page.Names, names[i])
		}
	}
	return nil
}

// digest tells one sharing of the buckets from another.
func (l *layout) digest() string {
	h := sha256.New()
	for _, n := range l.of {
		h.Write([]byte(n.id))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// parseFind reads a cursor. known is false where the sharing is not the one that it
// was given for: then it is that of the beginning.
func (l *layout) parseFind(cursor string) (node int, scan uint64, known bool, err error) {
	if cursor == "" {
		return 0, 0, true, nil
	}
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 || len(parts[0]) != 16 {
		return 0, 0, false, store.ErrBadCursor
	}
	node, err1 := strconv.Atoi(parts[1])
	scan, err2 := strconv.ParseUint(parts[2], 10, 64)
	if err1 != nil || err2 != nil || node < 0 {
		return 0, 0, false, store.ErrBadCursor
	}
	if parts[0] != l.digest() || node >= len(l.nodes) {
		return 0, 0, false, nil
	}
	return node, scan, true, nil
}
