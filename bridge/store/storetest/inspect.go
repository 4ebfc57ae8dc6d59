package storetest

import (
	"bytes"
	"errors"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// inspectRows: what an operator sees and decides. They run against stores that
// are a [store.Inspector].
var inspectRows = []row{
	{"get tells absence", func(k *key) {
		if r := k.get(); r.State != store.Absent || r.Kept || r.Result != nil {
			k.Fatalf("%+v", r)
		}
	}},
	{"get tells a claim", func(k *key) {
		k.policy.Recovery, k.policy.Replicas = wire.Probe, 0
		_, f := k.granted()
		r := k.get()
		if r.State != store.Processing || r.Fence != f || r.Attempts != 1 || r.LeaseOver || r.Lease <= 0 || r.Lease > time.Minute ||
			r.Policy != k.policy || r.Maybe || r.Held || r.Noted {
			k.Fatalf("%+v", r)
		}
	}},
	{"get tells an answer", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 201, "result")
		r := k.get()
		if r.State != store.Completed || r.Fence != f || r.Status != 201 || !r.Kept || string(r.Result) != "result" || r.Remaining <= 0 {
			k.Fatalf("%+v", r)
		}
	}},
	{"get leaves the result where nobody asked for it", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 201, "result")
		r, err := k.inspector().Get(k.Context(), k.name, false)
		if err != nil || !r.Kept || r.Result != nil {
			k.Fatalf("%+v, %v", r, err)
		}
	}},
	{"get tells an issued key and a released one", func(k *key) {
		k.issue(time.Hour)
		if r := k.get(); r.State != store.Issued || r.Remaining <= 0 || !r.Policy.Issued {
			k.Fatalf("%+v", r)
		}
		freed := newKey(k.T, k.h)
		o, f := freed.granted()
		freed.release(o, f)
		if r := freed.get(); r.State != store.Released || r.Fence != f {
			k.Fatalf("%+v", r)
		}
	}},
	{"get puts an unresolved record back into its index", func(k *key) {
		k.granted()
		k.h.LoseIndex(k.name)
		k.get()
		k.indexed(true)
	}},
	{"complete ends an overdue record", func(k *key) {
		o, f := k.overdue()
		k.verdict(store.Resolution{Fence: f, Action: store.Complete, Status: 201, Result: []byte("told")}, store.Done)
		k.replays(201, "told")
		k.indexed(false)
		k.want(k.complete(o, f, 200, "late"), wire.Stale)
		k.replays(201, "told")
	}},
	{"execute ends an overdue record without a result", func(k *key) {
		_, f := k.overdue()
		k.verdict(store.Resolution{Fence: f, Action: store.Execute, Status: 202}, store.Done)
		k.notKept(202)
		k.indexed(false)
	}},
	{"free lets the next claim through with a higher fence", func(k *key) {
		o, f := k.overdue()
		k.verdict(store.Resolution{Fence: f, Action: store.Free}, store.Done)
		k.indexed(false)
		k.want(k.claim(o), wire.Stale)
		if _, g := k.granted(); g <= f {
			k.Fatalf("fence %d after %d", g, f)
		}
	}},
	{"free gives an issued key back", func(k *key) {
		k.short(wire.Hold)
		k.issue(time.Hour)
		o, f := k.granted()
		k.unknown(o, f)
		k.over()
		k.verdict(store.Resolution{Fence: f, Action: store.Free}, store.Done)
		if r := k.get(); r.State != store.Issued {
			k.Fatalf("%+v", r)
		}
		k.granted()
	}},
	{"free ends a hold", func(k *key) {
		k.issue(time.Hour)
		k.short(wire.Hold)
		o, f := k.granted()
		k.h.Lose(k.name)
		k.restored(k.unknown(o, f), true)
		k.over()
		if r := k.get(); !r.Held {
			k.Fatalf("not held: %+v", r)
		}
		k.verdict(store.Resolution{Fence: f, Action: store.Free}, store.Done)
	}},
	{"free on a noted record: the noted owner has run it", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.over()
		_, g := k.granted()
		k.want(k.complete(o, f, 201, "first"), wire.Stale)
		k.over()
		k.verdict(store.Resolution{Fence: g, Action: store.Free}, store.Noted)
		k.notKept(201)
	}},
	{"extend holds others off", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.MaxAttempts = 9
		_, f := k.granted()
		k.over()
		k.verdict(store.Resolution{Fence: f, Action: store.Extend, By: time.Hour}, store.Done)
		k.want(k.claim(owner()), wire.InFlight)
		if r := k.get(); r.Lease < 50*time.Minute || r.LeaseOver {
			k.Fatalf("%+v", r)
		}
		k.indexed(true)
	}},
	{"extend never shortens a lease", func(k *key) {
		_, f := k.granted()
		k.verdict(store.Resolution{Fence: f, Action: store.Extend, By: time.Millisecond}, store.Done)
		if r := k.get(); r.Lease < 50*time.Second {
			k.Fatalf("%+v", r)
		}
	}},
	{"another fence is a conflict", func(k *key) {
		_, f := k.overdue()
		for _, a := range []store.Action{store.Complete, store.Execute, store.Free, store.Extend} {
			k.h.LoseIndex(k.name)
			k.verdict(store.Resolution{Fence: f + 1, Action: a, Status: 200, By: time.Hour}, store.Conflict)
			k.indexed(true)
			k.verdict(store.Resolution{Fence: f - 1, Action: a, Status: 200, By: time.Hour}, store.Conflict)
		}
		if r := k.get(); r.State != store.Unknown || r.Fence != f || !r.LeaseOver {
			k.Fatalf("%+v", r)
		}
	}},
	{"an absent record is a conflict", func(k *key) {
		k.verdict(store.Resolution{Fence: 1, Action: store.Free}, store.Conflict)
		if r := k.get(); r.State != store.Absent {
			k.Fatalf("%+v", r)
		}
	}},
	{"a final record is a conflict", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 200, "own")
		for _, a := range []store.Action{store.Complete, store.Execute, store.Free, store.Extend} {
			k.verdict(store.Resolution{Fence: f, Action: a, Status: 500, Result: []byte("x"), By: time.Hour}, store.Conflict)
		}
		k.replays(200, "own")
	}},
	{"a live lease is left to its owner", func(k *key) {
		o, f := k.granted()
		for _, a := range []store.Action{store.Complete, store.Execute, store.Free} {
			k.verdict(store.Resolution{Fence: f, Action: a, Status: 500, Result: []byte("x")}, store.Live)
		}
		k.want(k.complete(o, f, 200, "own"), wire.OK)
		k.replays(200, "own")
	}},
	{"a decision repeated is the same decision", func(k *key) {
		_, f := k.overdue()
		r := store.Resolution{Fence: f, Action: store.Complete, Owner: owner(), Status: 201, Result: []byte("told")}
		k.verdict(r, store.Done)
		k.verdict(r, store.Done)
		r.Owner = owner()
		k.verdict(r, store.Conflict)
		k.replays(201, "told")
		freed := newKey(k.T, k.h)
		_, f = freed.overdue()
		freed.verdict(store.Resolution{Fence: f, Action: store.Free}, store.Done)
		freed.verdict(store.Resolution{Fence: f, Action: store.Free}, store.Done)
	}},
	{"every decision leaves its entry", func(k *key) {
		_, f := k.overdue()
		k.verdict(store.Resolution{Fence: f + 1, Action: store.Free, Audit: []byte("first")}, store.Conflict)
		k.verdict(store.Resolution{Fence: f, Action: store.Free, Audit: []byte("second")}, store.Done)
		list, err := k.inspector().Audit(k.Context(), k.name)
		if err != nil || !bytes.Equal(bytes.Join(list, []byte{' '}), []byte("second first")) {
			k.Fatalf("%q, %v", list, err)
		}
		if list, err := k.inspector().Audit(k.Context(), store.Name{}); err != nil || len(list) != 0 {
			k.Fatalf("another record: %q, %v", list, err)
		}
	}},
	{"overdue lists what waits for a word, and nothing else", func(k *key) {
		_, f := k.overdue()
		live, done := newKey(k.T, k.h), newKey(k.T, k.h)
		live.granted()
		o, g := done.granted()
		done.complete(o, g, 200, "r")
		found := k.listed(3)
		if r, ok := found[k.name]; !ok || r.State != store.Unknown || r.Fence != f || !r.LeaseOver {
			k.Fatalf("%v %+v", ok, r)
		}
		if _, ok := found[live.name]; ok {
			k.Fatal("a live lease is listed")
		}
		if _, ok := found[done.name]; ok {
			k.Fatal("a final record is listed")
		}
	}},
	{"overdue pages through records of one bucket", func(k *key) {
		names := map[store.Name]bool{}
		for i := range 7 {
			other := newKey(k.T, k.h)
			other.name = k.name
			other.name[31] ^= byte(i + 1)
			other.overdue()
			names[other.name] = true
		}
		for _, limit := range []int{1, 2, 100} {
			found := k.listed(limit)
			for n := range names {
				if _, ok := found[n]; !ok {
					k.Fatalf("limit %d: one is missing", limit)
				}
			}
		}
	}},
	{"a cursor that is none", func(k *key) {
		for _, c := range []string{"x", "1", "-1.0", "1024.0", "1.-1", "1.2.3"} {
			if _, _, err := k.inspector().Overdue(k.Context(), c, 10); !errors.Is(err, store.ErrBadCursor) {
				k.Errorf("%q: %v", c, err)
			}
		}
	}},
}

func (k *key) inspector() store.Inspector { return k.h.Store.(store.Inspector) }

func (k *key) get() store.Record {
	k.Helper()
	r, err := k.inspector().Get(k.Context(), k.name, true)
	if err != nil {
		k.Fatal(err)
	}
	return r
}

// overdue leaves an UNKNOWN record whose lease is over.
func (k *key) overdue() (o []byte, fence uint64) {
	k.Helper()
	k.short(wire.Hold)
	o, fence = k.granted()
	k.want(k.unknown(o, fence), wire.OK)
	k.over()
	return o, fence
}

// verdict resolves and fails unless the verdict is want.
func (k *key) verdict(r store.Resolution, want store.Verdict) {
	k.Helper()
	r.Name, r.Deadline = k.name, time.Now().Add(10*time.Second)
	if r.Owner == nil {
		r.Owner = owner()
	}
	if got, err := k.inspector().Resolve(k.Context(), r); err != nil || got != want {
		k.Fatalf("action %d: verdict %d, %v, want %d", r.Action, got, err, want)
	}
}

// listed reads the whole list in pages of limit.
func (k *key) listed(limit int) map[store.Name]store.Record {
	k.Helper()
	found := map[store.Name]store.Record{}
	cursor := ""
	for pages := 0; ; pages++ {
		list, next, err := k.inspector().Overdue(k.Context(), cursor, limit)
		if err != nil || len(list) > limit || pages > 100_000 {
			k.Fatalf("%d of %d on page %d: %v", len(list), limit, pages, err)
		}
		for _, e := range list {
			found[e.Name] = e.Record
		}
		if next == "" {
			return found
		}
		cursor = next
	}
}
