package storetest

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

var releaseRows = []row{
	{"PROCESSING: release, me: RELEASED, out of the index", func(k *key) {
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		k.indexed(false)
		k.granted()
	}},
	{"PROCESSING: release, me, fence not known: RELEASED", func(k *key) {
		o, _ := k.granted()
		k.want(k.release(o, 0), wire.OK)
		k.granted()
	}},
	{"PROCESSING: release, me, another fence: nothing", func(k *key) {
		o, f := k.granted()
		k.want(k.release(o, f-1), wire.OK)
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"PROCESSING: release, other: nothing", func(k *key) {
		_, f := k.granted()
		k.want(k.release(owner(), f), wire.OK)
		k.want(k.release(owner(), 0), wire.OK)
		k.want(k.claim(owner()), wire.InFlight)
		k.indexed(true)
	}},
	{"PROCESSING after a take-over: release: UNKNOWN, over, the attempt given back", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		if us := k.due(); us != 0 {
			k.Fatalf("indexed for %dus, want for now", us)
		}
		// Fingerprint kept: an earlier fence may have run with it.
		mine := k.print
		k.print = fingerprint('b')
		k.want(k.claim(owner()), wire.KeyReused)
		k.print = mine
		if r := k.want(k.claim(owner()), wire.Created); r.Fence <= f || r.Attempt != 2 || !r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
	}},
	{"PROCESSING after a take-over, now hold: release: outcome-unknown", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		o, f := k.granted()
		k.release(o, f)
		k.policy.Recovery = wire.Hold
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter != 0 {
			k.Fatalf("retry after %v, want none", r.RetryAfter)
		}
	}},
	{"PROCESSING noted: release of the current owner: EXECUTED by the noted one", func(k *key) {
		k.short(wire.Reacquire)
		o1, f1 := k.granted()
		k.over()
		o2, f2 := k.granted()
		k.want(k.executed(o1, f1, 201), wire.Stale)
		k.want(k.release(o2, f2), wire.OK)
		k.indexed(false)
		k.notKept(201)
	}},
	{"absent: release, client key: a late claim of the same owner is stale", func(k *key) {
		o := owner()
		k.want(k.release(o, 0), wire.OK)
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"any other: release: nothing", func(k *key) {
		o, f := k.granted()
		k.unknown(o, f)
		k.want(k.release(o, f), wire.OK)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.executed(o, f, 200)
		k.want(k.release(o, f), wire.OK)
		k.want(k.claim(owner()), wire.InFlight)
		k.complete(o, f, 200, "r")
		k.want(k.release(o, f), wire.OK)
		k.replays(200, "r")
	}},
	{"PROCESSING, UNKNOWN: release of another: indexed again", func(k *key) {
		o, f := k.granted()
		k.h.LoseIndex(k.name)
		k.release(owner(), 0)
		k.indexed(true)
		k.unknown(o, f)
		k.h.LoseIndex(k.name)
		k.release(owner(), 0)
		k.indexed(true)
		k.noResult(o, f, 200)
		k.release(owner(), 0)
		k.indexed(false)
	}},
	{"RELEASED by one: release of another: the marker stays", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.want(k.release(owner(), 0), wire.OK)
		k.want(k.claim(o), wire.Stale)
	}},
}

var renewRows = []row{
	{"PROCESSING: renew, cur, not over: lease_end later", func(k *key) {
		o, f := k.granted()
		due := k.due()
		k.policy.LeaseMS *= 2
		if r := k.want(k.renew(o, f), wire.OK); r.Lease <= time.Minute || r.Lease > 2*time.Minute {
			k.Fatalf("lease %v", r.Lease)
		}
		if k.due() <= due {
			k.Fatal("indexed for the old end of the lease")
		}
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter <= time.Minute {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
		k.indexed(true)
	}},
	{"EXECUTED: renew, cur, not over: lease_end later", func(k *key) {
		o, f := k.granted()
		k.executed(o, f, 200)
		k.policy.LeaseMS *= 2
		if r := k.want(k.renew(o, f), wire.OK); r.Lease <= time.Minute {
			k.Fatalf("lease %v", r.Lease)
		}
		k.indexed(false)
	}},
	{"EXECUTED: renew past the life of the answer: it lives on", func(k *key) {
		k.policy.TTLMS, k.policy.LeaseMS = k.h.Short.Milliseconds(), time.Hour.Milliseconds()
		o, f := k.granted()
		k.executed(o, f, 200)
		k.want(k.renew(o, f), wire.OK)
		k.over()
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"renew, over: stale", func(k *key) {
		k.short(wire.Hold)
		o, f := k.granted()
		k.over()
		k.want(k.renew(o, f), wire.Stale)
	}},
	{"renew, other owner or another fence: stale", func(k *key) {
		o, f := k.granted()
		k.want(k.renew(owner(), f), wire.Stale)
		k.want(k.renew(o, f+1), wire.Stale)
		k.want(k.renew(o, 0), wire.Stale)
	}},
	{"PROCESSING, UNKNOWN: renew, stale: indexed again", func(k *key) {
		o, f := k.granted()
		k.h.LoseIndex(k.name)
		k.want(k.renew(owner(), f), wire.Stale)
		k.indexed(true)
		k.unknown(o, f)
		k.h.LoseIndex(k.name)
		k.want(k.renew(o, f), wire.Stale)
		k.indexed(true)
	}},
	{"absent, RELEASED, UNKNOWN, COMPLETED, no body coming: renew: stale", func(k *key) {
		k.want(k.renew(owner(), 1), wire.Stale)
		o, f := k.granted()
		k.release(o, f)
		k.want(k.renew(o, f), wire.Stale)
		o, f = k.granted()
		k.unknown(o, f)
		k.want(k.renew(o, f), wire.Stale)
		k.noResult(o, f, 200)
		k.want(k.renew(o, f), wire.Stale)
		k.complete(o, f, 200, "r")
		k.want(k.renew(o, f), wire.Stale)
	}},
}
