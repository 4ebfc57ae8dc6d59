package reconcile

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// Why a record is still overdue: label values and words of the log.
const (
	whyNew        = "new"         // not looked at yet
	whyHold       = "hold"        // its rule says so
	whyHeld       = "held"        // it was lost and made again, or its attempts are used up
	whyReacquire  = "reacquire"   // the next claim takes it over: nobody has come
	whyNoIdentity = "no-identity" // the record does not say, readably, what to ask about
	whyNoProbe    = "no-probe"    // its scope has none configured here
	whyRunning    = "running"     // the backend says so
	whyUnknown    = "unknown"     // the backend does not know
	whyUnpromised = "unpromised"  // not executed, which may change: see not_executed
	whyFailed     = "failed"      // the backend gives no answer that can be used
	whyCompensate = "compensate"  // the compensation fails
	whyStore      = "store"       // the answer could not be written down
)

var whys = []string{
	whyNew, whyHold, whyHeld, whyReacquire, whyNoIdentity, whyNoProbe, whyRunning, whyUnknown, whyUnpromised, whyFailed, whyCompensate, whyStore,
}

// memo is what this bridge knows of an overdue record.
type memo struct {
	fence uint64
	since time.Time // when its lease ended
	next  time.Time // when it is looked at again
	tries int       // questions without an end
	why   string
	busy  bool // a worker has it, or will
	stuck bool // and it was said
	round uint64
}

// memory holds the memos of the shares that this bridge has. They are lost with
// it, and cost whoever comes next a question each.
type memory struct {
	mu     sync.Mutex
	shares map[int]map[store.Name]*memo
}

// maxMemos bounds the memos of one share: records beyond it wait until others have
// ended.
const maxMemos = 4096

// due merges a listing of a share into memory, and returns the names that are to
// be looked at now.
func (m *memory) due(share int, list []store.Due, now time.Time, round uint64) (look []store.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.shares[share]
	if known == nil {
		known = map[store.Name]*memo{}
		m.shares[share] = known
	}
	for _, d := range list {
		n := known[d.Name]
		if n == nil {
			if len(known) >= maxMemos {
				continue
			}
			n = &memo{why: whyNew, since: now}
			if d.Overdue >= 0 {
				n.since = now.Add(-d.Overdue)
			}
			known[d.Name] = n
		}
		n.round = round
		if !n.busy && !now.Before(n.next) {
			look = append(look, d.Name)
		}
	}
	for name, n := range known {
		if n.round != round && !n.busy {
			delete(known, name)
		}
	}
	return look
}

// forget drops what is known of a share.
func (m *memory) forget(share int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.shares, share)
}

// with calls f with the memo of a record, where there is one.
func (m *memory) with(share int, name store.Name, f func(n *memo)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.shares[share][name]; n != nil {
		f(n)
	}
}

// resolved drops the memo of a record.
func (m *memory) resolved(share int, name store.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.shares[share], name)
}

// backoff is the pause after so many questions: it doubles from first to most, and
// half of it is chance, so that what broke together does not come back together.
func backoff(tries int, first, most time.Duration) time.Duration {
	d := most
	if tries < 32 && first<<tries>>tries == first {
		d = min(first<<tries, most)
	}
	return d/2 + rand.N(d/2+1)
}
