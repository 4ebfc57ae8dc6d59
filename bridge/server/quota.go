package server

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// AnyNamespace names the quota that all namespaces without one of their own
// share.
const AnyNamespace = "*"

// Quota bounds what one namespace may add to the store through this bridge. Each
// bridge counts for itself, with no word to the others, so that the store sees at
// most as many times the quota as there are bridges. A namespace that was quiet
// has saved at most [QuotaSaved] of its rates.
type Quota struct {
	Namespace string
	// NewKeys is how many keys a second may be claimed that have no record yet,
	// or issued. 0: any.
	NewKeys int
	// ResultBytes is how many bytes a second of results may be recorded, counted
	// before they are sealed; it may be exceeded by one result. 0: any.
	ResultBytes int64
	// MaxResult is the largest result that is recorded, in bytes. 0: any.
	MaxResult int64
}

// QuotaSaved is for how long a rate that is not used is saved.
const QuotaSaved = 10 * time.Second

// Which part of a quota is used up; indices of quotaNames.
const (
	quotaKeys = iota
	quotaBytes
	quotaResult
)

var quotaNames = [...]string{quotaKeys: "new_keys", quotaBytes: "result_bytes", quotaResult: "max_result"}

// quota is a namespace's quota at work. nil is no quota.
type quota struct {
	Quota
	keys, bytes bucket
	refused     [len(quotaNames)]prometheus.Counter
	health      condition
}

func newQuotas(list []Quota, reg prometheus.Registerer, log *slog.Logger) (map[string]*quota, error) {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "oncewall_bridge_over_quota_total", Help: "Operations beyond a namespace's quota: new keys refused, results not kept.",
	}, []string{"namespace", "quota"})
	reg.MustRegister(refused)
	quotas := make(map[string]*quota, len(list))
	for _, q := range list {
		if quotas[q.Namespace] != nil {
			return nil, fmt.Errorf("server: namespace %q has two quotas", q.Namespace)
		}
		at := &quota{Quota: q, keys: newBucket(float64(q.NewKeys)), bytes: newBucket(float64(q.ResultBytes))}
		at.health = condition{log: log.With("namespace", q.Namespace), bad: "quota used up", good: "quota is enough again"}
		for i, name := range quotaNames {
			at.refused[i] = refused.WithLabelValues(q.Namespace, name)
		}
		quotas[q.Namespace] = at
	}
	return quotas, nil
}

// quotaOf returns the quota of a namespace, nil where it has none.
func (s *Server) quotaOf(namespace string) *quota {
	if q := s.quotas[namespace]; q != nil {
		return q
	}
	return s.quotas[AnyNamespace]
}

// newKey takes one new key out of the quota before the store is asked, since only
// the store can tell whether the key is new; settle gives it back where it was
// not. A refusal says when the next one is there.
func (q *quota) newKey(kind wire.Kind, issued bool) wire.Result {
	if q == nil || q.NewKeys == 0 || !makesKey(kind, issued) {
		return wire.Result{}
	}
	wait, ok := q.keys.take(time.Now(), 1, 1)
	if !ok {
		q.refuse(quotaKeys)
		return wire.Result{Code: wire.OverQuota, RetryAfterMS: (wait + time.Millisecond - 1).Milliseconds()}
	}
	q.health.answered()
	return wire.Result{}
}

// makesKey reports whether an operation makes a record where there is none. The
// record of an issued key is made when it is issued.
func makesKey(kind wire.Kind, issued bool) bool {
	return kind == wire.Issue || kind == wire.Claim && !issued
}

// keeps takes a result out of the quota; false: it is not to be kept.
func (q *quota) keeps(size int) bool {
	if q == nil {
		return true
	}
	if q.MaxResult > 0 && int64(size) > q.MaxResult {
		q.refused[quotaResult].Inc()
		return false
	}
	if q.ResultBytes == 0 {
		return true
	}
	if _, ok := q.bytes.take(time.Now(), 0, float64(size)); !ok {
		q.refuse(quotaBytes)
		return false
	}
	return true
}

func (q *quota) refuse(which int) {
	q.refused[which].Inc()
	q.health.failed(errors.New("a rate is used up"), "quota", quotaNames[which])
}

// settle gives back what op took and did not use: the claim of a key that had a
// record, and the bytes of a completion that will be repeated. A claim without an
// answer may have made a record, and stays counted. size is the completion's, r
// nil where the store answered nothing.
func (q *quota) settle(op *store.Operation, size int, r *store.Reply) {
	if q == nil {
		return
	}
	unanswered := r == nil
	switch {
	case op.Kind == wire.Complete && unanswered && q.ResultBytes > 0:
		q.bytes.give(float64(size))
	case q.NewKeys > 0 && makesKey(op.Kind, op.Policy.Issued) && !unanswered:
		made := r.Code == wire.Created && r.Attempt <= 1 && !r.Takeover || op.Kind == wire.Issue && (r.Code == wire.OK || r.Code == wire.Issued)
		if !made {
			q.keys.give(1)
		}
	}
}

// bucket is a token bucket. It may go into debt, so that one thing larger than
// it holds is let through and paid for by those after it.
type bucket struct {
	rate, most float64 // a second; at most
	mu         sync.Mutex
	have       float64
	at         time.Time
}

func newBucket(rate float64) bucket {
	most := max(rate*QuotaSaved.Seconds(), 1)
	return bucket{rate: rate, most: most, have: most}
}

// take takes n if something is left, and no less than floor. What n is more than that
// becomes a debt. Otherwise it says how long it takes until floor is there.
func (b *bucket) take(now time.Time, floor, n float64) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.at.IsZero() {
		b.at = now
	}
	if passed := now.Sub(b.at); passed > 0 {
		b.have = min(b.have+passed.Seconds()*b.rate, b.most)
		b.at = now
	}
	if b.have > 0 && b.have >= floor {
		b.have -= n
		return 0, true
	}
	return time.Duration((floor - b.have) / b.rate * float64(time.Second)), false
}

func (b *bucket) give(n float64) {
	b.mu.Lock()
	b.have = min(b.have+n, b.most)
	b.mu.Unlock()
}
