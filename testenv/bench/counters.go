package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/testenv/rediscluster"
	"github.com/oncewall/oncewall/testenv/stack"
)

// counters are what has been used and counted since the stack was started.
type counters struct {
	envoy, bridge, redis time.Duration // CPU time
	callouts             int           // as the filter counts them
	batches, operations  int           // as the bridge counts them
	scripts              int           // script calls that the masters were sent
	commands             int           // commands that the masters ran, those inside scripts included
}

// sub returns what has come to since before.
func (c counters) sub(before counters) counters {
	c.envoy -= before.envoy
	c.bridge -= before.bridge
	c.redis -= before.redis
	c.callouts -= before.callouts
	c.batches -= before.batches
	c.operations -= before.operations
	c.scripts -= before.scripts
	c.commands -= before.commands
	return c
}

// reader reads counters of a running stack.
type reader struct {
	s      *stack.Stack
	nodes  []*rediscluster.Node
	client *http.Client
}

func newReader(s *stack.Stack, store string) (*reader, error) {
	r := &reader{s: s, client: &http.Client{Timeout: 5 * time.Second}}
	if store != stack.Cluster {
		return r, nil
	}
	for _, addr := range s.Redis() {
		_, text, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		r.nodes = append(r.nodes, &rediscluster.Node{Port: port})
	}
	return r, nil
}

// cpu adds the CPU times to c. They are read last before a slot and first after
// it, so that reading the rest is not counted.
func (r *reader) cpu(c *counters) error {
	read := func(part string, to *time.Duration) error {
		t, err := cpuOf(r.s.PID(part))
		*to += t
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		return nil
	}
	err := errors.Join(read(stack.GatewayPart(0), &c.envoy), read(stack.BridgePart(0), &c.bridge))
	for _, n := range r.nodes {
		err = errors.Join(err, read(stack.RedisPart(n.Port), &c.redis))
	}
	return err
}

// counts adds everything but the CPU times to c.
func (r *reader) counts(ctx context.Context, c *counters) error {
	envoy, err := r.get(ctx, r.s.GatewayAdmin(0), "/stats?filter=idempotency")
	if err != nil {
		return err
	}
	bridge, err := r.get(ctx, r.s.BridgeAdmin(0), "/metrics")
	if err != nil {
		return err
	}
	for _, v := range []struct {
		text, name string
		to         *int
	}{
		{envoy, "wasmcustom.idempotency.callouts:", &c.callouts},
		{bridge, "oncewall_bridge_batch_size_count", &c.batches},
		{bridge, "oncewall_bridge_batch_size_sum", &c.operations},
	} {
		n, err := number(v.text, v.name)
		if err != nil {
			return err
		}
		*v.to += n
	}
	for _, n := range r.nodes {
		info, err := n.Do(ctx, "INFO", "everything")
		if err != nil {
			return fmt.Errorf("redis %d: %w", n.Port, err)
		}
		// A replica runs what its master sends it; that is counted there.
		if !strings.Contains(info, "role:master") {
			continue
		}
		scripts, commands := parseCommands(info)
		c.scripts += scripts
		c.commands += commands
	}
	return nil
}

func (r *reader) get(ctx context.Context, addr, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", path, resp.StatusCode)
	}
	return string(b), err
}

// number returns the value of the line "name value".
func number(text, name string) (int, error) {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return int(f), err
		}
	}
	return 0, fmt.Errorf("no counter is named %q", name)
}

// housekeeping are commands of the cluster itself, of clients that connect, and
// of this package.
var housekeeping = []string{"auth", "client", "cluster", "command", "config", "hello", "info", "ping", "psync", "replconf", "script", "select"}

// parseCommands sums the calls in a node's INFO: of scripts, and of all
// commands but housekeeping.
//
//	cmdstat_evalsha:calls=4,usec=141,usec_per_call=35.25,rejected_calls=0,failed_calls=0
func parseCommands(info string) (scripts, commands int) {
	for line := range strings.Lines(info) {
		stat, ok := strings.CutPrefix(line, "cmdstat_")
		if !ok {
			continue
		}
		name, values, _ := strings.Cut(stat, ":calls=")
		calls, _, _ := strings.Cut(values, ",")
		n, err := strconv.Atoi(calls)
		if err != nil || isHousekeeping(name) {
			continue
		}
		commands += n
		if strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall") {
			scripts += n
		}
	}
	return scripts, commands
}

// isHousekeeping also knows subcommands, as in config|get.
func isHousekeeping(name string) bool {
	name, _, _ = strings.Cut(name, "|")
	for _, h := range housekeeping {
		if name == h {
			return true
		}
	}
	return false
}

// executions returns the serial number that the shop gives to an execution now,
// which is itself one: two calls differ by what ran between them, and 1.
func (r *reader) executions(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.s.Shop()+"/serial", nil)
	if err != nil {
		return 0, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, err
	}
	_ = resp.Body.Close()
	id := resp.Header.Get("X-Shop-Execution")
	n, err := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	if err != nil {
		return 0, fmt.Errorf("shop: execution %q does not end in a number", id)
	}
	return n, nil
}

// forget empties the shop's list of executions, which would grow with every
// slot and make the later ones slower.
func (r *reader) forget(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, "http://"+r.s.Shop()+"/executions", nil)
	if err != nil {
		return err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
