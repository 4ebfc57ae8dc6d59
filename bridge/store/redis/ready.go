package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

// nodeTimeout bounds what Ready waits for one node.
const nodeTimeout = time.Second

// Ready reports whether records can be staked on this Redis: every slot has a
// master, every master answers, takes writes, and never evicts. Replicas that
// answer must not evict either, since any of them may be the next master. The
// error names each node and what is wrong with it.
//
// A memory that is full is no fault here: such a store still takes final words,
// and must not be taken away for refusing new claims.
func (s *Store) Ready(ctx context.Context) error {
	c, err := s.connection()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	l := s.layout.Load()
	if c.Mode() == rueidis.ClientModeCluster {
		if l, err = learn(ctx, c, l); err != nil {
			return err
		}
		s.layout.Store(l)
	}
	var faults faultList
	var all sync.WaitGroup
	for _, n := range l.nodes {
		if n.bucket < 0 {
			faults.add(fmt.Errorf("redis: %s", n.id))
			continue
		}
		all.Go(func() {
			// DEL of a key that is not there is a write like any other, but one that
			// passes when memory is full.
			if err := c.Do(ctx, c.B().Del().Key(tags[n.bucket]+"ready").Build()).Error(); err != nil {
				faults.add(fmt.Errorf("redis: %s: not writable: %w", n.address, err))
			}
		})
	}
	if !s.embedded {
		for address, n := range c.Nodes() {
			all.Go(func() {
				if err := evicts(ctx, n); err != nil {
					faults.add(fmt.Errorf("redis: %s: %w", address, err))
				}
			})
		}
	}
	all.Wait()
	return errors.Join(faults.list...)
}

type faultList struct {
	mu   sync.Mutex
	list []error
}

func (f *faultList) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, err)
}

// evicts reports a node that may evict. It reads INFO, which hosted Redis allows
// where CONFIG is closed. A node that does not answer is no fault here: a master
// is found by its write, and a replica may be away.
func evicts(ctx context.Context, n rueidis.Client) error {
	info, err := n.Do(ctx, n.B().Info().Section("memory").Build()).ToString()
	if err != nil {
		if _, ok := rueidis.IsRedisErr(err); ok {
			return fmt.Errorf("info: %w", err)
		}
		return nil
	}
	if policy := infoField(info, "maxmemory_policy"); policy != "noeviction" {
		return fmt.Errorf("maxmemory-policy: %q, want %q", policy, "noeviction")
	}
	return nil
}

func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && k == name {
			return v
		}
	}
	return ""
}
