package storetest

import (
	"bytes"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

var claimRows = []row{
	{"absent: claim, client key: created", func(k *key) {
		r := k.want(k.claim(owner()), wire.Created)
		if r.Fence == 0 || r.Attempt != 1 || r.Takeover || r.Lease <= 0 || r.Lease > time.Minute {
			k.Fatalf("%+v", r)
		}
		k.indexed(true)
	}},
	{"any state: claim, another fingerprint: key-reused, before all else", func(k *key) {
		mine := k.print
		reused := func(state string) {
			k.Helper()
			k.print = fingerprint('b')
			r := k.want(k.claim(owner()), wire.KeyReused)
			if !bytes.Equal(r.Fingerprint, mine) {
				k.Fatalf("%s: fingerprint of %d bytes, want the record's", state, len(r.Fingerprint))
			}
			k.print = mine
		}
		k.policy.TTLMS, k.policy.TombstoneMS = k.h.Short.Milliseconds(), time.Hour.Milliseconds()
		o, f := k.granted()
		reused("PROCESSING")
		k.unknown(o, f)
		reused("UNKNOWN")
		k.executed(o, f, 200)
		reused("EXECUTED")
		k.complete(o, f, 200, "r")
		reused("COMPLETED")
		k.over()
		reused("tombstone")
	}},
	{"any state: claim without a fingerprint: not tested", func(k *key) {
		k.granted()
		k.print = nil
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"RELEASED: claim, me: stale", func(k *key) {
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		k.want(k.claim(o), wire.Stale)
	}},
	{"RELEASED: claim, other, client key: created, fence grows, another body allowed", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.print = fingerprint('b')
		r := k.want(k.claim(owner()), wire.Created)
		if r.Fence <= f || r.Attempt != 1 || r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
		k.indexed(true)
	}},
	{"PROCESSING: claim, other, not over: in-flight, lease_end", func(k *key) {
		k.granted()
		r := k.want(k.claim(owner()), wire.InFlight)
		if r.RetryAfter <= 0 || r.RetryAfter > time.Minute {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"PROCESSING: claim, me, over: lapsed, indexed again", func(k *key) {
		k.short(wire.Reacquire)
		o, _ := k.granted()
		k.over()
		k.h.LoseIndex(k.name)
		k.want(k.claim(o), wire.Lapsed)
		k.indexed(true)
	}},
	{"PROCESSING: claim, other, over, noted: EXECUTED by the noted owner", func(k *key) {
		k.short(wire.Reacquire)
		o1, f1 := k.granted()
		k.over()
		k.granted()
		k.want(k.complete(o1, f1, 201, "late"), wire.Stale)
		k.over()
		k.notKept(201)
		k.indexed(false)
		// The noted owner is the owner now: its result is still welcome.
		k.want(k.complete(o1, f1, 201, "late"), wire.OK)
		k.replays(201, "late")
	}},
	{"UNKNOWN: claim, not over: outcome-unknown, lease_end", func(k *key) {
		k.policy.Recovery = wire.Reacquire
		o, f := k.granted()
		k.unknown(o, f)
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter <= 0 {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"PROCESSING: claim, over, reacquire: created, take-over", func(k *key) {
		k.short(wire.Reacquire)
		_, f := k.granted()
		k.over()
		r := k.want(k.claim(owner()), wire.Created)
		if r.Fence <= f || r.Attempt != 2 || !r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
		k.indexed(true)
	}},
	{"UNKNOWN: claim, over, reacquire: created, take-over, me too", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.unknown(o, f)
		k.over()
		r := k.want(k.claim(o), wire.Created)
		if r.Fence <= f || r.Attempt != 2 || !r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
	}},
	{"PROCESSING, UNKNOWN: claim, over, no attempts left: outcome-unknown", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.MaxAttempts = 2
		k.granted()
		k.over()
		o, f := k.granted()
		k.over()
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.unknown(o, f)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"PROCESSING, UNKNOWN: claim, over, hold: outcome-unknown, no Retry-After, indexed again", func(k *key) {
		k.short(wire.Hold)
		o, f := k.granted()
		k.over()
		for _, state := range []string{"PROCESSING", "UNKNOWN"} {
			k.h.LoseIndex(k.name)
			if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter != 0 {
				k.Fatalf("%s: retry after %v, want none", state, r.RetryAfter)
			}
			k.indexed(true)
			k.unknown(o, f)
		}
	}},
	{"PROCESSING: claim, over, probe: outcome-unknown", func(k *key) {
		k.short(wire.Probe)
		k.granted()
		k.over()
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"PROCESSING, UNKNOWN: claim, not over: indexed again", func(k *key) {
		o, f := k.granted()
		k.h.LoseIndex(k.name)
		k.want(k.claim(owner()), wire.InFlight)
		k.indexed(true)
		k.unknown(o, f)
		k.h.LoseIndex(k.name)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.indexed(true)
	}},
	{"EXECUTED: claim, body on its way: in-flight; over: response-not-kept", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		k.executed(o, f, 202)
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter <= 0 {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
		k.indexed(false)
	}},
	{"EXECUTED: claim, its lease over: response-not-kept with the status", func(k *key) {
		k.short(wire.Reacquire)
		o, f := k.granted()
		k.executed(o, f, 202)
		k.over()
		k.notKept(202)
	}},
	{"EXECUTED: claim, no body is coming: response-not-kept with the status", func(k *key) {
		o, f := k.granted()
		k.want(k.noResult(o, f, 202), wire.OK)
		k.notKept(202)
	}},
	{"COMPLETED: claim, result there: replayed, any bytes", func(k *key) {
		o, f := k.granted()
		result := "\x00\r\n$-1\r\n\xff" + string(make([]byte, 70000))
		k.want(k.complete(o, f, 201, result), wire.OK)
		k.replays(201, result)
		r := k.claim(o)
		if r.Age < 0 || r.Remaining <= 0 || r.Remaining > time.Hour {
			k.Fatalf("age %v, remaining %v", r.Age, r.Remaining)
		}
	}},
	{"COMPLETED: claim, the rule rejects repeats: key-used", func(k *key) {
		k.policy.RejectRepeat = true
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		if r := k.want(k.claim(owner()), wire.KeyUsed); r.Status != 201 || r.Result != nil {
			k.Fatalf("%+v", r)
		}
		k.h.LoseResult(k.name)
		k.want(k.claim(owner()), wire.KeyUsed)
	}},
	{"COMPLETED: claim, result missing: response-not-kept", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.h.LoseResult(k.name)
		k.notKept(201)
	}},
	{"COMPLETED without a result never replays one of an earlier life", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 201, "of the first")
		k.h.LoseRecord(k.name)
		o, f = k.granted()
		k.want(k.complete(o, f, 202, ""), wire.OK)
		k.notKept(202)
	}},
	{"tombstone: claim: key-expired", func(k *key) {
		k.policy.TTLMS, k.policy.TombstoneMS = k.h.Short.Milliseconds(), time.Hour.Milliseconds()
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.over()
		k.want(k.claim(owner()), wire.KeyExpired)
		k.want(k.claim(o), wire.KeyExpired)
	}},
	{"no tombstone wanted: after its life the key is new, the fence grows on", func(k *key) {
		k.policy.TTLMS = k.h.Short.Milliseconds()
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.over()
		k.print = fingerprint('b')
		if r := k.want(k.claim(owner()), wire.Created); r.Fence <= f || r.Attempt != 1 || r.Takeover {
			k.Fatalf("%+v after fence %d", r, f)
		}
	}},
}
