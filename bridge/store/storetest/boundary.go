package storetest

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// boundaryRows meet the end of a lease and of a life exactly.
var boundaryRows = []row{
	{"a lease is over at its end, not before", func(k *key) {
		k.policy.Recovery = wire.Reacquire
		o, f := k.granted()
		k.h.Pass(time.Minute - time.Millisecond)
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter != time.Millisecond {
			k.Fatalf("retry after %v, want 1ms", r.RetryAfter)
		}
		if r := k.want(k.claim(o), wire.Created); r.Fence != f || r.Lease != time.Millisecond {
			k.Fatalf("%+v", r)
		}
		k.h.Pass(time.Millisecond)
		k.want(k.claim(o), wire.Lapsed)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"a renewed lease counts from the renewal", func(k *key) {
		o, f := k.granted()
		k.h.Pass(time.Minute - time.Millisecond)
		if r := k.want(k.renew(o, f), wire.OK); r.Lease != time.Minute {
			k.Fatalf("lease %v", r.Lease)
		}
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(owner()), wire.InFlight)
		k.h.Pass(time.Millisecond)
		k.want(k.renew(o, f), wire.Stale)
	}},
	{"PROCESSING: renew moves the life of the record too", func(k *key) {
		o, f := k.granted()
		k.h.Pass(30 * time.Second)
		k.renew(o, f)
		k.h.Pass(time.Hour + time.Minute - time.Millisecond)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"EXECUTED: renew moves the life of the answer too", func(k *key) {
		k.policy.TTLMS, k.policy.LeaseMS = 1000, time.Hour.Milliseconds()
		k.policy.TombstoneMS = time.Minute.Milliseconds()
		o, f := k.granted()
		k.executed(o, f, 200)
		k.h.Pass(30 * time.Minute)
		k.renew(o, f)
		k.h.Pass(time.Hour - time.Millisecond)
		k.want(k.claim(owner()), wire.InFlight)
		k.h.Pass(time.Minute)
		k.want(k.claim(owner()), wire.KeyExpired)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"an answer lives for its ttl, its tombstone after that", func(k *key) {
		k.policy.TombstoneMS = time.Minute.Milliseconds()
		o, f := k.granted()
		k.h.Pass(time.Second)
		k.complete(o, f, 200, "r")
		k.h.Pass(time.Hour - time.Millisecond)
		r := k.want(k.claim(owner()), wire.Replayed)
		if r.Remaining != time.Millisecond || r.Age != time.Second+time.Hour-time.Millisecond {
			k.Fatalf("remaining %v, age %v", r.Remaining, r.Age)
		}
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.KeyExpired)
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(owner()), wire.KeyExpired)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"the age of what was restored counts from its word", func(k *key) {
		k.complete(owner(), 9, 200, "r")
		k.h.Pass(time.Second)
		if r := k.want(k.claim(owner()), wire.Replayed); r.Age != time.Second {
			k.Fatalf("absent: age %v", r.Age)
		}
		freed := newKey(k.T, k.h)
		o, f := freed.granted()
		freed.h.Pass(time.Second)
		freed.release(o, f)
		freed.complete(owner(), f+1, 200, "r")
		freed.h.Pass(time.Second)
		if r := freed.want(freed.claim(owner()), wire.Replayed); r.Age != time.Second {
			k.Fatalf("RELEASED: age %v", r.Age)
		}
	}},
	{"an answer without a tombstone is gone at its end", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 200, "r")
		k.h.Pass(time.Hour - time.Millisecond)
		k.replays(200, "r")
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"an answer past its life that is still there: the key is new in every respect", func(k *key) {
		// Lives are kept in whole milliseconds, rounded up.
		o, f := k.granted()
		k.executed(o, f, 200)
		k.h.Pass(500 * time.Microsecond)
		k.want(k.renew(o, f), wire.OK)
		k.h.Pass(time.Hour - 500*time.Microsecond)
		k.print, k.policy.Recovery, k.policy.TTLMS = fingerprint('b'), wire.Reacquire, 2*time.Hour.Milliseconds()
		o, g := k.granted()
		if g <= f {
			k.Fatalf("fence %d after %d", g, f)
		}
		k.h.Pass(time.Minute)
		if r := k.want(k.claim(owner()), wire.Created); r.Attempt != 2 {
			k.Fatalf("attempt %d, want 2", r.Attempt)
		}
		k.want(k.noResult(o, g, 200), wire.Stale)
	}},
	{"an issued key's answer past its life that is still there: key-expired", func(k *key) {
		k.issue(time.Hour)
		o, f := k.granted()
		k.executed(o, f, 200)
		k.h.Pass(500 * time.Microsecond)
		k.want(k.renew(o, f), wire.OK)
		k.h.Pass(time.Hour - 500*time.Microsecond)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"an issued key lives for its life", func(k *key) {
		k.issue(time.Hour)
		k.h.Pass(time.Hour - time.Millisecond)
		o, f := k.granted()
		k.release(o, f)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"a held record lives for its lease, its ttl and its tombstone", func(k *key) {
		k.policy.TombstoneMS = time.Minute.Milliseconds()
		o, f := k.granted()
		k.unknown(o, f)
		k.h.Pass(time.Hour + 2*time.Minute - time.Millisecond)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(owner()), wire.Created)
	}},
	{"a marker outlives every claim on its way", func(k *key) {
		o := owner()
		k.release(o, 0)
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(o), wire.Stale)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(o), wire.Created)
	}},
}
