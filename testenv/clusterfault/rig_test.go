package clusterfault

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

var long = flag.Bool("long", false, "meet each fault several times, and measure")

// rounds is how often a fault is met.
func rounds() int {
	if *long {
		return 5
	}
	return 1
}

// regions are the masters at the start; a region's slots stay together.
const regions = 3

// regionOf tells whose slots a bucket's are.
var regionOf = func() (of [redis.Buckets]int) {
	var c rediscluster.Config
	for b := range of {
		of[b] = c.Master(rediscluster.Slot(tag(b)))
	}
	return of
}()

// bucketsOf are the buckets of each region.
var bucketsOf = func() (of [regions][]int) {
	for b, region := range regionOf {
		of[region] = append(of[region], b)
	}
	return of
}()

func tag(bucket int) string { return fmt.Sprintf("ow:{b%d}:", bucket) }

// record is the key under which the store keeps n.
func record(n store.Name) string { return tag(bucketOf(n)) + hex.EncodeToString(n[:]) }

func bucketOf(n store.Name) int { return int(n[0])<<2 | int(n[1])>>6 }

// newName is a new record in a bucket.
func newName(bucket int) (n store.Name) {
	rand.Read(n[2:])
	binary.BigEndian.PutUint16(n[:], uint16(bucket<<6))
	return n
}

func newOwner() []byte {
	o := make([]byte, wire.OwnerBytes)
	rand.Read(o)
	return o
}

// policyOf is a rule's whose leases outlive every test: whatever is granted
// twice was granted wrongly.
func policyOf(replicas int64) *wire.Policy {
	return &wire.Policy{
		Generation: "g", TTLMS: time.Hour.Milliseconds(), LeaseMS: time.Hour.Milliseconds(),
		MaxAttempts: 3, Recovery: wire.Hold, Replicas: replicas,
	}
}

type rig struct {
	*testing.T
	*rediscluster.Cluster
	store  *redis.Store
	bridge *bridge // over store; nil where a test has no use for it
}

// start runs a cluster that keeps its data over a restart, and a store over it.
func start(t *testing.T, c rediscluster.Config) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.Dir = t.TempDir()
	c.Options = append([]string{"--appendonly", "yes"}, c.Options...)
	cl, err := rediscluster.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	r := &rig{T: t, Cluster: cl}
	r.store = r.open(redis.Config{Addresses: cl.Addresses()})
	r.bridge = r.serve(r.store)
	return r
}

func (r *rig) open(c redis.Config) *redis.Store {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	s, err := redis.Open(ctx, c)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(s.Close)
	return s
}

// sub is the rig in a subtest.
func (r *rig) sub(t *testing.T) *rig {
	s := &rig{T: t, Cluster: r.Cluster, store: r.store}
	s.bridge = &bridge{r: s, url: r.bridge.url, client: r.bridge.client}
	return s
}

// master finds the node that holds a region now.
func (r *rig) master(region int) *rediscluster.Node {
	r.Helper()
	var found *rediscluster.Node
	r.eventually("a master of the region", func() bool {
		for _, n := range r.Nodes {
			lines, err := n.Do(r.Context(), "CLUSTER", "NODES")
			if err != nil {
				continue
			}
			found = r.masterIn(lines, region)
			return found != nil
		}
		return false
	})
	return found
}

func (r *rig) masterIn(lines string, region int) *rediscluster.Node {
	first := fmt.Sprintf(" %d-", region*16384/regions)
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.Contains(f[2], "master") || strings.Contains(f[2], "fail") || !strings.Contains(line, first) {
			continue
		}
		address, _, _ := strings.Cut(f[1], "@")
		for _, n := range r.Nodes {
			if n.Address() == address {
				return n
			}
		}
	}
	return nil
}

// replica finds the node that follows n.
func (r *rig) replica(n *rediscluster.Node) *rediscluster.Node {
	r.Helper()
	id := r.command(n, "CLUSTER", "MYID")
	for _, other := range r.Nodes {
		if lines, err := other.Do(r.Context(), "CLUSTER", "NODES"); err == nil {
			for line := range strings.Lines(lines) {
				if strings.Contains(line, "myself") && strings.Contains(line, "slave "+id) {
					return other
				}
			}
		}
	}
	r.Fatal("no replica of " + n.Address())
	return nil
}

func (r *rig) command(n *rediscluster.Node, args ...string) string {
	r.Helper()
	s, err := n.Do(r.Context(), args...)
	if err != nil {
		r.Fatalf("%s: %v: %v", n.Address(), args, err)
	}
	return s
}

// healthy waits until the cluster is whole and the store can be staked on.
func (r *rig) healthy() {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	if err := r.AwaitReady(ctx); err != nil {
		r.Fatal(err)
	}
	var err error
	for end := time.Now().Add(30 * time.Second); ; {
		if err = r.whole(); err == nil {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	for _, n := range r.Nodes {
		nodes, _ := n.Do(ctx, "CLUSTER", "NODES")
		repl, _ := n.Do(r.Context(), "INFO", "replication")
		r.Logf("%s:\n%s\n%s", n.Address(), nodes, repl)
	}
	r.Fatalf("not within 30s: %v", err)
}

// whole says what keeps the store from serving every region, with a replica.
func (r *rig) whole() error {
	if err := r.store.Ready(r.Context()); err != nil {
		return err
	}
	for region := range regions {
		if reply := r.one(r.claim(newName(r.bucket(region)), newOwner(), policyOf(1), time.Second)); reply.Err != nil {
			return fmt.Errorf("region %d: %w", region, reply.Err)
		}
	}
	return nil
}

// bucket is one of a region's.
func (r *rig) bucket(region int) int { return bucketsOf[region][0] }

// meets returns a check that some node has answered a command with an error of
// this code since the call: that the fault was there, and the store met it.
func (r *rig) meets(code string) func() {
	r.Helper()
	before := r.told(code)
	return func() {
		r.Helper()
		r.eventually("an answer "+code, func() bool {
			for n, count := range r.told(code) {
				// A node that was restarted counts from 0.
				if was := before[n]; count > was || count > 0 && count < was {
					return true
				}
			}
			return false
		})
	}
}

// told is how often each node that answers has told an error.
func (r *rig) told(code string) map[*rediscluster.Node]int {
	counts := map[*rediscluster.Node]int{}
	for _, n := range r.Nodes {
		info, err := n.Do(r.Context(), "INFO", "errorstats")
		if err != nil {
			continue
		}
		counts[n] = 0
		for line := range strings.Lines(info) {
			if count, ok := strings.CutPrefix(strings.TrimSpace(line), "errorstat_"+code+":count="); ok {
				counts[n], _ = strconv.Atoi(count)
			}
		}
	}
	return counts
}

func (r *rig) eventually(what string, ok func() bool) {
	r.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); <-time.After(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("not within 30s: %s", what)
		}
	}
}

func (r *rig) claim(n store.Name, owner []byte, p *wire.Policy, budget time.Duration) store.Operation {
	return store.Operation{Kind: wire.Claim, Name: n, Owner: owner, Policy: p, Deadline: time.Now().Add(budget)}
}

// one carries out one operation within its deadline.
func (r *rig) one(op store.Operation) store.Reply { return do(r.store, op) }

func do(s *redis.Store, op store.Operation) store.Reply {
	ctx, cancel := context.WithDeadline(context.Background(), op.Deadline)
	defer cancel()
	return s.Do(ctx, []store.Operation{op})[0]
}
