package filter

import (
	"math"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// headerAttempts is set by an Envoy that counts its attempts
// (include_request_attempt_count); a client that sets it falsifies a statistic.
const headerAttempts = "x-envoy-attempt-count"

// retriedBefore reports whether a proxy in front sends the request again.
func retriedBefore(r Request) bool {
	l := r.Header(headerAttempts)
	return len(l) == 1 && l[0] != "1" && positive(l[0])
}

// positive reports whether s is a number of some digits that is not 0.
func positive(s string) bool {
	some := false
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		some = some || s[i] != '0'
	}
	return some && len(s) < 10
}

// counts are the repeats of one rule by class.
type counts [wire.SuspectedNew]uint32

// tallied is a share of a batch's tallies, kept until the batch is answered.
type tallied struct {
	rule   *Rule
	counts counts
}

// A repeat that is answered from memory never meets the bridge, which counts
// repeats for reports. It is counted here, and the count leaves with the next batch
// of operations. What no batch takes along is lost with the worker.

// tally counts one repeat.
func (w *Worker) tally(r *Rule, c wire.Class) {
	if c > 0 {
		w.addTally(r, c, 1)
	}
}

func (w *Worker) addTally(r *Rule, c wire.Class, n uint32) {
	if !r.tallied {
		r.tallied = true
		w.tallies = append(w.tallies, r)
	}
	at := &r.counts[c-1]
	*at += min(n, math.MaxUint32-*at)
}

// loadTallies puts what was counted into the batch of f. Its bounds leave room for
// every class of 64 rules; the others go with the next one.
func (w *Worker) loadTallies(f *flight, s *wire.Batch) {
	left := w.tallies[:0]
	for _, r := range w.tallies {
		if len(s.Tallies)+len(r.counts) > wire.MaxTallies || r.batch != f.id && len(s.Policies) == wire.MaxOperations {
			left = append(left, r)
			continue
		}
		w.place(f, s, r)
		for i, n := range r.counts {
			if n > 0 {
				s.Tallies = append(s.Tallies, wire.Tally{Policy: r.slot, Scope: r.Scope, Class: wire.Class(i + 1), N: n})
			}
		}
		f.tallies = append(f.tallies, tallied{r, r.counts})
		r.tallied, r.counts = false, counts{}
	}
	clear(w.tallies[len(left):])
	w.tallies = left
}

// untally takes back what a batch carried that came to nothing. Where only its
// answer was lost, that is counted twice.
func (w *Worker) untally(f *flight) {
	for _, t := range f.tallies {
		for i, n := range t.counts {
			if n > 0 {
				w.addTally(t.rule, wire.Class(i+1), n)
			}
		}
	}
	f.tallies = f.tallies[:0]
}

// tallyFinished counts a repeat that is answered from memory.
func (s *Stream) tallyFinished(now int64, e *entry) {
	code := e.code
	if s.reuses(e) {
		code = wire.KeyReused
	}
	s.w.tally(s.rule, wire.ClassOf(code, s.retried, (e.age+now-e.at)/int64(time.Millisecond)))
}
