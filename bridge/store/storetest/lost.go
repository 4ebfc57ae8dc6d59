package storetest

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// lostRows: the step took effect and its answer was lost, so the owner sends it
// again. It must be told the same, and nothing may have happened twice.
var lostRows = []row{
	{"claim", func(k *key) {
		o := owner()
		first := k.want(k.claim(o), wire.Created)
		again := k.want(k.claim(o), wire.Created)
		if again.Fence != first.Fence || again.Attempt != first.Attempt || again.Takeover || again.Lease > first.Lease {
			k.Fatalf("%+v, then %+v", first, again)
		}
	}},
	{"claim that took over", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		o := owner()
		first := k.want(k.claim(o), wire.Created)
		again := k.want(k.claim(o), wire.Created)
		if again.Fence != first.Fence || again.Attempt != first.Attempt || again.Takeover != first.Takeover {
			k.Fatalf("%+v, then %+v", first, again)
		}
	}},
	{"claim of an issued key", func(k *key) {
		k.issue(time.Hour)
		o := owner()
		first := k.want(k.claim(o), wire.Created)
		if again := k.want(k.claim(o), wire.Created); again.Fence != first.Fence {
			k.Fatalf("%+v, then %+v", first, again)
		}
	}},
	{"issue", func(k *key) {
		first := k.want(k.issue(time.Hour), wire.Issued)
		if again := k.want(k.issue(2*time.Hour), wire.Issued); again.Remaining > first.Remaining {
			k.Fatalf("life %v, then %v", first.Remaining, again.Remaining)
		}
	}},
	{"executed", func(k *key) {
		o, f := k.granted()
		k.want(k.executed(o, f, 200), wire.OK)
		k.want(k.executed(o, f, 200), wire.OK)
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"executed without a result", func(k *key) {
		o, f := k.granted()
		k.want(k.noResult(o, f, 200), wire.OK)
		k.want(k.noResult(o, f, 200), wire.OK)
		k.notKept(200)
	}},
	{"complete", func(k *key) {
		o, f := k.granted()
		k.want(k.complete(o, f, 200, "r"), wire.OK)
		k.want(k.complete(o, f, 200, "r"), wire.OK)
		k.replays(200, "r")
	}},
	{"complete that came late and was noted", func(k *key) {
		o, f := k.granted()
		late := owner()
		k.want(k.complete(late, f-1, 200, "x"), wire.Stale)
		k.want(k.complete(late, f-1, 200, "x"), wire.Stale)
		k.want(k.complete(o, f, 201, "r"), wire.OK)
		k.replays(201, "r")
	}},
	{"unknown", func(k *key) {
		o, f := k.granted()
		k.want(k.unknown(o, f), wire.OK)
		k.want(k.unknown(o, f), wire.OK)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"release", func(k *key) {
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		k.want(k.release(o, f), wire.OK)
		k.granted()
		k.want(k.release(o, f), wire.OK) // and after the next claim
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"release after a take-over: one attempt is given back, not two", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		o, f := k.granted()
		k.want(k.release(o, f), wire.OK)
		k.want(k.release(o, f), wire.OK)
		if r := k.want(k.claim(owner()), wire.Created); r.Attempt != 2 {
			k.Fatalf("attempt %d, want 2", r.Attempt)
		}
	}},
	{"renew", func(k *key) {
		o, f := k.granted()
		k.want(k.renew(o, f), wire.OK)
		k.want(k.renew(o, f), wire.OK)
	}},
}
