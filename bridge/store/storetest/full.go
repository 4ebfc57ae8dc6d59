package storetest

import (
	"errors"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// whenFull runs before, fills the memory, and runs then.
func whenFull(k *key, before func() func()) {
	k.Helper()
	then := before()
	undo := k.h.Full()
	defer undo()
	then()
}

// refused fails unless op is answered with ErrUnavailable.
func (k *key) refused(op store.Operation) {
	k.Helper()
	r := k.h.Store.Do(k.Context(), []store.Operation{op})[0]
	if !errors.Is(r.Err, store.ErrUnavailable) {
		k.Fatalf("%+v, want ErrUnavailable", r)
	}
}

// fullRows: what has happened is still recorded; what has not happened yet may
// not begin.
var fullRows = []row{
	{"absent: claim: refused", func(k *key) {
		whenFull(k, func() func() {
			return func() { k.refused(k.operation(wire.Claim, owner(), 0)) }
		})
		k.granted() // and nothing of it was left behind
	}},
	{"absent: issue: refused", func(k *key) {
		k.policy.Issued = true
		whenFull(k, func() func() {
			return func() {
				op := k.operation(wire.Issue, nil, 0)
				op.Life = time.Hour
				k.refused(op)
			}
		})
	}},
	{"PROCESSING: claim: in-flight", func(k *key) {
		whenFull(k, func() func() {
			k.granted()
			k.h.LoseIndex(k.name)
			return func() { k.want(k.claim(owner()), wire.InFlight) }
		})
	}},
	{"PROCESSING: executed: ok", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() { k.want(k.noResult(o, f, 201), wire.OK) }
		})
		k.notKept(201)
	}},
	{"PROCESSING: complete: ok, the result is not kept", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() {
				k.want(k.complete(o, f, 201, "r"), wire.OK)
				k.notKept(201)
			}
		})
		k.notKept(201)
		k.indexed(false)
	}},
	{"EXECUTED: complete: ok, the result is not kept", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			k.executed(o, f, 201)
			return func() { k.want(k.complete(o, f, 201, "r"), wire.OK) }
		})
		k.notKept(201)
	}},
	{"absent: complete: ok, restored", func(k *key) {
		whenFull(k, func() func() {
			return func() { k.restored(k.complete(owner(), 9, 201, "r"), true) }
		})
		k.notKept(201)
	}},
	{"PROCESSING: complete of an older owner: noted", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() {
				k.want(k.complete(owner(), f-1, 201, "r"), wire.Stale)
				k.want(k.release(o, f), wire.OK)
			}
		})
		k.notKept(201)
	}},
	{"PROCESSING, absent: unknown: ok", func(k *key) {
		lost := newKey(k.T, k.h)
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() {
				k.restored(k.unknown(o, f), false)
				lost.restored(lost.unknown(o, f), true)
			}
		})
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.indexed(true)
		lost.indexed(true)
	}},
	{"PROCESSING, absent: release: ok", func(k *key) {
		lost := newKey(k.T, k.h)
		o := owner()
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() {
				k.want(k.release(o, f), wire.OK)
				lost.want(lost.release(o, 0), wire.OK)
			}
		})
		k.want(k.claim(o), wire.Created)
		lost.want(lost.claim(owner()), wire.Created)
	}},
	{"PROCESSING: release of another: it is refused", func(k *key) {
		gone := owner()
		whenFull(k, func() func() {
			o, f := k.granted()
			k.h.LoseIndex(k.name)
			return func() {
				k.want(k.release(gone, 0), wire.OK)
				k.want(k.release(o, f), wire.OK)
			}
		})
		k.want(k.claim(gone), wire.Stale)
		k.granted()
	}},
	{"PROCESSING: renew: ok", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			return func() { k.want(k.renew(o, f), wire.OK) }
		})
	}},
	{"COMPLETED: claim: replayed", func(k *key) {
		whenFull(k, func() func() {
			o, f := k.granted()
			k.complete(o, f, 201, "r")
			return func() { k.replays(201, "r") }
		})
	}},
}
