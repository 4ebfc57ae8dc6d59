package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// summary is the answer of /readyz.
type summary struct {
	Status string
	Ready  bool
	Parts  map[string]struct {
		Status, Detail string
		Members        []struct{ Name, Role, Status, Detail string }
	}
}

func (b *bridge) readyz(part string) (int, summary) {
	b.t.Helper()
	status, body := b.get("/readyz" + part)
	var s summary
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		b.t.Fatalf("%v: %s", err, body)
	}
	return status, s
}

func TestReadiness(t *testing.T) {
	st := answering(store.Reply{Code: wire.OK})
	b := start(t, st)
	if status, s := b.readyz(""); status != http.StatusOK || !s.Ready || s.Status != "ok" || len(s.Parts) != 3 {
		t.Errorf("status %d: %+v", status, s)
	}
	st.ready = errors.New("redis: maxmemory-policy is allkeys-lru: must be noeviction")
	status, s := b.readyz("")
	if status != http.StatusServiceUnavailable || s.Ready || s.Status != "failed" || s.Parts["server"].Status != "ok" ||
		s.Parts["store"].Status != "failed" || s.Parts["store"].Detail != st.ready.Error() {
		t.Errorf("status %d: %+v", status, s)
	}
	if status, _ := b.readyz("/store"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz/store: %d", status)
	}
	if status, _ := b.readyz("/server"); status != http.StatusOK {
		t.Errorf("/readyz/server: %d though only the store has failed", status)
	}
	if status, _ := b.readyz("/nothing"); status != http.StatusNotFound {
		t.Errorf("/readyz/nothing: %d", status)
	}
	if status, _ := b.get("/healthz"); status != http.StatusOK {
		t.Errorf("healthz %d though the process is alive", status)
	}
	if _, body := b.get("/metrics"); !strings.Contains(body, `oncewall_bridge_part_status{part="store"} 2`) {
		t.Error("the metric does not show the store as failed")
	}
}

// TestReadinessOfNodes: what of single nodes makes a bridge degraded, and what
// takes it out of service.
func TestReadinessOfNodes(t *testing.T) {
	fine := store.Node{Address: "a:1", Master: true}
	away := store.Node{Address: "b:1", Master: true, Fault: "not writable: timeout"}
	replica := store.Node{Address: "c:1"}
	lame := store.Node{Address: "d:1", Fault: "no answer"}
	evicting := store.Node{Address: "e:1", Fault: "maxmemory-policy", Evicts: true}
	for what, c := range map[string]struct {
		nodes []store.Node
		err   error
		want  health.State
	}{
		"all well":                  {[]store.Node{fine, replica}, nil, health.OK},
		"one of two masters away":   {[]store.Node{fine, away}, nil, health.Degraded},
		"the only master away":      {[]store.Node{away, replica}, nil, health.Failed},
		"a replica away":            {[]store.Node{fine, lame}, nil, health.Degraded},
		"a replica may evict":       {[]store.Node{fine, evicting}, nil, health.Failed},
		"nothing is known of nodes": {nil, errors.New("redis: not connected yet"), health.Failed},
	} {
		t.Run(what, func(t *testing.T) {
			b := start(t, &probed{stub: answering(store.Reply{Code: wire.OK}), nodes: c.nodes, err: c.err})
			status, s := b.readyz("")
			if s.Status != c.want.String() || s.Ready != (c.want != health.Failed) || (status == http.StatusOK) != s.Ready ||
				len(s.Parts["store"].Members) != len(c.nodes) {
				t.Errorf("status %d: %+v, want %s", status, s, c.want)
			}
		})
	}
}

type probed struct {
	*stub
	nodes []store.Node
	err   error
}

func (p *probed) Nodes(context.Context) ([]store.Node, error) { return p.nodes, p.err }

// TestReadinessOfOthers: a part that somebody else adds is told by name, and
// decides where it is not optional.
func TestReadinessOfOthers(t *testing.T) {
	report := health.Report{State: health.Failed, Detail: "no bucket leased"}
	for _, optional := range []bool{true, false} {
		b := start(t, answering(store.Reply{Code: wire.OK}))
		b.AddPart(health.Part{Name: "reconciler", Optional: optional, Check: func(context.Context) health.Report { return report }})
		status, s := b.readyz("")
		if s.Ready != optional || (status == http.StatusOK) != optional || s.Parts["reconciler"].Detail != report.Detail {
			t.Errorf("optional %v: status %d: %+v", optional, status, s)
		}
		if status, _ := b.readyz("/reconciler"); status != http.StatusServiceUnavailable {
			t.Errorf("asked for alone: %d", status)
		}
	}
}

// TestReadyWithoutOneMaster: with one of three masters standing still the bridge
// says which, stays ready, and serves the keys of the others.
func TestReadyWithoutOneMaster(t *testing.T) {
	c, err := rediscluster.Start(t.Context(), rediscluster.Config{Dir: t.TempDir(), Masters: 3, NodeTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	st, err := redis.Open(t.Context(), redis.Config{Addresses: c.Addresses(), Mode: redis.Cluster})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	b := start(t, st)
	poll(t, "ready", func() bool { status, s := b.readyz(""); return status == http.StatusOK && s.Status == "ok" })
	dead := c.Nodes[1]
	if err := dead.Pause(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dead.Resume() })
	// Asked again and again: the question for the layout may go to the dead node.
	for range 5 {
		status, s := b.readyz("")
		if status != http.StatusOK || s.Status != "degraded" {
			t.Fatalf("status %d: %+v, want ready and degraded", status, s)
		}
		named := false
		for _, m := range s.Parts["store"].Members {
			named = named || m.Name == dead.Address() && m.Role == "master" && m.Status == "failed"
		}
		if !named {
			t.Fatalf("the dead master is not named: %+v", s.Parts["store"])
		}
	}
	codes := map[wire.Code]int{}
	for i := range 60 {
		op := testOp(wire.Claim, byte(i))
		op.Key, op.BudgetMS = string(rune('a'+i)), 300
		codes[b.send(testPolicy(), op)[0].Code]++
	}
	if codes[wire.Created] < 20 || codes[wire.Created]+codes[wire.Unavailable] != 60 {
		t.Errorf("codes %v of 60 claims: those of two masters must be granted", codes)
	}
	dead.Resume()
	poll(t, "well again", func() bool { _, s := b.readyz(""); return s.Status == "ok" })
}
