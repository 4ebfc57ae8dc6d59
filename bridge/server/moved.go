package server

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// maxHops bounds the names that one operation is sent to: every name of a record,
// and once more where it was sent round in a circle.
const maxHops = 2*2*(wire.MaxPreviousScopes+1) + 2

var (
	errLost   = fmt.Errorf("%w: a record was moved under a naming secret that is not configured here", store.ErrUnavailable)
	errCircle = fmt.Errorf("%w: a record was moved too often", store.ErrUnavailable)
)

// A walk is an operation that was sent on from the name that it began with.
type walk struct {
	index  int // of the operation in the job
	places []named
	been   []hop
	op     store.Operation // at the name that it has been sent to
}

// A hop is a name at which an operation met a marker, and what the marker holds.
type hop struct {
	name store.Name
	next []byte
}

// follow hands the operations to the store, and those that are answered Moved once
// more under the name that they are sent to, until each has met its record or the
// place where it is to be made. walks hold the operations that were sent on, as
// they were carried out in the end. It changes nothing of j, which may have been
// given up meanwhile.
func (s *Server) follow(ctx context.Context, j *job) (replies []store.Reply, walks []*walk) {
	replies = s.cfg.Store.Do(ctx, j.ops)
	if len(replies) != len(j.ops) {
		return replies, nil
	}
	var under []*walk
	for i := range replies {
		if replies[i].Err == nil && replies[i].Code == store.Moved {
			under = append(under, &walk{index: i, places: j.places[i], op: j.ops[i]})
		}
	}
	walks = under
	for hops := 0; len(under) > 0; hops++ {
		var on []*walk
		var ops []store.Operation
		for _, w := range under {
			r := &replies[w.index]
			switch {
			case hops == maxHops:
				*r = store.Reply{Err: errCircle}
			case w.next(s, j, r):
				on = append(on, w)
				ops = append(ops, w.op)
			}
		}
		if len(on) == 0 {
			break
		}
		s.metrics.storeBatches.Inc()
		answers := s.cfg.Store.Do(ctx, ops)
		under = nil
		for i, w := range on {
			if len(answers) != len(on) {
				replies[w.index] = store.Reply{Err: fmt.Errorf("%w: %d replies to %d operations", store.ErrUnavailable, len(answers), len(on))}
				continue
			}
			replies[w.index] = answers[i]
			if answers[i].Err == nil && answers[i].Code == store.Moved {
				under = append(under, w)
			}
		}
	}
	return replies, walks
}

// next makes w an operation on the name that r sends it to. false: r is its answer
// now.
func (w *walk) next(s *Server, j *job, r *store.Reply) bool {
	key, to, ok := s.cfg.Keys.Follow(w.op.Name, r.Moved)
	if !ok {
		*r = store.Reply{Err: errLost}
		return false
	}
	w.been = append(w.been, hop{w.op.Name, r.Moved})
	at := named{key, to}
	void := []byte(nil)
	if i := slices.IndexFunc(w.been, func(h hop) bool { return h.name == to }); i >= 0 {
		if w.op.Kind == wire.Get {
			*r = store.Reply{Code: wire.NotFound}
			return false
		}
		// Sent round in a circle, of markers only: whoever goes round it agrees on
		// the name that sorts first, and the record is made there.
		home := slices.MinFunc(w.been[i:], func(a, b hop) int { return bytes.Compare(a.name[:], b.name[:]) })
		void = home.next
		at = w.placeOf(s, home.name, i)
		w.been = w.been[:0]
	}
	op := &j.batch.Ops[j.index[w.index]]
	s.address(&w.op, j.batch.Namespace, op, at)
	if void != nil {
		w.op.Next, w.op.NextLife, w.op.Void = void, 1, true
		return true
	}
	if i := slices.IndexFunc(w.places, func(p named) bool { return p.name == to }); i >= 0 && i+1 < len(w.places) {
		towards(&w.op, w.places[i], w.places[i+1])
	}
	return true
}

// placeOf finds the key of a name in the circle that begins at w.been[from].
func (w *walk) placeOf(s *Server, name store.Name, from int) named {
	for _, h := range w.been[from:] {
		if key, to, ok := s.cfg.Keys.Follow(h.name, h.next); ok && to == name {
			return named{key, name}
		}
	}
	panic("server: a circle that does not close")
}
