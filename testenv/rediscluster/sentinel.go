package rediscluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MasterName is the name under which StartSentinel's sentinel watches.
const MasterName = "oncewall"

// sentinelConfig needs directory, port, log, then the master's port. One
// sentinel decides alone, which is enough to see a failover.
const sentinelConfig = `dir %s
port %d
bind 127.0.0.1
logfile %s
sentinel monitor ` + MasterName + ` 127.0.0.1 %d 1
sentinel down-after-milliseconds ` + MasterName + ` 1000
sentinel failover-timeout ` + MasterName + ` 5000
`

// StartSentinel starts a master, a replica of it and a sentinel that watches
// both: Nodes in this order. Of c it uses Dir, MaxMemory and Options. It returns
// when the sentinel knows the replica.
func StartSentinel(ctx context.Context, c Config) (_ *Cluster, err error) {
	if c.Dir == "" {
		return nil, errors.New("rediscluster: dir: empty")
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	cl := &Cluster{}
	defer func() {
		if err != nil {
			cl.Close()
		}
	}()
	for i, options := range [][]string{nil, {"--replicaof", "127.0.0.1", fmt.Sprint(ports[0])}} {
		n, err := start(ctx, c.Dir, ports[i], nil, append(options, c.options()...)...)
		if err != nil {
			return nil, err
		}
		cl.Nodes = append(cl.Nodes, n)
	}
	home, err := homeOf(c.Dir, ports[2])
	if err != nil {
		return nil, err
	}
	file := filepath.Join(home, "sentinel.conf")
	text := fmt.Sprintf(sentinelConfig, home, ports[2], logOf(home), ports[0])
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("rediscluster: %w", err)
	}
	n, err := launch(ctx, home, ports[2], nil, file, "--sentinel")
	if err != nil {
		return nil, err
	}
	cl.Nodes = append(cl.Nodes, n)
	return cl, n.await(ctx, "knowledge of the replica", func() bool {
		info, err := n.Do(ctx, "INFO", "sentinel")
		return err == nil && strings.Contains(info, "status=ok") && strings.Contains(info, "slaves=1")
	})
}
