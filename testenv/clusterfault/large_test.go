package clusterfault

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// What large results cost small claims: the 99th percentile of claims while 50
// results of 1 MiB are written and replayed beside them, over that without.
// A measurement, printed and not asserted: one machine carries servers and
// callers.
func TestSmallClaimsBesideLargeResults(t *testing.T) {
	samples := 300
	if *long {
		samples = 3000
	}
	r := start(t, rediscluster.Config{Replicas: -1})
	alone := r.percentile(samples)
	stop := make(chan struct{})
	var large sync.WaitGroup
	body := bytes.Repeat([]byte{'x'}, 1<<20)
	written := make(chan struct{})
	large.Go(func() {
		defer close(written)
		for i := range 50 {
			name, owner := newName(i*20), newOwner()
			r.one(r.claim(name, owner, policyOf(0), 5*time.Second))
			op := r.claim(name, owner, policyOf(0), 5*time.Second)
			op.Kind, op.Status, op.Result = wire.Complete, 200, body
			if reply := r.one(op); reply.Code != wire.OK {
				t.Errorf("complete of 1 MiB: %+v", reply)
				return
			}
			if reply := r.one(r.claim(name, newOwner(), policyOf(0), 5*time.Second)); len(reply.Result) != len(body) {
				t.Errorf("replay of 1 MiB: code %d, %d bytes, %v", reply.Code, len(reply.Result), reply.Err)
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	beside := r.percentile(samples)
	close(stop)
	large.Wait()
	<-written
	t.Logf("p99 of a claim: %v alone, %v beside results of 1 MiB: %.1f times", alone, beside, float64(beside)/float64(alone))
}

// percentile is the 99th of the times of claims in batches of 8, at a pace that
// leaves the machine idle in between.
func (r *rig) percentile(samples int) time.Duration {
	var took []time.Duration
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for i := range samples {
		<-tick.C
		ops := make([]store.Operation, 8)
		for j := range ops {
			ops[j] = r.claim(newName((i*8+j)%len(regionOf)), newOwner(), policyOf(0), time.Second)
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		begin := time.Now()
		replies := r.store.Do(ctx, ops)
		took = append(took, time.Since(begin))
		cancel()
		for _, reply := range replies {
			if reply.Code != wire.Created {
				r.Fatalf("claim: %+v", reply)
			}
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
