package clusterfault

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

const (
	// largeResults is how many results of largeBytes are written, and each
	// replayed once, in a window; spread evenly over it.
	largeResults = 50
	largeBytes   = 1 << 20
	// window is how long claims are measured with or without large results.
	window = 2 * time.Second
)

// What large results cost small claims: the 99th percentile of claims while 50
// results of 1 MiB are written and replayed beside them, over that without, in
// windows that take turns. A measurement, printed and not asserted: one machine
// carries servers and callers.
func TestSmallClaimsBesideLargeResults(t *testing.T) {
	rounds := 1
	if *long {
		rounds = 10
	}
	r := start(t, rediscluster.Config{})
	r.healthy()
	var ratios []float64
	var alone, beside []time.Duration
	for round := range rounds {
		a := r.smallClaims()
		large := r.largeResults()
		b := r.smallClaims()
		large()
		ratios = append(ratios, float64(percentile(b))/float64(percentile(a)))
		t.Logf("round %d: p99 %v alone, %v beside: %.2f", round, percentile(a), percentile(b), ratios[round])
		alone, beside = append(alone, a...), append(beside, b...)
	}
	slices.Sort(ratios)
	t.Logf("p99 of a batch of 8 claims: %v alone, %v beside results of 1 MiB; the rounds' ratios: %.2f to %.2f, median %.2f",
		percentile(alone), percentile(beside), ratios[0], ratios[len(ratios)-1], ratios[len(ratios)/2])
	slices.Sort(alone)
	slices.Sort(beside)
	t.Logf("p50 %v alone, %v beside; of %d and %d batches", alone[len(alone)/2], beside[len(beside)/2], len(alone), len(beside))
}

// smallClaims measures claims in batches of 8 over all masters for a window, at
// a pace that leaves the machine idle in between.
func (r *rig) smallClaims() (took []time.Duration) {
	r.Helper()
	policy := policyOf(0)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	next := 0
	for end := time.Now().Add(window); time.Now().Before(end); {
		<-tick.C
		ops := make([]wire.Operation, 8)
		for i := range ops {
			ops[i] = wire.Operation{Kind: wire.Claim, Key: newKey(next % len(regionOf)), Owner: newOwner(), BudgetMS: 1000}
			next++
		}
		begin := time.Now()
		results, err := r.bridge.send(policy, ops...)
		took = append(took, time.Since(begin))
		if err != nil {
			r.Fatal(err)
		}
		for _, result := range results {
			if result.Code != wire.Created {
				r.Fatalf("claim: %+v", result)
			}
		}
	}
	return took
}

// largeResults starts to write and replay large results, and returns what waits
// for the last one.
func (r *rig) largeResults() (wait func()) {
	body, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: bytes.Repeat([]byte{'x'}, largeBytes)})
	if err != nil {
		r.Fatal(err)
	}
	b := r.bridge.another()
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(window / largeResults)
		defer tick.Stop()
		for i := range largeResults {
			<-tick.C
			if err := b.largeResult(newKey(i*20), body); err != nil {
				r.Error(err)
				return
			}
		}
	})
	return all.Wait
}

// largeResult is the life of a key whose result is large: claimed, completed and
// fetched.
func (b *bridge) largeResult(key string, body []byte) error {
	policy, owner := policyOf(0), newOwner()
	for _, step := range []struct {
		op   wire.Operation
		want wire.Code
	}{
		{wire.Operation{Kind: wire.Claim, Key: key, Owner: owner}, wire.Created},
		{wire.Operation{Kind: wire.Complete, Key: key, Owner: owner, Status: 201, Result: body}, wire.OK},
		{wire.Operation{Kind: wire.Claim, Key: key, Owner: newOwner(), Fetch: true}, wire.Replayed},
	} {
		step.op.BudgetMS = 5000
		results, err := b.send(policy, step.op)
		if err != nil {
			return err
		}
		if got := results[0]; got.Code != step.want || step.want == wire.Replayed && len(got.Result) != len(body) {
			return fmt.Errorf("operation %d of a result of %d bytes: code %d, %d bytes", step.op.Kind, len(body), got.Code, len(got.Result))
		}
	}
	return nil
}

func percentile(took []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*99/100]
}
