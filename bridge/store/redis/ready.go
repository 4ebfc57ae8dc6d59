package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/oncewall/oncewall/bridge/store"
)

var _ store.Prober = (*Store)(nil)

// learnTimeout and nodeTimeout bound what Nodes waits for the layout, and then
// for each node.
const (
	learnTimeout = 500 * time.Millisecond
	nodeTimeout  = time.Second
)

// Ready reports whether records can be staked on this Redis: every slot has a
// master, every master answers, takes writes, and never evicts. Replicas that
// answer must not evict either, since any of them may be the next master. The
// error names each node and what is wrong with it.
//
// A memory that is full is no fault here: such a store still takes final words,
// and must not be taken away for refusing new claims.
func (s *Store) Ready(ctx context.Context) error {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, n := range nodes {
		if n.Evicts || n.Master && n.Fault != "" {
			faults = append(faults, fmt.Errorf("redis: %s: %s", n.Address, n.Fault))
		}
	}
	return errors.Join(faults...)
}

// Nodes asks every node: masters first, each by a write, then the replicas that
// the client has heard of. Where the cluster does not tell its layout, the one
// that was known last is asked: the node that was asked for it may be the one
// that is away.
func (s *Store) Nodes(ctx context.Context) ([]store.Node, error) {
	c, err := s.connection()
	if err != nil {
		return nil, err
	}
	l := s.layout.Load()
	cluster := c.Mode() == rueidis.ClientModeCluster
	if cluster {
		short, cancel := context.WithTimeout(ctx, learnTimeout)
		fresh, err := learn(short, c, l)
		cancel()
		switch {
		case err == nil:
			l = fresh
			s.layout.Store(l)
		case l.nodes[0].bucket < 0 || l.nodes[0].id == alone:
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	p := probe{at: map[string]*store.Node{}}
	for _, n := range l.nodes {
		master := p.node(cmp.Or(n.address, n.id), true)
		if n.bucket < 0 {
			master.Fault = "their keys are unavailable"
			continue
		}
		p.all.Go(func() {
			// DEL of a key that is not there is a write like any other, but one that
			// passes when memory is full.
			if err := c.Do(ctx, c.B().Del().Key(tags[n.bucket]+"ready").Build()).Error(); err != nil {
				if n.load.refuses() {
					err = fmt.Errorf("%w; its keys are answered unavailable at once", err)
				}
				p.fault(master, false, fmt.Errorf("not writable: %w", err))
			}
		})
	}
	if !s.embedded {
		for address, n := range c.Nodes() {
			if !cluster {
				address = l.nodes[0].address
			}
			node := p.node(address, false)
			p.all.Go(func() { evicts(ctx, n, &p, node) })
		}
	}
	p.all.Wait()
	return p.list(), nil
}

// probe gathers what is found of each node.
type probe struct {
	all   sync.WaitGroup
	mu    sync.Mutex
	at    map[string]*store.Node
	order []*store.Node
}

// node returns the entry of an address. It is called before anybody is asked.
func (p *probe) node(address string, master bool) *store.Node {
	n := p.at[address]
	if n == nil {
		n = &store.Node{Address: address, Master: master}
		p.at[address] = n
		p.order = append(p.order, n)
	}
	return n
}

// fault notes what is wrong with a node; that it evicts outweighs the rest.
func (p *probe) fault(n *store.Node, evicts bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !n.Evicts {
		n.Fault, n.Evicts = err.Error(), evicts
	}
}

func (p *probe) list() []store.Node {
	list := make([]store.Node, len(p.order))
	for i, n := range p.order {
		list[i] = *n
	}
	slices.SortStableFunc(list, func(a, b store.Node) int {
		if a.Master != b.Master {
			if a.Master {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Address, b.Address)
	})
	return list
}

// evicts notes a node that may evict. It reads INFO, which hosted Redis allows
// where CONFIG is closed. A master that does not answer is found by its write.
func evicts(ctx context.Context, c rueidis.Client, p *probe, node *store.Node) {
	info, err := c.Do(ctx, c.B().Info().Section("memory").Build()).ToString()
	if err != nil {
		if _, ok := rueidis.IsRedisErr(err); ok {
			p.fault(node, true, fmt.Errorf("info: %w", err))
		} else if !node.Master {
			p.fault(node, false, fmt.Errorf("no answer: %w", err))
		}
		return
	}
	if policy := infoField(info, "maxmemory_policy"); policy != "noeviction" {
		p.fault(node, true, fmt.Errorf("maxmemory-policy: %q, want %q", policy, "noeviction"))
	}
}

func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && k == name {
			return v
		}
	}
	return ""
}
