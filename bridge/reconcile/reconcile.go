package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

const (
	// shareLife is the lease of a share, asked for again after a third of it.
	shareLife = 15 * time.Second
	// storeTimeout bounds one call of the store.
	storeTimeout = 2 * time.Second
	// perIndex bounds what is listed of one index.
	perIndex = 1024
	// lookPage is how many records are read at a time.
	lookPage = 256
	// lookAgain is the pause for records with which nothing can be done here.
	lookAgain = time.Minute
	// atOnce bounds the shares that are looked at together, so that a node that
	// hangs does not hold up the others for long.
	atOnce = 8
)

// Reconciler resolves overdue records. Run it once.
type Reconciler struct {
	cfg     Config
	holder  string // names this process among others
	scopes  []*scope
	metrics *metrics
	memory  memory
	tending tending

	mu     sync.Mutex
	held   map[int]bool
	unread map[int]bool // shares that the store did not show when last asked
	looked time.Time    // when the last round ended
	renew  time.Time    // when shares are asked for again
	rounds uint64
}

// New returns a reconciler. It starts nothing.
func New(cfg Config) (*Reconciler, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &Reconciler{cfg: cfg, holder: rand.Text(), held: map[int]bool{}, unread: map[int]bool{}}
	r.memory.shares = map[int]map[store.Name]*memo{}
	for i := range cfg.Scopes {
		r.scopes = append(r.scopes, newScope(cfg.Scopes[i]))
	}
	r.metrics = newMetrics(cfg.Registry, r.scopes)
	return r, nil
}

// Asked reports of which namespaces and scopes a backend is asked: their records
// have to carry key and principal.
func Asked(scopes []Scope) func(namespace, scope string) bool {
	return func(namespace, name string) bool {
		for i := range scopes {
			if s := &scopes[i]; s.Scope == name && (s.Namespace == "" || s.Namespace == namespace) {
				return true
			}
		}
		return false
	}
}

// scopeOf returns the scope's configuration, one of its own namespace first.
func (r *Reconciler) scopeOf(namespace, name string) (found *scope) {
	for _, s := range r.scopes {
		switch {
		case s.Scope.Scope != name:
		case s.Namespace == namespace:
			return s
		case s.Namespace == "":
			found = s
		}
	}
	return found
}

// Run looks after overdue records until ctx ends. What is under way then comes to
// its end, for at most grace; then Run gives its shares back and returns.
func (r *Reconciler) Run(ctx context.Context, grace time.Duration) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var workers sync.WaitGroup
	for _, s := range r.scopes {
		for range s.Probe.Concurrency {
			workers.Go(func() { r.work(ctx, work, s) })
		}
	}
	tick := time.NewTicker(r.cfg.Interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		r.round(ctx)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	ended := time.AfterFunc(grace, cancel)
	defer ended.Stop()
	workers.Wait()
	r.tending.scans.Wait()
	r.yield(context.WithoutCancel(ctx))
}

// round is one look at all shares.
func (r *Reconciler) round(ctx context.Context) {
	now := time.Now()
	r.rounds++
	if !now.Before(r.renew) {
		r.renew = now.Add(shareLife / 3)
		r.hold(ctx)
	}
	r.each(r.shares(), func(share int) { r.look(ctx, share) })
	r.tend(ctx)
	r.report(time.Now())
	r.mu.Lock()
	r.looked = time.Now()
	r.mu.Unlock()
}

// each calls f for every share, some at once.
func (r *Reconciler) each(shares []int, f func(share int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range min(atOnce, len(shares)) {
		all.Go(func() {
			for share := range next {
				f(share)
			}
		})
	}
	for _, share := range shares {
		next <- share
	}
	close(next)
	all.Wait()
}

// hold asks for every share that is free.
func (r *Reconciler) hold(ctx context.Context) {
	all := make([]int, r.cfg.Store.Shares())
	for i := range all {
		all[i] = i
	}
	r.each(all, func(share int) {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		lease, err := r.cfg.Store.Hold(ctx, share, r.holder, shareLife)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case err != nil || lease == store.LeaseOthers:
			r.readLocked(share, err)
			// A store that does not answer will not list anything either.
			if r.held[share] {
				delete(r.held, share)
				r.memory.forget(share)
			}
			return
		case lease == store.LeaseTaken:
			r.metrics.takeovers.Inc()
		}
		if !r.held[share] {
			r.held[share] = true
			r.tending.add(share)
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics.held.Set(float64(len(r.held)))
}

func (r *Reconciler) shares() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]int, 0, len(r.held))
	for share := range r.held {
		list = append(list, share)
	}
	return list
}

// yield gives the shares back, so that another bridge need not wait for their end.
func (r *Reconciler) yield(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	r.each(r.shares(), func(share int) { r.cfg.Store.Yield(ctx, share, r.holder) })
}

// look lists a share's overdue records and sends those to their scope's workers
// that are to be asked about now.
func (r *Reconciler) look(ctx context.Context, share int) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	list, err := r.cfg.Store.Due(ctx, share, perIndex)
	if r.read(share, err); err != nil {
		return
	}
	names := r.memory.due(share, list, time.Now(), r.rounds)
	for len(names) > 0 {
		page := names[:min(len(names), lookPage)]
		names = names[len(page):]
		records, err := r.cfg.Store.Look(ctx, page)
		if r.read(share, err); err != nil {
			return
		}
		for i := range records {
			r.judge(share, page[i], &records[i])
		}
	}
}

// judge decides what is to be done about one record.
func (r *Reconciler) judge(share int, name store.Name, record *store.Record) {
	now := time.Now()
	wait := func(why string, d time.Duration) {
		r.memory.with(share, name, func(n *memo) { n.fence, n.why, n.next = record.Fence, why, now.Add(d) })
	}
	switch {
	case !record.State.Unresolved():
		wait("", lookAgain)
		r.tending.stray(share)
		return
	case !record.LeaseOver:
		wait("", 0)
		return
	}
	if why := r.idle(record); why != "" {
		wait(why, lookAgain)
		return
	}
	who, err := r.cfg.Sealer.OpenSubject(name, record.Identity)
	if err != nil {
		wait(whyNoIdentity, lookAgain)
		return
	}
	s := r.scopeOf(who.Namespace, who.Scope)
	if s == nil {
		wait(whyNoProbe, lookAgain)
		return
	}
	a, ok := about(&who, record.Fence)
	if !ok {
		wait(whyNoIdentity, lookAgain)
		return
	}
	if early := s.Probe.After + record.Lease; record.Lease < 0 && early > 0 {
		wait(whyNew, early)
		return
	}
	t := task{share: share, name: name, record: *record, about: a}
	r.memory.with(share, name, func(n *memo) {
		if n.fence != record.Fence {
			n.fence, n.tries = record.Fence, 0
		}
		select {
		case s.queue <- t:
			n.busy = true
		default: // full: the next round asks
		}
	})
}

func nameText(n store.Name) string { return hex.EncodeToString(n[:]) }
