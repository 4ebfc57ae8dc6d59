package storetest

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// policyRows: the policy of the claim that made the record is kept with it, and
// the stricter of the record's and the caller's holds.
var policyRows = []row{
	{"a caller cannot loosen recovery", func(k *key) {
		k.short(wire.Hold)
		k.granted()
		k.over()
		k.policy.Recovery = wire.Reacquire
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"a caller's stricter recovery holds", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		k.policy.Recovery = wire.Hold
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.policy.Recovery = wire.Reacquire
		k.granted()
	}},
	{"a take-over keeps the stricter policy", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.MaxAttempts = 2
		k.granted()
		k.over()
		k.policy.MaxAttempts = 9
		k.granted()
		k.over()
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"a caller cannot loosen attempts", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.MaxAttempts = 1
		k.granted()
		k.over()
		k.policy.MaxAttempts = 9
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"a caller cannot shorten a life", func(k *key) {
		o, f := k.granted()
		k.policy.TTLMS = k.h.Short.Milliseconds()
		k.complete(o, f, 200, "r")
		k.over()
		k.replays(200, "r")
	}},
	{"a limit of attempts is stricter than none", func(k *key) {
		k.short(wire.Reacquire)
		k.policy.MaxAttempts = 0
		k.granted()
		k.over()
		k.policy.MaxAttempts = 1
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.policy.MaxAttempts = 2
		k.granted()
		k.over()
		k.policy.MaxAttempts = 0
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"a caller cannot do away with a tombstone", func(k *key) {
		k.policy.TTLMS, k.policy.TombstoneMS = k.h.Short.Milliseconds(), time.Hour.Milliseconds()
		o, f := k.granted()
		k.policy.TombstoneMS = 0
		k.complete(o, f, 200, "r")
		k.over()
		k.want(k.claim(owner()), wire.KeyExpired)
	}},
	{"an issued key stays one, whatever a caller says", func(k *key) {
		k.short(wire.Reacquire)
		k.issue(time.Hour)
		k.policy.Issued = false
		_, f := k.granted()
		k.restored(k.unknown(owner(), f+1), true)
		k.over()
		k.want(k.claim(owner()), wire.OutcomeUnknown) // held
	}},
	{"rejecting repeats is stricter than replaying", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 200, "r")
		k.policy.RejectRepeat = true
		k.want(k.claim(owner()), wire.KeyUsed)
	}},
	{"a rule generation may hold any text", func(k *key) {
		k.policy.Generation = "1:2:\n:x"
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		k.policy.Generation = ""
		k.granted()
	}},
}

// numberRows: fences are numbers of more digits than a careless store prints.
var numberRows = []row{
	{"a fence of sixteen digits grows by one", func(k *key) {
		k.short(wire.Reacquire)
		const high = 1<<53 - 10
		k.want(k.unknown(owner(), high), wire.OK)
		k.over()
		o, f := k.granted()
		if f != high+1 {
			k.Fatalf("fence %d, want %d", f, uint64(high+1))
		}
		k.want(k.release(o, high), wire.OK) // one off: another fence
		k.want(k.renew(o, high), wire.Stale)
		k.want(k.renew(o, high+2), wire.Stale)
		k.want(k.complete(o, high+1, 200, "r"), wire.OK)
	}},
	{"a fence past 2^53 is refused", func(k *key) {
		k.want(k.unknown(owner(), 1<<53+1), wire.Invalid)
	}},
	{"fences grow with every grant, over a lost record too", func(k *key) {
		last := uint64(0)
		for range 20 {
			o, f := k.granted()
			if f <= last {
				k.Fatalf("fence %d after %d", f, last)
			}
			last = f
			k.release(o, f)
		}
		k.h.Lose(k.name)
		k.h.Pass(time.Millisecond)
		if _, f := k.granted(); f <= last {
			k.Fatalf("fence %d after %d", f, last)
		}
	}},
}

// clockRows: a failover to a node whose clock is behind.
var clockRows = []row{
	{"PROCESSING from the future: its lease starts once more on the new clock", func(k *key) {
		o, f := k.granted()
		due := k.due()
		k.h.SetBack(time.Hour)
		r := k.want(k.claim(owner()), wire.InFlight)
		if r.RetryAfter > time.Minute || r.Age != 0 {
			k.Fatalf("retry after %v, longer than the lease, age %v", r.RetryAfter, r.Age)
		}
		if moved := due - k.due(); moved != time.Hour.Microseconds() {
			k.Fatalf("indexed %dus earlier, want 1h", moved)
		}
		k.h.Pass(30 * time.Second)
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter > 30*time.Second {
			k.Fatalf("retry after %v: the lease started twice", r.RetryAfter)
		}
		k.h.Pass(30 * time.Second)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
		k.want(k.complete(o, f, 200, "r"), wire.OK)
	}},
	{"UNKNOWN from the future: the same", func(k *key) {
		o, f := k.granted()
		k.unknown(o, f)
		k.h.SetBack(time.Hour)
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter <= 0 || r.RetryAfter > time.Minute {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
		k.h.Pass(time.Minute)
		if r := k.want(k.claim(owner()), wire.OutcomeUnknown); r.RetryAfter != 0 {
			k.Fatalf("retry after %v, want none", r.RetryAfter)
		}
	}},
	{"within the skew nothing starts again, and Retry-After stays within the lease", func(k *key) {
		k.granted()
		k.h.SetBack(k.h.Skew)
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter != time.Minute {
			k.Fatalf("retry after %v, want the lease", r.RetryAfter)
		}
		k.h.Pass(time.Minute)
		k.want(k.claim(owner()), wire.InFlight)
		k.h.Pass(k.h.Skew)
		k.want(k.claim(owner()), wire.OutcomeUnknown)
	}},
	{"EXECUTED from the future: the same, and not indexed", func(k *key) {
		o, f := k.granted()
		k.executed(o, f, 200)
		k.h.SetBack(time.Hour)
		if r := k.want(k.claim(owner()), wire.InFlight); r.RetryAfter != time.Minute {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
		k.indexed(false)
		k.h.Pass(time.Minute)
		k.notKept(200)
	}},
	{"a lease that starts once more does not outlast its record", func(k *key) {
		k.policy.TTLMS = 1
		k.granted()
		k.h.Pass(59 * time.Second)
		k.h.SetBack(time.Hour)
		k.want(k.claim(owner()), wire.InFlight)
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(owner()), wire.InFlight)
	}},
	{"nor its answer", func(k *key) {
		k.policy.TTLMS, k.policy.LeaseMS = 1, 1000
		o, f := k.granted()
		k.executed(o, f, 200)
		k.h.SetBack(time.Minute)
		k.policy.LeaseMS = time.Hour.Milliseconds()
		k.want(k.claim(owner()), wire.InFlight)
		k.h.Pass(time.Hour - time.Millisecond)
		k.want(k.claim(owner()), wire.InFlight)
		k.want(k.complete(o, f, 200, "r"), wire.OK)
	}},
	{"no body is coming, whatever the clock says", func(k *key) {
		o, f := k.granted()
		k.noResult(o, f, 200)
		k.h.SetBack(time.Hour)
		k.notKept(200)
	}},
	{"a released take-over stays over", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		o, f := k.granted()
		k.release(o, f)
		k.h.SetBack(time.Hour)
		k.granted()
	}},
	{"fences grow over a clock that was set back", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.h.SetBack(time.Hour)
		if _, g := k.granted(); g != f+1 {
			k.Fatalf("fence %d, want %d", g, f+1)
		}
	}},
}
