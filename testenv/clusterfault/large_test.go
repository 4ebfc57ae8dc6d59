package clusterfault

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

const largeBytes = 1 << 20

// window is how long claims are measured with or without large results, each time,
// and largeResults how many results of largeBytes are written and replayed in it,
// spread evenly. Those of the short form show that it works, and measure nothing.
func window() (d time.Duration, largeResults int) {
	if *long {
		return 2 * time.Second, 50
	}
	return 200 * time.Millisecond, 5
}

// What large results cost small claims: the 99th percentile of claims while 50
// results of 1 MiB are written and replayed beside them, over that without, in
// windows that take turns. In a third kind of window the same bytes go to the same
// nodes by plain SET and GET and past the bridge, which the bridge's pieces must
// better. The rest is a measurement, printed and not asserted: one machine carries
// servers and callers.
func TestSmallClaimsBesideLargeResults(t *testing.T) {
	rounds := 1
	if *long {
		rounds = 9
	}
	r := start(t, rediscluster.Config{})
	r.healthy()
	body, err := wire.AppendResponse(nil, &wire.Response{Status: 201, Body: bytes.Repeat([]byte{'x'}, largeBytes)})
	if err != nil {
		t.Fatal(err)
	}
	b := r.bridge.another()
	server.SpareCollector()   // as the program does
	var large []time.Duration // from completion to its result, fetched
	kinds := []struct {
		name string
		work func(i int) error
	}{
		{"alone", nil},
		{"beside results through the bridge", func(i int) error {
			took, err := b.largeResult(newKey(i*20), body)
			large = append(large, took...)
			return err
		}},
		{"beside plain SET and GET of them", func(i int) error { return r.plainResult(i*20, string(body)) }},
	}
	took := make([][]time.Duration, len(kinds))
	ratios := make([][]float64, len(kinds))
	for round := range rounds {
		p99 := make([]float64, len(kinds))
		for i := range kinds {
			k := (i + round) % len(kinds) // none is always the first
			wait := r.beside(kinds[k].work)
			times := r.smallClaims()
			wait()
			p99[k] = float64(percentile(times, 99))
			took[k] = append(took[k], times...)
		}
		for k := range kinds {
			ratios[k] = append(ratios[k], p99[k]/p99[0])
		}
	}
	for k := range kinds {
		slices.Sort(ratios[k])
		t.Logf("batches of 8 claims %s: p50 %v, p99 %v, %.2f times; rounds: %.2f to %.2f times, median %.2f", kinds[k].name,
			percentile(took[k], 50), percentile(took[k], 99), float64(percentile(took[k], 99))/float64(percentile(took[0], 99)),
			ratios[k][0], ratios[k][rounds-1], ratios[k][rounds/2])
	}
	t.Logf("a result of 1 MiB, one way: p50 %v, p99 %v", percentile(large, 50), percentile(large, 99))
	if beside, plain := percentile(took[1], 99), percentile(took[2], 99); *long && beside > plain {
		t.Errorf("claims beside results through the bridge: p99 %v, and %v beside plain SET and GET of them, want less", beside, plain)
	}
}

// smallClaims measures claims in batches of 8 over all masters for a window, at
// a pace that leaves the machine idle in between.
func (r *rig) smallClaims() (took []time.Duration) {
	r.Helper()
	policy := policyOf(0)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	next := 0
	length, _ := window()
	for end := time.Now().Add(length); time.Now().Before(end); {
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

// beside starts work evenly over a window, and returns what
// waits for the last one.
func (r *rig) beside(work func(i int) error) (wait func()) {
	length, count := window()
	var all sync.WaitGroup
	if work != nil {
		all.Go(func() {
			tick := time.NewTicker(length / time.Duration(count))
			defer tick.Stop()
			for i := range count {
				<-tick.C
				if err := work(i); err != nil {
					r.Error(err)
					return
				}
			}
		})
	}
	return all.Wait
}

// plainResult writes and reads a value on a bucket's master.
func (r *rig) plainResult(bucket int, value string) error {
	n, key := r.Nodes[regionOf[bucket]], fmt.Sprintf("%slarge%d", tag(bucket), bucket%20)
	if _, err := n.Do(r.Context(), "SET", key, value); err != nil {
		return err
	}
	_, err := n.Do(r.Context(), "GET", key)
	return err
}

// largeResult is the life of a key whose result is large: claimed, completed and
// fetched. It returns how long either way of the result took.
func (b *bridge) largeResult(key string, body []byte) (took []time.Duration, err error) {
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
		began := time.Now()
		results, err := b.send(policy, step.op)
		if err != nil {
			return nil, err
		}
		if step.want != wire.Created {
			took = append(took, time.Since(began))
		}
		if got := results[0]; got.Code != step.want || step.want == wire.Replayed && len(got.Result) != len(body) {
			return nil, fmt.Errorf("operation %d of a result of %d bytes: code %d, %d bytes", step.op.Kind, len(body), got.Code, len(got.Result))
		}
	}
	return took, nil
}

func percentile(took []time.Duration, of int) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*of/100]
}
