package redis

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

const (
	refreshEvery = 5 * time.Second
	// maxWaiting bounds the pipelines of one kind that wait for one node, so that a node
	// which hangs does not hold ever more memory. It is well above what a bridge
	// needs: one pipeline carries a whole batch's operations for the node.
	maxWaiting = 512
)

// A node is one master, as far as this process knows.
type node struct {
	id      string
	address string // for messages
	bucket  int    // one of its buckets; -1: stands for slots without a master
	load    *load
}

// A way is one of the ways to a node.
type way struct {
	waiting atomic.Int32 // pipelines that have not been answered
	breaker breaker
}

// load is what is on its way to a node; it outlives a layout. Pipelines that wait
// for replicas count apart, so that a lame replica never takes the node from anyone
// else.
type load struct {
	plain, acked way
	freight      *freight
}

func newLoad() *load { return &load{freight: newFreight()} }

func (l *load) of(replicas int64) (w *way, name string) {
	if replicas > 0 {
		return &l.acked, acknowledged
	}
	return &l.plain, shared
}

// layout is a guess at which master holds which bucket. It only decides which
// operations share a pipeline: where a command really goes is the client's
// business, which follows the cluster's redirections.
type layout struct {
	nodes []*node
	of    [Buckets]*node
}

// alone is the node of which nothing is known but that it is there.
const alone = "master"

func oneNode() *layout {
	n := &node{id: alone, address: alone, load: newLoad()}
	l := &layout{nodes: []*node{n}}
	for b := range l.of {
		l.of[b] = n
	}
	return l
}

// learn asks the cluster for its slots. Nodes that old knew keep their load, unless
// they have another address now.
func learn(ctx context.Context, c rueidis.Client, old *layout) (*layout, error) {
	ranges, err := c.Do(ctx, c.B().ClusterSlots().Build()).ToArray()
	if err != nil {
		return nil, fmt.Errorf("redis: cluster slots: %w", err)
	}
	var owner [16384]*node
	loads := map[string]*load{}
	for _, n := range old.nodes {
		loads[n.id+" "+n.address] = n.load
	}
	seen := map[string]*node{}
	for _, r := range ranges {
		parts, err := r.ToArray()
		if err != nil || len(parts) < 3 {
			return nil, errAnswer
		}
		from, _ := parts[0].AsInt64()
		to, _ := parts[1].AsInt64()
		master, err := parts[2].ToArray()
		if err != nil || len(master) < 3 || from < 0 || to > 16383 {
			return nil, errAnswer
		}
		id, _ := master[2].ToString()
		n := seen[id]
		if n == nil {
			host, _ := master[0].ToString()
			port, _ := master[1].AsInt64()
			address := net.JoinHostPort(host, strconv.FormatInt(port, 10))
			n = &node{id: id, address: address, bucket: -1, load: loads[id+" "+address]}
			if n.load == nil {
				n.load = newLoad()
			}
			seen[id] = n
		}
		for s := from; s <= to; s++ {
			owner[s] = n
		}
	}
	l := &layout{}
	none := &node{id: "slots without a master", bucket: -1, load: newLoad()}
	lacking := false
	for b := range l.of {
		n := owner[slot(b)]
		if n == nil {
			n, lacking = none, true
		} else if n.bucket < 0 {
			n.bucket = b
			l.nodes = append(l.nodes, n)
		}
		l.of[b] = n
	}
	if lacking {
		l.nodes = append(l.nodes, none)
	}
	return l, nil
}
