package storetest

import (
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// eraseRows: forgetting a record. They are run where the store is an Eraser.
var eraseRows = []row{
	{"completed: the content goes, the key stays refused for the rest of its life", func(k *key) {
		o, fence := k.granted()
		k.want(k.complete(o, fence, 201, "secret"), wire.OK)
		k.erased(store.Erasure{}, store.ErasedNow)
		k.want(k.claim(owner()), wire.KeyExpired)
		k.print = fingerprint('b') // and not key-reused: the fingerprint is gone too
		k.want(k.claim(owner()), wire.KeyExpired)
		// Not ok, which would have a worker remember the result.
		k.want(k.complete(o, fence, 201, "secret"), wire.Stale)
		k.want(k.complete(owner(), fence+1, 201, "other"), wire.Stale)
		k.want(k.claim(o), wire.KeyExpired)
		if r := k.inspect(); r.Kept || len(r.Caller) > 0 || len(r.Owner) > 0 || r.Status != 0 || r.Remaining > 0 || !r.Erased {
			k.Errorf("left: %+v", r)
		}
		k.erased(store.Erasure{}, store.ErasedNow)
		k.erased(store.Erasure{Forget: true}, store.ErasedNow)
		k.erased(store.Erasure{Forget: true}, store.ErasedNothing)
		k.granted()
	}},
	{"unresolved: only by force", func(k *key) {
		o, fence := k.granted()
		k.erased(store.Erasure{}, store.ErasedUnresolved)
		k.erased(store.Erasure{Forget: true}, store.ErasedUnresolved)
		k.indexed(true)
		k.erased(store.Erasure{Force: true}, store.ErasedNow)
		k.indexed(false)
		k.want(k.claim(owner()), wire.KeyExpired)
		k.want(k.executed(o, fence, 201), wire.Stale)
		k.want(k.complete(o, fence, 201, "late"), wire.Stale)
		k.want(k.unknown(o, fence), wire.Stale)
		k.want(k.claim(owner()), wire.KeyExpired)
		if r := k.inspect(); r.Kept || r.Status != 0 || !r.Erased {
			k.Errorf("left: %+v", r)
		}
	}},
	{"executed, its result on the way: the result is not kept", func(k *key) {
		o, fence := k.granted()
		k.want(k.executed(o, fence, 201), wire.OK)
		k.erased(store.Erasure{}, store.ErasedNow)
		k.want(k.complete(o, fence, 201, "late"), wire.Stale)
		k.want(k.noResult(o, fence, 201), wire.Stale)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"a lookup finds a tombstone without a status", func(k *key) {
		o, fence := k.granted()
		k.erased(store.Erasure{Force: true}, store.ErasedNow)
		r := k.want(k.do(k.operation(wire.Get, owner(), 0)), wire.Found)
		if r.State != store.Executed || r.Status != 0 || r.Remaining != 0 {
			k.Errorf("found %+v", r)
		}
		k.want(k.complete(o, fence, 201, "late"), wire.Stale)
	}},
	{"unresolved, forgotten by force: a late answer makes a record again", func(k *key) {
		o, fence := k.granted()
		k.erased(store.Erasure{Force: true, Forget: true}, store.ErasedNow)
		k.restored(k.complete(o, fence, 201, "late"), true)
		k.replays(201, "late")
	}},
	{"an issued key that was never used is refused from then on", func(k *key) {
		k.want(k.issue(time.Hour), wire.Issued)
		k.erased(store.Erasure{}, store.ErasedNow)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"a used issued key stays refused", func(k *key) {
		k.want(k.issue(time.Hour), wire.Issued)
		o, fence := k.granted()
		k.want(k.complete(o, fence, 201, "secret"), wire.OK)
		k.erased(store.Erasure{Forget: true}, store.ErasedNow)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"nothing is there", func(k *key) { k.erased(store.Erasure{}, store.ErasedNothing) }},
	{"the audit entry is kept", func(k *key) {
		k.erased(store.Erasure{Audit: []byte("why")}, store.ErasedNothing)
		list, err := k.h.Store.(store.Inspector).Audit(k.Context(), k.name)
		if err != nil || len(list) != 1 || string(list[0]) != "why" {
			k.Errorf("%q, %v", list, err)
		}
	}},
	{"a caller's records are found, page by page, and nobody else's", func(k *key) {
		caller, other := owner()[:16], owner()[:16]
		want, all := map[store.Name]bool{}, map[store.Name]bool{}
		for i := range 40 {
			k.name = newKey(k.T, k.h).name
			op := k.operation(wire.Claim, owner(), 0)
			if op.Caller = other; i%2 == 0 {
				op.Caller, want[k.name], all[k.name] = caller, true, true
			}
			k.want(k.do(op), wire.Created)
		}
		cursor := ""
		for range 100_000 {
			page, err := k.h.Store.(store.Eraser).Find(k.Context(), [][]byte{caller}, cursor, 1, 0)
			if err != nil {
				k.Fatal(err)
			}
			for _, n := range page.Names {
				if !all[n] {
					k.Errorf("%x is not the caller's", n)
				}
				delete(want, n)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(want) > 0 || cursor != "" {
			k.Errorf("%d records were not found", len(want))
		}
		if _, err := k.h.Store.(store.Eraser).Find(k.Context(), nil, "nonsense", 1, 0); err == nil {
			k.Error("a cursor of somebody else's making was taken")
		}
	}},
}

func (k *key) erased(e store.Erasure, want store.Erased) {
	k.Helper()
	e.Name, e.Deadline = k.name, time.Now().Add(10*time.Second)
	got, err := k.h.Store.(store.Eraser).Erase(k.Context(), e)
	if err != nil || got != want {
		k.Fatalf("erase: %d, %v, want %d", got, err, want)
	}
}

func (k *key) inspect() store.Record {
	k.Helper()
	r, err := k.h.Store.(store.Inspector).Get(k.Context(), k.name, false)
	if err != nil {
		k.Fatal(err)
	}
	return r
}

func runErase(t *testing.T, h *Harness) {
	if _, ok := h.Store.(store.Eraser); ok {
		t.Run("erase", func(t *testing.T) { runRows(t, h, eraseRows, !h.Exact) })
	}
}
