package clusterfault

import (
	"sync"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

const (
	// stoppedBudget is what a filter gives a claim's first try by default.
	stoppedBudget = 125 * time.Millisecond
	// healing is how soon a node that goes on must be used again, with what a busy
	// machine adds to docs/redis.md's word.
	healing = 2*time.Second + grace
)

// While one of three masters hangs, claims of the others that share batches with its
// own are answered as before, its own are unavailable, and all is well soon after it
// goes on. No key is granted twice.
func TestStoppedMasterDelaysOnlyItsKeys(t *testing.T) {
	r := start(t, rediscluster.Config{NodeTimeout: time.Minute}) // no failover
	r.healthy()
	const stopped = 1
	length := time.Second
	if *long {
		length = 5 * time.Second
	}
	var all mixed
	before := r.mixed(&all, length)
	if before.away > 0 {
		t.Logf("before: %d claims unavailable", before.away)
	}
	n := r.master(stopped)
	if err := n.Pause(); err != nil {
		t.Fatal(err)
	}
	defer n.Resume()
	r.eventually("the store gives the node up", func() bool {
		began := time.Now()
		result := r.bridge.only(policyOf(0), wire.Operation{Kind: wire.Claim, Key: newKey(r.bucket(stopped)), Owner: newOwner(), BudgetMS: uint32(stoppedBudget.Milliseconds())})
		return result.Code == wire.Unavailable && time.Since(began) < stoppedBudget/4
	})
	during := r.mixed(&all, length)
	if err := n.Resume(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r.eventually("the node's keys are served", func() bool {
		op := wire.Operation{Kind: wire.Claim, Key: newKey(r.bucket(stopped)), Owner: newOwner()}
		return r.bridge.only(policyOf(0), op).Code == wire.Created
	})
	healed := time.Since(began)
	t.Logf("batches over all masters: p50 %v, p90 %v; one stopped: p50 %v, p90 %v, %d of %d claims of the others unavailable; healed in %v",
		percentile(before.took, 50), percentile(before.took, 90), percentile(during.took, 50), percentile(during.took, 90),
		during.elsewhere, during.claims, healed.Round(time.Millisecond))
	if p50 := percentile(during.took, 50); p50 > stoppedBudget/2 {
		t.Errorf("half of all batches took %v and more, want them not to wait for the node's deadline, %v", p50, stoppedBudget)
	}
	if during.served[stopped] > 0 || during.away == 0 {
		t.Errorf("claims of the stopped master: %d served, %d unavailable", during.served[stopped], during.away)
	}
	if during.elsewhere*100 > stumbles*during.claims {
		t.Errorf("%d of %d claims of other masters unavailable", during.elsewhere, during.claims)
	}
	if healed > healing {
		t.Errorf("the node's keys are served %v after it went on, want %v", healed, healing)
	}
	r.grantedOnce(&all)
}

// mixed is every key that was claimed in batches over all masters, and how often
// each was granted.
type mixed struct {
	mu   sync.Mutex
	keys []*key
}

// mixedRun is what a stretch of such batches saw.
type mixedRun struct {
	took              []time.Duration
	served            [regions]int
	away              int // unavailable of one region
	claims, elsewhere int // of the other regions: all, and unavailable
}

// mixed sends batches of two claims for each master from four callers for a while.
func (r *rig) mixed(all *mixed, length time.Duration) (run mixedRun) {
	end := time.Now().Add(length)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for turn := 0; time.Now().Before(end); turn++ {
				<-tick.C
				var keys []*key
				var ops []wire.Operation
				for i := range 2 * regions {
					of := bucketsOf[i%regions]
					k := &key{text: newKey(of[(turn+i)%len(of)]), region: i % regions, owner: newOwner()}
					keys = append(keys, k)
					ops = append(ops, wire.Operation{Kind: wire.Claim, Key: k.text, Owner: k.owner, BudgetMS: uint32(stoppedBudget.Milliseconds())})
				}
				began := time.Now()
				results, err := r.bridge.send(policyOf(0), ops...)
				took := time.Since(began)
				if err != nil {
					r.Error(err)
					return
				}
				all.mu.Lock()
				run.took = append(run.took, took)
				all.keys = append(all.keys, keys...)
				for i, result := range results {
					run.book(keys[i], result.Code)
				}
				all.mu.Unlock()
			}
		})
	}
	callers.Wait()
	return run
}

func (m *mixedRun) book(k *key, code wire.Code) {
	if k.region != 1 {
		m.claims++
	}
	switch {
	case code == wire.Created:
		k.runs++
		m.served[k.region]++
	case k.region == 1:
		m.away++
	default:
		m.elsewhere++
	}
}

// grantedOnce claims every key once more by another owner: one that was granted must
// not be again.
func (r *rig) grantedOnce(all *mixed) {
	r.Helper()
	const batch = 64
	for from := 0; from < len(all.keys); from += batch {
		left := all.keys[from:min(from+batch, len(all.keys))]
		r.eventually("an answer to every repeat", func() bool {
			ops := make([]wire.Operation, len(left))
			for i, k := range left {
				ops[i] = wire.Operation{Kind: wire.Claim, Key: k.text, Owner: newOwner()}
			}
			results, err := r.bridge.send(policyOf(0), ops...)
			if err != nil {
				r.Fatal(err)
			}
			var again []*key
			for i, result := range results {
				switch result.Code {
				case wire.Unavailable:
					again = append(again, left[i])
				case wire.Created:
					left[i].runs++
				}
			}
			left = again
			return len(left) == 0
		})
	}
	for _, k := range all.keys {
		if k.runs > 1 {
			r.Fatalf("a key was granted %d times", k.runs)
		}
	}
}
