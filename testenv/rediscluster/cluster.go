package rediscluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const slots = 16384

// Config says what to start.
type Config struct {
	// Ports of the nodes, masters first; 0 is a free one, nil is all free.
	// Each node also takes port+10000.
	Ports []int
	// Dir keeps logs and cluster files, a directory for each node; required.
	Dir string
	// NodeTimeout is cluster-node-timeout; default 2s. A failover takes about
	// this and a second more.
	NodeTimeout time.Duration
	// Masters and the replicas of each; default 3 and 1. Replicas: -1 is none.
	Masters, Replicas int
	// MaxMemory is maxmemory of each node in bytes; 0 is no limit.
	MaxMemory int64
	// Options are further arguments of redis-server.
	Options []string
	// Env returns what is added to the environment of the node at an index of
	// Nodes, NAME=value; nil: nothing. See [Clock].
	Env func(node int) []string
	// TLS makes the nodes of a cluster speak TLS with each other, and with clients
	// on a port of its own each, [Node.TLSPort]. Port stays plain.
	TLS *TLS
}

// TLS names the files of a cluster's certificate, which is the nodes' own and
// their client certificate, and of the authority that signed it and the clients'.
type TLS struct{ Authority, Cert, Key string }

func (t *TLS) options(port int) []string {
	if t == nil {
		return nil
	}
	return []string{
		"--tls-port", strconv.Itoa(port), "--tls-cluster", "yes", "--tls-replication", "yes", "--tls-auth-clients", "yes",
		"--tls-ca-cert-file", t.Authority, "--tls-cert-file", t.Cert, "--tls-key-file", t.Key,
	}
}

func (c *Config) check() error {
	if c.Dir == "" {
		return errors.New("rediscluster: dir: empty")
	}
	if c.NodeTimeout == 0 {
		c.NodeTimeout = 2 * time.Second
	}
	if c.Masters == 0 {
		c.Masters = 3
	}
	switch {
	case c.Replicas == 0:
		c.Replicas = 1
	case c.Replicas < 0:
		c.Replicas = 0
	}
	if c.Masters < 3 {
		return fmt.Errorf("rediscluster: masters: %d, want at least 3", c.Masters)
	}
	want := c.Masters * (1 + c.Replicas)
	if c.Ports == nil {
		c.Ports = make([]int, want)
	}
	if len(c.Ports) != want {
		return fmt.Errorf("rediscluster: ports: %d, want %d", len(c.Ports), want)
	}
	return nil
}

// Cluster is a running cluster, or one server.
type Cluster struct {
	// Nodes in the order of Config.Ports. The roles are those of the start:
	// masters first, then replicas; replica i follows master i modulo Masters.
	Nodes []*Node
}

// Addresses lists the nodes' host:port.
func (c *Cluster) Addresses() []string {
	var out []string
	for _, n := range c.Nodes {
		out = append(out, n.Address())
	}
	return out
}

// Close ends every process and waits until it is gone. The directory stays.
func (c *Cluster) Close() {
	for _, n := range c.Nodes {
		n.Kill()
	}
}

// StartSingle starts one server that is no cluster; of c it uses the first of
// Ports, Dir, MaxMemory, Options and Env.
func StartSingle(ctx context.Context, c Config) (*Cluster, error) {
	if c.Dir == "" {
		return nil, errors.New("rediscluster: dir: empty")
	}
	port := 0
	if len(c.Ports) > 0 {
		port = c.Ports[0]
	}
	if port == 0 {
		free, err := freePorts(1)
		if err != nil {
			return nil, err
		}
		port = free[0]
	}
	n, err := start(ctx, c.Dir, port, c.env(0), c.options()...)
	if err != nil {
		return nil, err
	}
	return &Cluster{Nodes: []*Node{n}}, nil
}

// nodeOptions are the options of a cluster's node.
func (c *Config) nodeOptions() []string {
	return append([]string{
		"--cluster-enabled", "yes",
		"--cluster-node-timeout", strconv.FormatInt(c.NodeTimeout.Milliseconds(), 10),
		"--cluster-replica-validity-factor", "0",
		// One master away must not take the slots of the others with it.
		"--cluster-require-full-coverage", "no",
	}, c.options()...)
}

func (c *Config) options() []string {
	return append([]string{"--maxmemory", strconv.FormatInt(c.MaxMemory, 10)}, c.Options...)
}

func (c *Config) env(node int) []string {
	if c.Env == nil {
		return nil
	}
	return c.Env(node)
}

// Start forms a cluster and returns when every node calls it ok and every
// replica is in sync. On an error nothing is left running.
func Start(ctx context.Context, c Config) (_ *Cluster, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("rediscluster: %w", err)
	}
	missing := 0
	for _, p := range c.Ports {
		if p == 0 {
			missing++
		}
	}
	if c.TLS != nil {
		missing += len(c.Ports)
	}
	free, err := freePorts(missing)
	if err != nil {
		return nil, err
	}
	cl := &Cluster{}
	defer func() {
		if err != nil {
			cl.Close()
		}
	}()
	for i, port := range c.Ports {
		if port == 0 {
			port, free = free[0], free[1:]
		}
		tlsPort := 0
		if c.TLS != nil {
			tlsPort, free = free[0], free[1:]
		}
		n, err := start(ctx, c.Dir, port, c.env(i), append(c.TLS.options(tlsPort), c.nodeOptions()...)...)
		if err != nil {
			return nil, err
		}
		n.TLSPort = tlsPort
		cl.Nodes = append(cl.Nodes, n)
	}
	return cl, cl.form(ctx, &c)
}

// form gives each master its slots, joins the nodes and attaches the replicas.
func (cl *Cluster) form(ctx context.Context, c *Config) error {
	ids := make([]string, len(cl.Nodes))
	for i, n := range cl.Nodes {
		id, err := n.Do(ctx, "CLUSTER", "MYID")
		if err != nil {
			return fmt.Errorf("rediscluster: %s: myid: %w", n.Address(), err)
		}
		ids[i] = id
		if _, err := n.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return fmt.Errorf("rediscluster: %s: set-config-epoch: %w", n.Address(), err)
		}
		if i < c.Masters {
			from, to := i*slots/c.Masters, (i+1)*slots/c.Masters-1
			if _, err := n.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to)); err != nil {
				return fmt.Errorf("rediscluster: %s: addslotsrange: %w", n.Address(), err)
			}
		}
		if i > 0 {
			if _, err := n.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(cl.Nodes[0].clusterPort())); err != nil {
				return fmt.Errorf("rediscluster: %s: meet: %w", n.Address(), err)
			}
		}
	}
	for i := c.Masters; i < len(cl.Nodes); i++ {
		n, master := cl.Nodes[i], ids[i%c.Masters]
		if err := n.await(ctx, "replication", func() bool {
			_, err := n.Do(ctx, "CLUSTER", "REPLICATE", master)
			return err == nil
		}); err != nil {
			return err
		}
	}
	// Roles travel by gossip: a client that asks the wrong node too early does not
	// hear of the replicas.
	for _, n := range cl.Nodes {
		if err := n.await(ctx, "knowledge of every replica", func() bool {
			nodes, err := n.Do(ctx, "CLUSTER", "NODES")
			return err == nil && strings.Count(nodes, "slave ") == len(cl.Nodes)-c.Masters
		}); err != nil {
			return err
		}
	}
	return cl.AwaitReady(ctx)
}

// AwaitReady returns when every node that is alive calls the cluster ok and
// every replica has its master's data.
func (cl *Cluster) AwaitReady(ctx context.Context) error {
	for _, n := range cl.Nodes {
		select {
		case <-n.done:
			continue
		default:
		}
		if err := n.await(ctx, "state ok", func() bool { return n.healthy(ctx, len(cl.Nodes)) }); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) healthy(ctx context.Context, nodes int) bool {
	info, err := n.Do(ctx, "CLUSTER", "INFO")
	if err != nil || !strings.Contains(info, "cluster_state:ok") ||
		!strings.Contains(info, "cluster_known_nodes:"+strconv.Itoa(nodes)+"\r") {
		return false
	}
	repl, err := n.Do(ctx, "INFO", "replication")
	return err == nil && (strings.Contains(repl, "role:master") || strings.Contains(repl, "master_link_status:up"))
}
