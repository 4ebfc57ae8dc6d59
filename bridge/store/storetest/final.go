package storetest

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// both runs test with executed and with complete. say sends the word, told
// checks that a stranger hears of it.
func both(test func(k *key, say func(o []byte, f uint64, status uint16) store.Reply, told func(status uint16))) func(*key) {
	return func(k *key) {
		e := newKey(k.T, k.h)
		test(e, e.noResult, e.notKept)
		c := newKey(k.T, k.h)
		test(c, func(o []byte, f uint64, status uint16) store.Reply {
			k.Helper()
			return c.complete(o, f, status, "r")
		}, func(status uint16) { k.Helper(); c.replays(status, "r") })
	}
}

type (
	sayFunc  = func(o []byte, f uint64, status uint16) store.Reply
	toldFunc = func(status uint16)
)

var finalRows = []row{
	{"PROCESSING: executed or complete, cur: final, out of the index", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.restored(say(o, f, 500), false)
		k.indexed(false)
		told(500)
	})},
	{"complete, upstream's word on the life of the result: in place of the policy's", func(k *key) {
		k.policy.TombstoneMS = 0
		o, f := k.granted()
		op := k.operation(wire.Complete, o, f)
		op.Status, op.Result, op.TTL = 201, []byte("r"), k.h.Short
		k.want(k.do(op), wire.OK)
		k.replays(201, "r")
		if r := k.claim(owner()); r.Remaining <= 0 || r.Remaining > k.h.Short {
			k.Fatalf("%s left, want at most %s", r.Remaining, k.h.Short)
		}
		k.over()
		k.want(k.claim(owner()), wire.Created)
	}},
	{"PROCESSING: executed or complete, cur, lease over: final", both(func(k *key, say sayFunc, told toldFunc) {
		k.short(wire.Hold)
		o, f := k.granted()
		k.over()
		k.want(say(o, f, 201), wire.OK)
		told(201)
	})},
	{"PROCESSING: executed or complete, newer fence: final", both(func(k *key, say sayFunc, told toldFunc) {
		_, f := k.granted()
		k.want(say(owner(), f+5, 404), wire.OK)
		k.indexed(false)
		told(404)
	})},
	{"PROCESSING: executed or complete, older fence, 2xx: noted, stale; the owner stays", both(func(k *key, say sayFunc, told toldFunc) {
		k.short(wire.Reacquire)
		o1, f1 := k.granted()
		k.over()
		o2, f2 := k.granted()
		k.want(say(o1, f1, 201), wire.Stale)
		k.indexed(true)
		if again := k.claim(o2); again.Code == wire.Created && again.Fence != f2 {
			k.Fatalf("fence %d, want %d kept", again.Fence, f2)
		}
		k.want(say(o2, f2, 200), wire.OK)
		told(200)
	})},
	{"PROCESSING: executed or complete, other owner of the same fence, 2xx: noted, stale", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.want(say(owner(), f, 201), wire.Stale)
		k.want(k.release(o, f), wire.OK)
		k.notKept(201) // a noted key is never free again
	})},
	{"PROCESSING: executed or complete, older fence, not 2xx: stale, nothing noted", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.want(say(owner(), f-1, 409), wire.Stale)
		k.release(o, f)
		k.granted()
	})},
	{"UNKNOWN: executed or complete, any fence, any owner, 2xx: final, not counted as restored", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.unknown(o, f)
		k.restored(say(owner(), f-1, 201), false)
		k.indexed(false)
		told(201)
	})},
	{"UNKNOWN: executed or complete, me, any status: final", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.unknown(o, f)
		k.restored(say(o, f, 500), false)
		told(500)
	})},
	{"UNKNOWN: executed or complete, older fence, not 2xx: stale", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.unknown(o, f)
		k.want(say(owner(), f-1, 409), wire.Stale)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	})},
	{"RELEASED: executed or complete, any fence, 2xx: final, restored", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.release(o, f)
		k.restored(say(owner(), f-1, 201), true)
		told(201)
	})},
	{"RELEASED: executed or complete, older fence, not 2xx: stale", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.release(o, f)
		k.want(say(owner(), f-1, 503), wire.Stale)
		k.granted()
	})},
	{"absent: executed or complete: final, restored", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.h.Lose(k.name)
		k.restored(say(o, f, 500), true)
		told(500)
	})},
	{"absent: executed, body on its way: in-flight until it comes", func(k *key) {
		o := owner()
		k.restored(k.executed(o, 9, 200), true)
		k.want(k.claim(owner()), wire.InFlight)
		k.want(k.complete(o, 9, 200, "r"), wire.OK)
		k.replays(200, "r")
	}},
	{"a restored record holds the fingerprint of its request", both(func(k *key, say sayFunc, told toldFunc) {
		k.want(say(owner(), 9, 200), wire.OK)
		k.print = fingerprint('b')
		k.want(k.claim(owner()), wire.KeyReused)
	})},
	{"EXECUTED: complete, me: COMPLETED", func(k *key) {
		o, f := k.granted()
		k.executed(o, f, 200)
		k.restored(k.complete(o, f, 201, "r"), false)
		k.replays(201, "r")
	}},
	{"EXECUTED: executed without result, me: no body is coming any more", func(k *key) {
		o, f := k.granted()
		k.executed(o, f, 200)
		k.want(k.noResult(o, f, 200), wire.OK)
		k.notKept(200)
		k.want(k.executed(o, f, 200), wire.OK) // a late duplicate changes nothing
		k.notKept(200)
	}},
	{"EXECUTED, COMPLETED, tombstone: executed or complete, me: ok; other: stale", func(k *key) {
		k.policy.TTLMS, k.policy.TombstoneMS = k.h.Short.Milliseconds(), 3_600_000
		o, f := k.granted()
		k.executed(o, f, 200)
		k.want(k.executed(owner(), f+1, 200), wire.Stale)
		k.want(k.complete(owner(), f+1, 200, "x"), wire.Stale)
		k.want(k.complete(o, f, 200, "r"), wire.OK)
		k.want(k.executed(o, f, 200), wire.OK)
		k.want(k.complete(owner(), f+1, 200, "x"), wire.Stale)
		k.over()
		k.want(k.complete(o, f, 200, "r"), wire.OK)
		k.want(k.complete(owner(), f+1, 200, "x"), wire.Stale)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"PROCESSING: executed, newer fence: the fence is the newer", func(k *key) {
		_, f := k.granted()
		o := owner()
		k.want(k.executed(o, f+5, 200), wire.OK)
		k.want(k.renew(o, f), wire.Stale)
		k.want(k.renew(o, f+5), wire.OK)
	}},
	{"EXECUTED past its life: complete, me: ok, and it stays a tombstone", func(k *key) {
		k.policy.TTLMS, k.policy.TombstoneMS = k.h.Short.Milliseconds(), 3_600_000
		o, f := k.granted()
		k.noResult(o, f, 200)
		k.over()
		k.want(k.complete(o, f, 200, "r"), wire.OK)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"PROCESSING: a stale word puts it back into the index", both(func(k *key, say sayFunc, told toldFunc) {
		_, f := k.granted()
		k.h.LoseIndex(k.name)
		k.want(say(owner(), f-1, 404), wire.Stale)
		k.indexed(true)
	})},
	{"UNKNOWN: a stale word puts it back into the index", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.unknown(o, f)
		k.h.LoseIndex(k.name)
		k.want(say(owner(), f-1, 404), wire.Stale)
		k.indexed(true)
	})},
	{"forwarded while the store was away: accepted on absent", func(k *key) {
		op := k.operation(wire.Complete, owner(), 0)
		op.Unprotected, op.Status, op.Result = true, 404, []byte("r")
		k.restored(k.do(op), true)
		k.replays(404, "r")
	}},
	{"forwarded while the store was away: accepted from the same owner while not final", both(func(k *key, say sayFunc, told toldFunc) {
		o, _ := k.granted()
		k.restored(say(o, 0, 404), false)
		told(404)
	})},
	{"forwarded while the store was away: stale on another's live claim", both(func(k *key, say sayFunc, told toldFunc) {
		o, f := k.granted()
		k.want(say(owner(), 0, 404), wire.Stale)
		k.want(say(o, f, 201), wire.OK)
		told(201)
	})},
}
