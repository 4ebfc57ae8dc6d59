package clusterfault

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	// budget of one try of an operation.
	budget = 400 * time.Millisecond
	// grace is what an answer may be late on a busy machine.
	grace = 1500 * time.Millisecond
	// stumbles is how many of a hundred operations elsewhere may be unavailable
	// because the machine that carries all servers and callers stumbled. Whoever a
	// fault reaches loses most.
	stumbles = 1
	// callers of each region, and how often each begins a key.
	callers = 2
	pace    = 15 * time.Millisecond
)

// A load is callers that claim, finish and repeat keys in every region until
// end.
type load struct {
	r      *rig
	policy *wire.Policy
	stop   chan struct{}
	all    sync.WaitGroup

	mu     sync.Mutex
	keys   []*key
	faults []string

	served, away [regions]atomic.Int64
	slowest      [regions]atomic.Int64 // of an answer, unavailable included; ns
}

// A key counts the owners that were granted it. Each of them would have run it.
type key struct {
	name   store.Name
	region int
	grants int
}

func (r *rig) load(replicas int64) *load {
	l := &load{r: r, policy: policyOf(replicas), stop: make(chan struct{})}
	for region := range regions {
		for n := range callers {
			l.all.Go(func() { l.caller(region, n) })
		}
	}
	return l
}

// caller begins a key in each of its region's buckets in turn.
func (l *load) caller(region, n int) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for b := n; ; b++ {
		if regionOf[b%len(regionOf)] != region {
			continue
		}
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		l.story(&key{name: newName(b % len(regionOf)), region: region})
	}
}

// story is what happens to one key: a first request, a repeat while it runs, its
// answer, and a repeat of that.
func (l *load) story(k *key) {
	l.mu.Lock()
	l.keys = append(l.keys, k)
	l.mu.Unlock()
	first := newOwner()
	if !l.attempt(k, first) {
		l.operation(k, wire.Release, first) // it never ran
		return
	}
	l.attempt(k, newOwner(), wire.InFlight)
	if l.operation(k, wire.Complete, first).Code == wire.OK {
		l.attempt(k, newOwner(), wire.Replayed, wire.InFlight)
	}
}

// attempt claims as a filter does: once more with the same owner where the first
// try came to nothing. want are the answers beside a grant and unavailable.
func (l *load) attempt(k *key, owner []byte, want ...wire.Code) (granted bool) {
	for range 2 {
		reply := l.operation(k, wire.Claim, owner)
		switch {
		case reply.Err != nil:
			continue
		case reply.Code == wire.Created:
			k.grants++
			return true
		case reply.Code == wire.Stale:
			return false // the first try was granted, and given back
		}
		for _, code := range want {
			if reply.Code == code {
				return false
			}
		}
		l.fault("claim of a key with %d grants: code %d, want %v", k.grants, reply.Code, want)
		return false
	}
	return false
}

// operation carries out one step and books how it was answered.
func (l *load) operation(k *key, kind wire.Kind, owner []byte) store.Reply {
	op := store.Operation{Kind: kind, Name: k.name, Owner: owner, Policy: l.policy, Deadline: time.Now().Add(budget)}
	if kind == wire.Complete {
		op.Status, op.Result = 201, []byte("result")
	}
	begin := time.Now()
	reply := do(l.r.store, op)
	took := int64(time.Since(begin))
	for old := l.slowest[k.region].Load(); took > old && !l.slowest[k.region].CompareAndSwap(old, took); {
		old = l.slowest[k.region].Load()
	}
	switch {
	case reply.Err == nil:
		l.served[k.region].Add(1)
	case errors.Is(reply.Err, store.ErrUnavailable):
		l.away[k.region].Add(1)
	default:
		l.fault("operation %d: %v is not unavailable", kind, reply.Err)
	}
	return reply
}

func (l *load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) < 10 {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

// flows waits until some more operations of a region have been answered.
func (l *load) flows(region int) {
	l.r.Helper()
	more := l.served[region].Load() + 40
	l.r.eventually(fmt.Sprintf("answers in region %d", region), func() bool { return l.served[region].Load() >= more })
}

// flowsEverywhere waits for every region.
func (l *load) flowsEverywhere() {
	l.r.Helper()
	for region := range regions {
		l.flows(region)
	}
}

// hurts waits until operations of a region are unavailable.
func (l *load) hurts(region int) {
	l.r.Helper()
	more := l.away[region].Load() + 4
	l.r.eventually(fmt.Sprintf("unavailable in region %d", region), func() bool { return l.away[region].Load() >= more })
}

// end stops the callers and checks what they saw: unavailable in the regions
// concerned alone, answers in time, and one grant at most for each key, a claim
// made now included.
func (l *load) end(concerned ...int) {
	l.r.Helper()
	close(l.stop)
	l.all.Wait()
	for _, f := range l.faults {
		l.r.Error(f)
	}
	for region := range regions {
		may := false
		for _, c := range concerned {
			may = may || c == region
		}
		away, slowest := l.away[region].Load(), time.Duration(l.slowest[region].Load())
		if served := l.served[region].Load(); !may && away*100 > stumbles*served {
			l.r.Errorf("region %d: %d operations unavailable, %d answered, want all answered: the fault was elsewhere", region, away, served)
		}
		if slowest > budget+grace {
			l.r.Errorf("region %d: an answer took %v, want %v", region, slowest, budget)
		}
		l.r.Logf("region %d: %d answered, %d unavailable, slowest %v", region, l.served[region].Load(), away, slowest.Round(time.Millisecond))
	}
	if twice := l.twice(); twice > 0 {
		l.r.Errorf("%d of %d keys were granted twice", twice, len(l.keys))
	}
}

// twice claims every key once more and counts those that were granted to two
// owners.
func (l *load) twice() (count int) {
	l.r.Helper()
	for _, k := range l.keys {
		if k.grants > 0 {
			var reply store.Reply
			for end := time.Now().Add(10 * time.Second); ; {
				reply = do(l.r.store, l.r.claim(k.name, newOwner(), l.policy, 2*time.Second))
				if reply.Err == nil {
					break
				}
				if time.Now().After(end) {
					for _, n := range l.r.Nodes {
						v, err := n.Do(l.r.Context(), "GET", tag(bucketOf(k.name))+"x")
						c, _ := n.Do(l.r.Context(), "CLUSTER", "NODES")
						l.r.Logf("%s: %q %v\n%s", n.Address(), v, err, c)
					}
					l.r.Logf("reply of one with replicas: %v", do(l.r.store, l.r.claim(k.name, newOwner(), policyOf(1), 2*time.Second)).Err)
					l.r.Fatalf("region %d, bucket %d: no answer in 30s: %v", k.region, bucketOf(k.name), reply.Err)
				}
			}
			if reply.Code == wire.Created {
				k.grants++
			}
		}
		if k.grants > 1 {
			count++
		}
	}
	return count
}
