package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// TestHammer: 64 clients fight for one key through the server, over every kind
// of store. Each claims until it has a result; whoever is granted the key executes
// and completes. There is one execution, and everybody is told its result.
func TestHammer(t *testing.T) {
	for name, open := range map[string]func(*testing.T) store.Store{
		"embedded": func(t *testing.T) store.Store { return embedded(t) },
		"single":   func(t *testing.T) store.Store { return servers(t, rediscluster.StartSingle) },
		"cluster":  func(t *testing.T) store.Store { return servers(t, rediscluster.Start) },
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, open(t))
			const rounds, clients = 10, 64
			for round := range rounds {
				var executed atomic.Int32
				var all sync.WaitGroup
				begin := make(chan struct{})
				for i := range clients {
					all.Go(func() {
						<-begin
						if err := b.insist(fmt.Sprintf("key-%d", round), uint64(i), &executed); err != nil {
							t.Error(err)
						}
					})
				}
				close(begin)
				all.Wait()
				if n := executed.Load(); n != 1 || t.Failed() {
					t.Fatalf("round %d: executed %d times, want once", round, n)
				}
			}
		})
	}
}

// insist is one client: it comes back until its request has a result.
func (b *bridge) insist(key string, client uint64, executed *atomic.Int32) error {
	owner := binary.BigEndian.AppendUint64(make([]byte, 16), client+1)
	op := func(kind wire.Kind, fence uint64) (wire.Result, error) {
		op := testOp(kind, 0)
		op.Key, op.Owner, op.Fence, op.BudgetMS = key, owner, fence, 20_000
		results, err := b.try(testPolicy(), op)
		if err != nil {
			return wire.Result{}, err
		}
		return results[0], nil
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		claim, err := op(wire.Claim, 0)
		switch {
		case err != nil:
			return err
		case claim.Code == wire.InFlight:
			continue
		case claim.Code == wire.Replayed:
			return nil
		case claim.Code != wire.Created:
			return fmt.Errorf("claim: code %d", claim.Code)
		}
		executed.Add(1)
		done, err := op(wire.Complete, claim.Fence)
		if err == nil && done.Code != wire.OK {
			err = fmt.Errorf("complete: code %d", done.Code)
		}
		return err
	}
	return fmt.Errorf("client %d: no result in 30s", client)
}

// try is send for any goroutine: its faults are an error.
func (b *bridge) try(policy wire.Policy, ops ...wire.Operation) ([]wire.Result, error) {
	body, err := wire.AppendBatch(nil, &wire.Batch{Namespace: "edge", Policies: []wire.Policy{policy}, Ops: ops})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, b.url+wire.BatchPath, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+testSecret)
	r.Header.Set("Content-Type", wire.ContentType)
	resp, err := b.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	var out wire.Answer
	if err := wire.DecodeAnswer(answer, &out); err != nil {
		return nil, err
	}
	if len(out.Results) != len(ops) {
		return nil, fmt.Errorf("%d results to %d operations", len(out.Results), len(ops))
	}
	return out.Results, nil
}

// servers opens a store over real servers.
func servers(t *testing.T, f func(context.Context, rediscluster.Config) (*rediscluster.Cluster, error)) store.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := f(ctx, rediscluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := redis.Open(ctx, redis.Config{Addresses: c.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
