package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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

// TestSizeMeasured writes records through the store into a real Redis and holds
// what they take against the model.
func TestSizeMeasured(t *testing.T) {
	const records = 2000
	for _, body := range []int64{0, 2 << 10, 20_000} {
		t.Run(sized(body), func(t *testing.T) {
			m := newMeasured(t)
			l := load{rps: records, ttl: time.Second, body: body, headers: 256, replicas: 1, masters: 1}
			e := l.estimate()
			m.near("records", m.write(0, records, l), gauges{
				memory: int64(records * e.perRecord), in: int64(e.in), out: int64(e.out), replica: int64(e.replica)})
			m.near("repeats", m.repeat(records), func() gauges {
				l.duplicates = 1
				e := l.estimate()
				return gauges{in: int64(e.in), out: int64(e.out)}
			}())
			var usage int64
			for i := range records {
				usage += m.usage(name(i))
			}
			m.near("MEMORY USAGE", gauges{memory: usage}, gauges{memory: records * (e.perRecord - 2*expiryBytes)})
		})
	}
}

// gauges are Redis' own figures, in bytes.
type gauges struct{ memory, in, out, replica int64 }

// measured is a Redis under measurement, and the store over it.
type measured struct {
	t      *testing.T
	node   *rediscluster.Node
	store  *redis.Store
	policy wire.Policy
	prints []byte
}

func newMeasured(t *testing.T) *measured {
	start := func() *rediscluster.Cluster {
		c, err := rediscluster.StartSingle(t.Context(), rediscluster.Config{Dir: t.TempDir(), Options: []string{"--repl-diskless-sync-delay", "0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	c, replica := start(), start().Nodes[0]
	if _, err := replica.Do(t.Context(), "REPLICAOF", "127.0.0.1", strconv.Itoa(c.Nodes[0].Port)); err != nil {
		t.Fatal(err)
	}
	s, err := redis.Open(t.Context(), redis.Config{Mode: redis.Single, Addresses: c.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	fp := []byte{wire.FingerprintVersion}
	for id := wire.PartMethod; id <= wire.PartBody; id++ {
		fp = wire.AppendPart(fp, id, wire.AlgorithmConfigured, sha256.Sum256([]byte{byte(id)}))
	}
	m := &measured{t: t, node: c.Nodes[0], store: s, prints: fp,
		policy: wire.Policy{Generation: "0123456789abcdef", TTLMS: 86_400_000, LeaseMS: 60_000, MaxAttempts: 3, Recovery: wire.Hold}}
	// The scripts and the store's connections are there before anything counts.
	m.write(-1, 0, load{headers: 64})
	// It is what writes give a replica that counts, not what it copies before.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for info := ""; !strings.Contains(info, "state=online"); time.Sleep(10 * time.Millisecond) {
		answer, err := m.node.Do(ctx, "INFO", "replication")
		if err != nil {
			t.Fatal(err)
		}
		info = fmt.Sprint(answer)
	}
	return m
}

func name(i int) store.Name { return sha256.Sum256([]byte(strconv.Itoa(i))) }

func (m *measured) claims(from, to int) (ops []store.Operation) {
	for i := from; i < to; i++ {
		owner := make([]byte, wire.OwnerBytes)
		binary.BigEndian.PutUint64(owner[16:], uint64(i))
		ops = append(ops, store.Operation{Kind: wire.Claim, Name: name(i), Owner: owner, Fingerprint: m.prints,
			Caller: owner[:16], Policy: &m.policy, Deadline: time.Now().Add(time.Minute)})
	}
	return ops
}

func (m *measured) do(want wire.Code, ops []store.Operation) []store.Reply {
	m.t.Helper()
	replies := m.store.Do(m.t.Context(), ops)
	for _, r := range replies {
		if r.Code != want {
			m.t.Fatalf("answer %+v, want code %d", r, want)
		}
	}
	return replies
}

// write claims and completes keys as l's answers are, and returns what that took.
func (m *measured) write(from, to int, l load) gauges {
	m.t.Helper()
	// As many lines as a small JSON answer has.
	lines := []wire.HeaderLine{{Name: "content-type", Value: "application/json"}, {Name: "location"}, {Name: "etag"}}
	used := 0
	for _, h := range lines {
		used += len(h.Name) + len(h.Value)
	}
	lines[1].Value = strings.Repeat("v", int(l.headers)-used)
	response, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Headers: lines, Body: make([]byte, l.body)})
	if err != nil {
		m.t.Fatal(err)
	}
	// A sealed result has a key id, a nonce and a tag beside it.
	result, err := wire.AppendEnvelope(nil, wire.Envelope{KeyID: "s1", Payload: append(response, make([]byte, 28)...)})
	if err != nil {
		m.t.Fatal(err)
	}
	before := m.read()
	for ; from < to; from += 100 {
		ops := m.claims(from, min(from+100, to))
		for i, r := range m.do(wire.Created, ops) {
			ops[i].Kind, ops[i].Fence, ops[i].Status, ops[i].Result = wire.Complete, r.Fence, 201, result
		}
		m.do(wire.OK, ops)
	}
	return m.since(before)
}

// repeat claims the first n keys again, under other owners.
func (m *measured) repeat(n int) gauges {
	m.t.Helper()
	before := m.read()
	for from := 0; from < n; from += 100 {
		ops := m.claims(from, from+100)
		for i := range ops {
			ops[i].Owner[0] = 1
		}
		m.do(wire.Replayed, ops)
	}
	return m.since(before)
}

func (m *measured) since(before gauges) gauges {
	now := m.read()
	return gauges{now.memory - before.memory, now.in - before.in, now.out - before.out, now.replica - before.replica}
}

func (m *measured) read() (g gauges) {
	m.t.Helper()
	info, err := m.node.Do(m.t.Context(), "INFO", "all")
	if err != nil {
		m.t.Fatal(err)
	}
	// What goes to replicas is counted among all that goes out, what waits for them
	// among all that is used, and the stream's position is what a replica is sent.
	var replicated, buffers int64
	to := map[string]*int64{"used_memory": &g.memory, "total_net_input_bytes": &g.in, "total_net_output_bytes": &g.out,
		"total_net_repl_output_bytes": &replicated, "mem_total_replication_buffers": &buffers, "master_repl_offset": &g.replica}
	for line := range strings.Lines(fmt.Sprint(info)) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if to := to[field]; to != nil {
			*to, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	g.out -= replicated
	g.memory -= buffers
	return g
}

// usage is what Redis says a record and its result take.
func (m *measured) usage(n store.Name) (sum int64) {
	m.t.Helper()
	key := fmt.Sprintf("ow:{b%d}:%x", int(n[0])<<2|int(n[1])>>6, n)
	for _, k := range []string{key, key + ":r"} {
		answer, err := m.node.Do(m.t.Context(), "MEMORY", "USAGE", k)
		bytes, _ := strconv.ParseInt(fmt.Sprint(answer), 10, 64)
		if err != nil || bytes == 0 {
			m.t.Fatalf("MEMORY USAGE: %v %v", answer, err)
		}
		sum += bytes
	}
	return sum
}

// near fails where a figure of the model is not within a quarter of the measured
// one. A figure that the model leaves out is 0.
func (m *measured) near(what string, got, model gauges) {
	m.t.Helper()
	for _, f := range []struct {
		name       string
		got, model int64
	}{{"memory", got.memory, model.memory}, {"in", got.in, model.in}, {"out", got.out, model.out}, {"replica", got.replica, model.replica}} {
		m.t.Logf("%s %s: measured %d, model %d", what, f.name, f.got, f.model)
		if off := 4 * (f.model - f.got); f.model != 0 && (off > f.got || -off > f.got) {
			m.t.Errorf("%s %s: measured %d, the model says %d", what, f.name, f.got, f.model)
		}
	}
}
