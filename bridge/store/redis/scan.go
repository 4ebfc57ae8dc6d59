package redis

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

// scanPage is how many keys one step of a scan looks at.
const scanPage = 512

// parseMember reads a record's name as indexes and keys have it.
func parseMember(s string) (n store.Name, ok bool) {
	if len(s) != 2*len(n) {
		return n, false
	}
	_, err := hex.Decode(n[:], []byte(s))
	return n, err == nil
}

// recordName is the name of the record whose key this is; false: it is no
// record's.
func recordName(key string) (store.Name, bool) {
	rest, ok := strings.CutPrefix(key, "ow:{b")
	if !ok {
		return store.Name{}, false
	}
	_, member, _ := strings.Cut(rest, "}:")
	n, ok := parseMember(member)
	if ok {
		want, _, _ := keys(n)
		ok = key == want
	}
	return n, ok
}

// Reindex implements [store.Recoverer]. It scans every master, one after the
// other.
func (s *Store) Reindex(ctx context.Context, pause time.Duration) (found int, err error) {
	c, err := s.connection()
	if err != nil {
		return 0, away(err)
	}
	nodes := c.Nodes()
	addresses := make([]string, 0, len(nodes))
	for a := range nodes {
		addresses = append(addresses, a)
	}
	slices.Sort(addresses)
	for _, a := range addresses {
		if isReplica(ctx, nodes[a]) {
			continue
		}
		n, e := s.reindexNode(ctx, c, nodes[a], pause)
		found += n
		if e != nil {
			err = errors.Join(err, fmt.Errorf("redis: scan: %s: %w", a, away(e)))
		}
	}
	return found, err
}

func isReplica(ctx context.Context, n rueidis.Client) bool {
	role, err := n.Do(ctx, n.B().Arbitrary("ROLE").Build()).ToArray()
	if err != nil || len(role) == 0 {
		return false
	}
	name, _ := role[0].ToString()
	return name == "slave"
}

func (s *Store) reindexNode(ctx context.Context, c, n rueidis.Client, pause time.Duration) (found int, err error) {
	for cursor := uint64(0); ; {
		s.commands.Add(1)
		page, err := n.Do(ctx, n.B().Scan().Cursor(cursor).Match("ow:{b*}:*").Count(scanPage).Build()).AsScanEntry()
		if err != nil {
			return found, err
		}
		var names []store.Name
		for _, key := range page.Elements {
			if name, ok := recordName(key); ok {
				names = append(names, name)
			}
		}
		lost, err := s.reindex(ctx, c, names)
		found += lost
		if err != nil {
			return found, err
		}
		if cursor = page.Cursor; cursor == 0 {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return found, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// reindex looks at a page of records: their state and place in the index first,
// since nearly all are final.
func (s *Store) reindex(ctx context.Context, c rueidis.Client, names []store.Name) (found int, err error) {
	commands := make(rueidis.Commands, 0, len(names))
	for _, n := range names {
		record, _, _ := keys(n)
		commands = append(commands, c.B().Hget().Key(record).Field("st").Build())
	}
	s.commands.Add(uint64(len(commands)))
	var open []store.Name
	for i, res := range c.DoMulti(ctx, commands...) {
		st, err := res.ToString()
		if err != nil && !rueidis.IsRedisNil(err) {
			return 0, err
		}
		if states[st].Unresolved() {
			open = append(open, names[i])
		}
	}
	commands = commands[:0]
	for _, n := range open {
		_, _, index := keys(n)
		commands = append(commands, c.B().Zscore().Key(index).Member(hex.EncodeToString(n[:])).Build())
	}
	s.commands.Add(uint64(len(commands)))
	var lost []store.Name
	for i, res := range c.DoMulti(ctx, commands...) {
		if err := res.Error(); rueidis.IsRedisNil(err) {
			lost = append(lost, open[i])
		} else if err != nil {
			return 0, err
		}
	}
	if len(lost) == 0 {
		return 0, nil
	}
	// Reading an unresolved record indexes it.
	_, err = s.get(ctx, c, lost, false)
	return len(lost), err
}

// Incarnation implements [store.Recoverer]: the masters of a cluster, or the
// server's replication id, which a failover and a restart change.
func (s *Store) Incarnation(ctx context.Context) (string, error) {
	if s.embedded {
		return "embedded", nil
	}
	c, err := s.connection()
	if err != nil {
		return "", away(err)
	}
	if c.Mode() == rueidis.ClientModeCluster {
		var ids []string
		for _, n := range s.layout.Load().nodes {
			ids = append(ids, n.id)
		}
		slices.Sort(ids)
		return strings.Join(ids, " "), nil
	}
	s.commands.Add(1)
	info, err := c.Do(ctx, c.B().Info().Section("replication").Build()).ToString()
	if err != nil {
		return "", away(err)
	}
	return infoField(info, "master_replid"), nil
}
