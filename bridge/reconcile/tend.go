package reconcile

import (
	"context"
	"sync"
	"time"
)

const (
	// tendEvery is how often every index is looked over and all records are walked.
	tendEvery = 24 * time.Hour
	// strayPause is the least pause between two looks at one share for strays.
	strayPause = time.Minute
	// scanPause is the pause after each page of a walk over all records: some
	// 20,000 keys a second of one server at most.
	scanPause = 25 * time.Millisecond
)

// tending is what is due for the indexes.
type tending struct {
	mu          sync.Mutex
	tidy        map[int]time.Time // share: when it is tidied next
	tidied      map[int]time.Time // share: when it was last
	scan        time.Time         // when all records are walked next
	scanning    bool
	incarnation string
	scans       sync.WaitGroup
}

// add notes a share that this bridge has got.
func (t *tending) add(share int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tidy == nil {
		t.tidy, t.tidied = map[int]time.Time{}, map[int]time.Time{}
	}
	t.tidy[share] = time.Time{}
}

// stray notes a share with a member behind which nothing is unresolved.
func (t *tending) stray(share int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.tidied[share].Add(strayPause); at.Before(t.tidy[share]) {
		t.tidy[share] = at
	}
}

// tend tidies at most one share a round, and begins a walk over all records where
// one is due: at the start, daily, and when a server was replaced. The bridge that
// has the first share walks for all.
func (r *Reconciler) tend(ctx context.Context) {
	r.noticeReplaced(ctx)
	now := time.Now()
	t := &r.tending
	if share := t.next(r.shares(), now); share >= 0 {
		tidy, cancel := context.WithTimeout(ctx, 10*storeTimeout)
		n, err := r.cfg.Store.Tidy(tidy, share)
		cancel()
		r.metrics.indexRepairs.WithLabelValues("removed").Add(float64(n))
		if err != nil {
			t.put(share, now.Add(strayPause))
		}
	}
	r.mu.Lock()
	first := r.held[0]
	r.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !first || t.scanning || now.Before(t.scan) {
		return
	}
	t.scanning, t.scan = true, now.Add(tendEvery)
	t.scans.Go(func() { r.walk(ctx) })
}

func (r *Reconciler) walk(ctx context.Context) {
	begin := time.Now()
	n, err := r.cfg.Store.Reindex(ctx, scanPause)
	r.metrics.indexRepairs.WithLabelValues("indexed").Add(float64(n))
	t := &r.tending
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scanning = false
	switch {
	case ctx.Err() != nil:
	case err != nil:
		t.scan = time.Now().Add(strayPause)
		r.cfg.Log.Warn("the walk over all records broke off", "indexed", n, "error", err)
	case n > 0:
		r.cfg.Log.Info("unresolved records were missing in their indexes", "indexed", n, "took", time.Since(begin).Round(time.Millisecond).String())
	}
}

// noticeReplaced makes everything due when a server was replaced.
func (r *Reconciler) noticeReplaced(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	now, err := r.cfg.Store.Incarnation(ctx)
	if err != nil || now == "" {
		return
	}
	t := &r.tending
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.incarnation != "" && t.incarnation != now {
		t.scan = time.Time{}
		for share := range t.tidy {
			t.tidy[share] = time.Time{}
		}
	}
	t.incarnation = now
}

// next takes a share that is due; -1: none is.
func (t *tending) next(shares []int, now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, share := range shares {
		if !now.Before(t.tidy[share]) {
			t.tidy[share], t.tidied[share] = now.Add(tendEvery), now
			return share
		}
	}
	return -1
}

func (t *tending) put(share int, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tidy[share] = at
}
