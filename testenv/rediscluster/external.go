package rediscluster

import (
	"context"
	"errors"
)

// Arguments returns what redis-server is started with as the cluster node at
// port, for a caller that keeps the processes itself. The node's files go to
// home, which must exist; its log goes to stdout.
func (c Config) Arguments(port int, home string) ([]string, error) {
	c.Dir = home
	if err := c.check(); err != nil {
		return nil, err
	}
	return append(serverArguments(port, home, ""), c.nodeOptions()...), nil
}

// Form makes one cluster of the fresh servers at c.Ports, which the caller has
// started with [Config.Arguments], and returns when every replica is in sync.
func Form(ctx context.Context, c Config) error {
	cl, err := c.external()
	if err != nil {
		return err
	}
	return cl.form(ctx, &c)
}

// AwaitReady returns when every server at c.Ports calls the cluster ok and every
// replica is in sync.
func AwaitReady(ctx context.Context, c Config) error {
	cl, err := c.external()
	if err != nil {
		return err
	}
	return cl.AwaitReady(ctx)
}

// external is the cluster of processes that are not ours: none is ever done.
func (c *Config) external() (*Cluster, error) {
	if len(c.Ports) == 0 {
		return nil, errors.New("rediscluster: ports: none")
	}
	if c.Dir == "" {
		c.Dir = "unused"
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	cl := &Cluster{}
	for _, port := range c.Ports {
		cl.Nodes = append(cl.Nodes, &Node{Port: port, log: "its log", done: make(chan struct{})})
	}
	return cl, nil
}
