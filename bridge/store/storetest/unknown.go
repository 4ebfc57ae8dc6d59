package storetest

import "github.com/oncewall/oncewall/filter/wire"

var unknownRows = []row{
	{"PROCESSING: unknown, cur: UNKNOWN, lease_end kept", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.over()
		k.restored(k.unknown(o, f), false)
		k.indexed(true)
		k.granted() // a fresh lease would still hold it
	}},
	{"PROCESSING: unknown, me, fence not known: UNKNOWN", func(k *key) {
		o, _ := k.granted()
		k.restored(k.unknown(o, 0), false)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"PROCESSING: unknown, older fence or other owner: stale", func(k *key) {
		o, f := k.granted()
		k.want(k.unknown(o, f-1), wire.Stale)
		k.want(k.unknown(owner(), f), wire.Stale)
		k.want(k.unknown(owner(), 0), wire.Stale)
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"PROCESSING, UNKNOWN: unknown, stale: indexed again", func(k *key) {
		o, f := k.granted()
		k.h.LoseIndex(k.name)
		k.want(k.unknown(owner(), f-1), wire.Stale)
		k.indexed(true)
		k.unknown(o, f)
		k.h.LoseIndex(k.name)
		k.want(k.unknown(owner(), f-1), wire.Stale)
		k.indexed(true)
	}},
	{"absent: unknown, client key: UNKNOWN, fresh lease, restored", func(k *key) {
		o, f := k.granted()
		k.h.Lose(k.name)
		k.restored(k.unknown(o, f), true)
		k.indexed(true)
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter <= 0 {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"absent: unknown, then over, reacquire: created with a higher fence", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.h.Lose(k.name)
		k.unknown(o, f)
		k.over()
		if r := k.want(k.claim(owner()), wire.Created); r.Fence <= f || r.Attempt != 2 || !r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
	}},
	{"RELEASED: unknown, newer fence: UNKNOWN, fresh lease, restored", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.restored(k.unknown(owner(), f+5), true)
		k.indexed(true)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"RELEASED: unknown, older fence: stale", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.want(k.unknown(owner(), f-1), wire.Stale)
		k.granted()
	}},
	{"older fence in PROCESSING: unknown, newer: UNKNOWN of the newer, restored", func(k *key) {
		k.short(wire.Reacquire)
		o1, f1 := k.granted()
		o2 := owner()
		k.restored(k.unknown(o2, f1+5), true)
		k.want(k.unknown(o1, f1), wire.Stale)
		k.want(k.unknown(o2, f1+5), wire.OK)
		k.over()
		// Two have been sent by now, whatever the record knew.
		if r := k.want(k.claim(owner()), wire.Created); r.Fence <= f1+5 || r.Attempt != 3 {
			k.Fatalf("%+v after fence %d", r, f1+5)
		}
	}},
	{"UNKNOWN: unknown, me: ok; other: stale", func(k *key) {
		o, f := k.granted()
		k.unknown(o, f)
		k.restored(k.unknown(o, f), false)
		k.want(k.unknown(owner(), f+1), wire.Stale)
	}},
	{"final: unknown, me: ok; other: stale; nothing goes back", func(k *key) {
		o, f := k.granted()
		k.noResult(o, f, 200)
		k.want(k.unknown(o, f), wire.OK)
		k.want(k.unknown(owner(), f+1), wire.Stale)
		k.notKept(200)
		k.complete(o, f, 200, "r")
		k.want(k.unknown(o, f), wire.OK)
		k.want(k.unknown(owner(), f+1), wire.Stale)
		k.replays(200, "r")
		k.indexed(false)
	}},
	{"PROCESSING noted: unknown of the current owner: EXECUTED by the noted one", func(k *key) {
		o1, f1 := k.granted()
		k.want(k.complete(owner(), f1-1, 201, "x"), wire.Stale)
		k.restored(k.unknown(o1, f1), false)
		k.indexed(false)
		k.notKept(201)
	}},
}
