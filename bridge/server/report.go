package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	// ReportInterval is how often counts go to the store. A bridge that dies takes
	// those of this time with it.
	ReportInterval = 10 * time.Second
	// maxCounts bounds the counts that wait for the store. What has no room is
	// counted with the namespace and the scope left out.
	maxCounts = 4096
	// reportTimeout bounds one addition.
	reportTimeout = 2 * time.Second
)

// FirstRequest is the class under which reports have first requests, beside those
// of wire.Class.
const FirstRequest = "first"

// report counts what claims were answered, by the hour. No request waits for it, and
// none costs the store a command: counts are added up here and leave together.
type report struct {
	store  store.Reporter // nil: the store keeps none
	writer string
	sketch *sketch

	mu     sync.Mutex
	counts map[count]int64

	// flushing lets one addition out at a time. What follows belongs to it.
	flushing sync.Mutex
	pending  []store.Tallies // taken from counts; the first may be in the store already
	number   int64
}

type count struct {
	hour             int64
	namespace, scope string
	class            wire.Class // 0: a first request
}

func newReport(st store.Store) *report {
	r := &report{sketch: newSketch(), counts: map[count]int64{}}
	r.store, _ = st.(store.Reporter)
	id := make([]byte, 8)
	rand.Read(id) // never fails: it ends the program instead
	r.writer = hex.EncodeToString(id)
	return r
}

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

// take counts the claims of a batch, and what the filter has answered by itself.
func (r *report) take(j *job, now time.Time) {
	if r.store == nil || len(j.batch.Namespace) > wire.MaxScopeBytes {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := count{hour: hourOf(now), namespace: j.batch.Namespace}
	for i := range j.results {
		op, result := &j.batch.Ops[i], &j.results[i]
		if op.Kind != wire.Claim {
			continue
		}
		at.scope = op.Scope
		if result.Code == wire.Created && result.Attempt == 1 {
			r.add(at, 0, 1)
			if r.sketch.another(now, j.batch.Namespace, op) {
				r.add(at, wire.SuspectedNew, 1)
			}
			continue
		}
		if class := classOf(op, result); class != 0 && !op.Again && !result.Withheld {
			r.add(at, class, 1)
		}
	}
	for i := range j.batch.Tallies {
		t := &j.batch.Tallies[i]
		if t.Class >= wire.DoubleClick && t.Class <= wire.Reused && t.N > 0 && len(t.Scope) >= 1 && len(t.Scope) <= wire.MaxScopeBytes {
			at.scope = t.Scope
			r.add(at, t.Class, int64(t.N))
		}
	}
}

func (r *report) add(at count, class wire.Class, n int64) {
	at.class = class
	if _, ok := r.counts[at]; !ok && len(r.counts) >= maxCounts {
		at.namespace, at.scope = "", ""
	}
	r.counts[at] += n
}

// run flushes until stopped.
func (r *report) run(stopped <-chan struct{}, failed func(error)) {
	if r.store == nil {
		return
	}
	tick := time.NewTicker(ReportInterval)
	defer tick.Stop()
	for {
		select {
		case <-stopped:
			return
		case <-tick.C:
			if err := r.flush(context.Background()); err != nil {
				failed(err)
			}
		}
	}
}

// flush sends what was counted. What fails is sent again the next time, under the
// same number: the store adds it once.
func (r *report) flush(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	r.flushing.Lock()
	defer r.flushing.Unlock()
	for {
		if len(r.pending) == 0 && !r.load() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, reportTimeout)
		err := r.store.AddTallies(ctx, r.pending[0])
		cancel()
		if err != nil {
			return err
		}
		r.pending = r.pending[1:]
	}
}

// load moves what was counted to pending; false: nothing was.
func (r *report) load() bool {
	r.mu.Lock()
	counts := r.counts
	r.counts = map[count]int64{}
	r.mu.Unlock()
	byHour := map[int64][]store.Tally{}
	for c, n := range counts {
		class := FirstRequest
		if c.class != 0 {
			class = c.class.String()
		}
		byHour[c.hour] = append(byHour[c.hour], store.Tally{Namespace: c.namespace, Scope: c.scope, Class: class, N: n})
	}
	for hour, list := range byHour {
		for len(list) > 0 {
			n := min(len(list), store.MaxTallies)
			r.number++
			r.pending = append(r.pending, store.Tallies{Hour: hour, List: list[:n], Writer: r.writer, Number: r.number})
			list = list[n:]
		}
	}
	return len(r.pending) > 0
}

// uncounted logs that counts did not get to the store.
func (s *Server) uncounted(err error) {
	s.cfg.Log.Warn("counts for reports are not stored yet", "error", err)
}

var errNoReporter = fmt.Errorf("%w: this store keeps no counts", store.ErrUnavailable)

// Report sums what claims were answered since from, by whole hours: all that this
// bridge has counted, and what others had sent to the store by now. It returns the
// beginning of the first hour.
func (s *Server) Report(ctx context.Context, from time.Time) (time.Time, []store.Tally, error) {
	first, last := hourOf(from), hourOf(s.cfg.Now())
	begin := time.Unix(first*3600, 0).UTC()
	if s.report.store == nil {
		return begin, nil, errNoReporter
	}
	if err := s.report.flush(ctx); err != nil {
		return begin, nil, err
	}
	list, err := s.report.store.Tallies(ctx, first, last)
	return begin, list, err
}
