package storetest

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

var issuedRows = []row{
	{"absent: issue: the key", func(k *key) {
		if r := k.want(k.issue(time.Hour), wire.Issued); r.Remaining <= 0 || r.Remaining > time.Hour {
			k.Fatalf("remaining %v", r.Remaining)
		}
		k.indexed(false)
	}},
	{"absent: claim, issued key: key-expired", func(k *key) {
		k.policy.Issued = true
		k.want(k.claim(owner()), wire.KeyExpired)
		k.indexed(false)
	}},
	{"ISSUED: claim, within its life: created", func(k *key) {
		k.issue(time.Hour)
		if r := k.want(k.claim(owner()), wire.Created); r.Attempt != 1 || r.Takeover {
			k.Fatalf("%+v", r)
		}
		k.indexed(true)
	}},
	{"ISSUED: claim, past its life: key-expired", func(k *key) {
		k.issue(k.h.Short)
		k.over()
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"ISSUED again: claim, past its life: key-expired", func(k *key) {
		k.issue(k.h.Short)
		o, f := k.granted()
		k.release(o, f)
		k.over()
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"PROCESSING: release, issued key: ISSUED; claim, me: stale; other: created, fence grows", func(k *key) {
		k.issue(time.Hour)
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		k.indexed(false)
		k.want(k.claim(o), wire.Stale)
		k.print = fingerprint('b')
		if r := k.want(k.claim(owner()), wire.Created); r.Fence <= f || r.Attempt != 1 {
			k.Fatalf("%+v after fence %d", r, f)
		}
	}},
	{"RELEASED: claim, other, issued key: key-expired", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.policy.Issued = true
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"a finished issued key answers past its own life, while the record lives", func(k *key) {
		k.issue(k.h.Short)
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.over()
		k.replays(201, "r")
	}},
	{"a finished issued key is used as long as the key would have lived", func(k *key) {
		k.issue(time.Hour)
		k.policy.TTLMS, k.policy.RejectRepeat = k.h.Short.Milliseconds(), true
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.over()
		k.want(k.claim(owner()), wire.KeyUsed)
	}},
	{"an issued key past the life of its record: key-expired, never new", func(k *key) {
		k.policy.TTLMS = k.h.Short.Milliseconds()
		k.issue(k.h.Short)
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.over()
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"absent: unknown, issued key: UNKNOWN held; never granted again", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.Issued = true
		o := owner()
		k.restored(k.unknown(o, 7), true)
		k.over()
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter != 0 {
			k.Fatalf("retry after %v, want none", r.RetryAfter)
		}
		k.indexed(true)
		// Only a final word ends it.
		k.restored(k.complete(o, 7, 201, "r"), false)
		k.replays(201, "r")
	}},
	{"ISSUED: unknown, newer fence: UNKNOWN held", func(k *key) {
		k.short(wire.Reacquire)
		k.issue(time.Hour)
		k.restored(k.unknown(owner(), 7), true)
		k.over()
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"ISSUED: executed or complete: final, restored", func(k *key) {
		k.issue(time.Hour)
		k.restored(k.complete(owner(), 7, 201, "r"), true)
		k.replays(201, "r")
	}},
	{"absent: release, issued key: nothing", func(k *key) {
		k.policy.Issued = true
		o := owner()
		k.want(k.release(o, 0), wire.OK)
		k.want(k.claim(o), wire.KeyExpired)
	}},
	{"used: issue: stale, nothing is made new", func(k *key) {
		k.issue(time.Hour)
		o, f := k.granted()
		k.h.LoseIndex(k.name)
		k.want(k.issue(time.Hour), wire.Stale)
		k.indexed(true)
		k.complete(o, f, 201, "r")
		k.want(k.issue(time.Hour), wire.Stale)
		k.replays(201, "r")
	}},
}
