package stack

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// RedisPart is the name of the Redis node at a port.
func RedisPart(port int) string { return fmt.Sprintf("redis-%d", port) }

func isRedis(part string) bool { return strings.HasPrefix(part, "redis-") }

// redisParts returns the nodes of the cluster. Masters are the first three at
// the start; a failover changes that.
func (s *Stack) redisParts() ([]*part, error) {
	server, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("STORE=%s: %w", Cluster, rediscluster.ErrNoServer)
	}
	var parts []*part
	for _, port := range s.ports.Redis {
		name, home := RedisPart(port), s.redisHome(port)
		args, err := s.redisConfig().Arguments(port, home)
		if err != nil {
			return nil, err
		}
		node := rediscluster.Node{Port: port}
		parts = append(parts, &part{
			name:   name,
			ports:  []int{port, port + redisBusOffset},
			config: func() error { return os.MkdirAll(home, 0o755) },
			cmd:    s.command(name, nil, append([]string{server}, args...)...),
			ready: func(ctx context.Context) error {
				_, err := node.Do(ctx, "PING")
				return err
			},
		})
	}
	return parts, nil
}

// redisConfig is the cluster of the contract: three masters with a replica each
// and a node timeout of 2 s, the package's defaults.
func (s *Stack) redisConfig() rediscluster.Config {
	return rediscluster.Config{Ports: s.ports.Redis}
}

func (s *Stack) redisHome(port int) string {
	return filepath.Join(s.dir, "redis", strconv.Itoa(port))
}

// startRedis starts the missing nodes and returns when the cluster is whole and
// its replicas are in sync.
func (s *Stack) startRedis(ctx context.Context) error {
	var nodes, missing []*part
	for _, p := range s.parts {
		if !isRedis(p.name) {
			continue
		}
		nodes = append(nodes, p)
		if !p.proc.alive() {
			missing = append(missing, p)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	fresh := len(missing) == len(nodes)
	if fresh {
		// What an earlier cluster knew of its nodes is not true of these.
		if err := os.RemoveAll(filepath.Join(s.dir, "redis")); err != nil {
			return err
		}
	}
	if err := s.startParts(missing); err != nil {
		return err
	}
	if err := awaitAll(ctx, nodes); err != nil {
		return err
	}
	if fresh {
		return rediscluster.Form(ctx, s.redisConfig())
	}
	return rediscluster.AwaitReady(ctx, s.redisConfig())
}
