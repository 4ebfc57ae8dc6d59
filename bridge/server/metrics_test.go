package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// TestStoreLatency: what the store takes is seen by node, and nodes beyond the
// bound share one series.
func TestStoreLatency(t *testing.T) {
	b := start(t, embedded(t))
	expect(t, b.send(testPolicy(), testOp(wire.Claim, 1)), wire.Created)
	_, body := b.get("/metrics")
	if want := "\n" + `oncewall_bridge_store_duration_seconds_count{node="master",way="shared"} `; !strings.Contains(body, want) {
		t.Errorf("no %s", want)
	}
	l := newStoreLatency()
	for i := range 2 * maxNodes {
		l.observe(fmt.Sprintf("10.0.0.%d:6379", i), "shared", time.Millisecond)
	}
	if len(l.nodes) != maxNodes {
		t.Errorf("%d nodes have a label, want %d", len(l.nodes), maxNodes)
	}
	known := 0
	l.known.Range(func(any, any) bool { known++; return true })
	if known != maxNodes {
		t.Errorf("%d series are remembered, want %d", known, maxNodes)
	}
}

// TestStoreBreakers: nodes that the store has given up are seen, within the same
// bound.
func TestStoreBreakers(t *testing.T) {
	b := newStoreBreakers(newStoreLatency())
	for i := range 2 * maxNodes {
		node := fmt.Sprintf("10.0.0.%d:6379", i)
		b.opened(node, "shared", true)
		b.add(node, "shared", 3)
	}
	series := make(chan prometheus.Metric, 3*maxNodes)
	b.open.Collect(series)
	if n := len(series); n != maxNodes+1 {
		t.Errorf("%d series, want %d", n, maxNodes+1)
	}
}

// TestClaimsByNamespace: only namespaces that the configuration names have series.
func TestClaimsByNamespace(t *testing.T) {
	b := start(t, answering(store.Reply{Code: wire.Created}), func(c *Config) {
		c.Quotas = []Quota{{Namespace: "edge", NewKeys: 1000}, {Namespace: AnyNamespace, NewKeys: 1000}}
	})
	for _, namespace := range []string{"edge", "made-up-1", "made-up-2"} {
		b.sendBatch(&wire.Batch{Namespace: namespace, Policies: []wire.Policy{testPolicy()}, Ops: []wire.Operation{testOp(wire.Claim, 1)}})
	}
	_, body := b.get("/metrics")
	for _, line := range []string{
		`oncewall_bridge_claims_total{namespace="edge",outcome="created"} 1`,
		`oncewall_bridge_claims_total{namespace="other",outcome="created"} 2`,
	} {
		if !strings.Contains(body, "\n"+line) {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(body, "made-up") {
		t.Error("a namespace that nobody configured has series of its own")
	}
}
