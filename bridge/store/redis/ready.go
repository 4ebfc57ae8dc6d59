package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/rueidis"
)

// Ready reports whether records can be staked on this Redis: every master
// answers, takes writes, and never evicts. Replicas that answer must not evict
// either, since any of them may be the next master. The error names each node
// and what is wrong with it.
func (s *Store) Ready(ctx context.Context) error {
	c, err := s.connection()
	if err != nil {
		return err
	}
	var faults []error
	for _, n := range s.layout.Load().nodes {
		// DEL of a key that is not there is a write like any other, but one that
		// passes when memory is full: a full store still takes final words, and
		// must not be taken away for it.
		if err := c.Do(ctx, c.B().Del().Key(tags[n.bucket]+"ready").Build()).Error(); err != nil {
			faults = append(faults, fmt.Errorf("redis: master of bucket %d: not writable: %w", n.bucket, err))
		}
	}
	if !s.embedded {
		for addr, n := range c.Nodes() {
			if err := policyOf(ctx, n); err != nil {
				faults = append(faults, fmt.Errorf("redis: %s: %w", addr, err))
			}
		}
	}
	return errors.Join(faults...)
}

// policyOf reports a node that may evict. It reads INFO, which hosted Redis
// allows where CONFIG is closed. A replica that does not answer is no fault.
func policyOf(ctx context.Context, n rueidis.Client) error {
	info, err := n.Do(ctx, n.B().Info().Section("memory").Build()).ToString()
	if err != nil {
		if _, ok := rueidis.IsRedisErr(err); ok {
			return fmt.Errorf("info: %w", err)
		}
		return nil
	}
	policy := infoField(info, "maxmemory_policy")
	if policy != "noeviction" {
		return fmt.Errorf("maxmemory-policy: %q, want %q on every master and replica", policy, "noeviction")
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
