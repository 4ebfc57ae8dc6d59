package clusterfault

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

const (
	// budget of one try of an operation.
	budget = time.Second
	// grace is what an answer may be late on a busy machine.
	grace = 1500 * time.Millisecond
	// stumbles is how many of a hundred operations elsewhere may be unavailable
	// because the machine that carries all servers and callers stumbled. Whoever a
	// fault reaches loses most.
	stumbles = 2
	// callers of each region, and how often each begins a key.
	callers = 2
	pace    = 15 * time.Millisecond
	// perRegion is how many keys of each region a mixed batch holds.
	perRegion = 2
)

// A load is callers that send batches to a bridge until end: they claim, finish
// and repeat keys. Some keep to one region, others mix all regions in a batch.
type load struct {
	r      *rig
	policy *wire.Policy
	stop   chan struct{}
	all    sync.WaitGroup

	mu     sync.Mutex
	keys   []*key
	faults []string
	// awayIn counts by bucket what was unavailable.
	awayIn map[int]int

	served, away [regions]atomic.Int64
	slowest      [regions]atomic.Int64 // of an answer, unavailable included; ns
}

// A key counts its executions: the owners that were granted it, each of whom
// would have sent the request to the backend.
type key struct {
	text           string
	bucket, region int
	owner          []byte // of the first request
	runs           int
}

func (r *rig) load(replicas int64) *load {
	l := &load{r: r, policy: policyOf(replicas), stop: make(chan struct{}), awayIn: map[int]int{}}
	for region := range regions {
		for n := range callers {
			l.all.Go(func() { l.caller(n, region) })
		}
	}
	l.all.Go(func() { l.caller(0, 0, 1, 2) })
	return l
}

// caller begins a key in each of its regions' buckets in turn.
func (l *load) caller(n int, of ...int) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	each := 1
	if len(of) > 1 {
		each = perRegion
	}
	for turn := n; ; turn += each {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		var keys []*key
		for _, region := range of {
			for i := range each {
				b := bucketsOf[region][(turn+i)%len(bucketsOf[region])]
				keys = append(keys, &key{text: newKey(b), bucket: b, region: region, owner: newOwner()})
			}
		}
		l.story(keys)
	}
}

// story is what happens to keys: a first request each, a repeat while it runs,
// its answer, and a repeat of that.
func (l *load) story(keys []*key) {
	l.mu.Lock()
	l.keys = append(l.keys, keys...)
	l.mu.Unlock()
	granted, not := l.attempt(keys, (*key).first)
	l.operate(not, wire.Release, (*key).first) // they never ran
	l.attempt(granted, another, wire.InFlight)
	ok, _ := split(granted, l.operate(granted, wire.Complete, (*key).first), wire.OK)
	l.attempt(ok, another, wire.Replayed, wire.InFlight)
}

func (k *key) first() []byte { return k.owner }

func another(*key) []byte { return newOwner() }

// split parts keys by whether their result has the code.
func split(keys []*key, results []wire.Result, code wire.Code) (with, without []*key) {
	for i, k := range keys {
		if results[i].Code == code {
			with = append(with, k)
		} else {
			without = append(without, k)
		}
	}
	return with, without
}

// attempt claims as a filter does: once more with the same owner where the first
// try came to nothing. want are the answers beside a grant and unavailable.
func (l *load) attempt(keys []*key, owner func(*key) []byte, want ...wire.Code) (granted, not []*key) {
	owners := map[*key][]byte{}
	for _, k := range keys {
		owners[k] = owner(k)
	}
	same := func(k *key) []byte { return owners[k] }
	for range 2 {
		var again []*key
		for i, result := range l.operate(keys, wire.Claim, same) {
			k := keys[i]
			switch {
			case result.Code == wire.Created:
				k.runs++
				granted = append(granted, k)
				continue
			case result.Code == wire.Unavailable:
				again = append(again, k)
				continue
			case result.Code != wire.Stale && !among(want, result.Code): // stale: granted before, and given back
				l.fault("claim of a key that ran %d times: code %d, want %v", k.runs, result.Code, want)
			}
			not = append(not, k)
		}
		keys = again
	}
	return granted, append(not, keys...)
}

func among(codes []wire.Code, c wire.Code) bool {
	for _, code := range codes {
		if c == code {
			return true
		}
	}
	return false
}

// operate sends one operation for each key in one batch, and books how each was
// answered.
func (l *load) operate(keys []*key, kind wire.Kind, owner func(*key) []byte) []wire.Result {
	if len(keys) == 0 {
		return nil
	}
	ops := make([]wire.Operation, len(keys))
	for i, k := range keys {
		ops[i] = wire.Operation{Kind: kind, Key: k.text, Owner: owner(k)}
		if kind == wire.Complete {
			ops[i].Status, ops[i].Result = 201, response()
		}
	}
	begin := time.Now()
	results, err := l.r.bridge.send(l.policy, ops...)
	took := int64(time.Since(begin))
	if err != nil {
		l.fault("batch of operations %d: %v", kind, err)
		results = make([]wire.Result, len(ops))
		for i := range results {
			results[i].Code = wire.Unavailable
		}
	}
	for i, k := range keys {
		for old := l.slowest[k.region].Load(); took > old && !l.slowest[k.region].CompareAndSwap(old, took); {
			old = l.slowest[k.region].Load()
		}
		if results[i].Code != wire.Unavailable {
			l.served[k.region].Add(1)
			continue
		}
		l.away[k.region].Add(1)
		l.mu.Lock()
		l.awayIn[k.bucket]++
		l.mu.Unlock()
	}
	return results
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
// concerned alone, answers in time, and one execution at most for each key, a
// claim made now included.
func (l *load) end(concerned ...int) {
	l.r.Helper()
	l.halt()
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
		l.r.Errorf("%d of %d keys were executed twice", twice, len(l.keys))
	}
}

// endIn is end for a fault of some slots alone: the others of their region are
// not concerned.
func (l *load) endIn(region int, slots []string) {
	l.r.Helper()
	l.end(region)
	elsewhere := 0
	for b, n := range l.awayIn {
		if regionOf[b] == region && !holds(slots, b) {
			elsewhere += n
		}
	}
	if served := int(l.served[region].Load()); elsewhere*100 > stumbles*served {
		l.r.Errorf("region %d: %d operations unavailable in other slots, %d answered", region, elsewhere, served)
	}
}

func holds(slots []string, bucket int) bool {
	for _, s := range slots {
		if s == fmt.Sprint(rediscluster.Slot(tag(bucket))) {
			return true
		}
	}
	return false
}

// lossy ends a load whose keys a failover may have lost, and says how many.
func (l *load) lossy() {
	l.r.Helper()
	l.halt()
	l.r.Logf("without replicas: %d of %d keys were executed twice", l.twice(), len(l.keys))
}

// halt stops the callers.
func (l *load) halt() {
	l.r.Helper()
	close(l.stop)
	l.all.Wait()
	for _, f := range l.faults {
		l.r.Error(f)
	}
}

// twice claims every key that ran once more, and counts those with two
// executions.
func (l *load) twice() (count int) {
	l.r.Helper()
	var ran []*key
	for _, k := range l.keys {
		if k.runs > 0 {
			ran = append(ran, k)
		}
	}
	const batch = 64
	for from := 0; from < len(ran); from += batch {
		left := ran[from:min(from+batch, len(ran))]
		l.r.eventually("an answer to every repeat", func() bool {
			var again []*key
			for i, result := range l.operate(left, wire.Claim, another) {
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
	for _, k := range l.keys {
		if k.runs > 1 {
			count++
		}
	}
	return count
}
