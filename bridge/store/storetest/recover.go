package storetest

import (
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// recoverRows: what a reconciler writes down. They run against stores that are a
// [store.Recoverer].
var recoverRows = []row{
	{"a probed result ends an overdue record", func(k *key) {
		o, f := k.overdue()
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundResult, Status: 201, Result: []byte("probed")}, store.Done)
		k.replays(201, "probed")
		k.indexed(false)
		k.want(k.complete(o, f, 200, "late"), wire.OK)
		k.replays(201, "probed")
	}},
	{"a probed result ends an overdue claim", func(k *key) {
		k.short(wire.Probe)
		o, f := k.granted()
		k.over()
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundResult, Status: 201, Result: []byte("probed")}, store.Done)
		k.replays(201, "probed")
	}},
	{"found executed, without a result", func(k *key) {
		o, f := k.overdue()
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundExecuted, Status: 202}, store.Done)
		k.notKept(202)
		k.indexed(false)
	}},
	{"found nothing lets the next claim through with a higher fence", func(k *key) {
		o, f := k.overdue()
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundNothing}, store.Done)
		k.indexed(false)
		k.want(k.claim(o), wire.Stale)
		if _, g := k.granted(); g <= f {
			k.Fatalf("fence %d after %d", g, f)
		}
	}},
	{"found nothing after a take-over frees too: the promise covers lower fences", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		o, g := k.granted()
		k.over()
		k.found(store.Finding{Owner: o, Fence: g, Outcome: store.FoundNothing}, store.Done)
		k.granted()
	}},
	{"found nothing gives an issued key back", func(k *key) {
		k.short(wire.Probe)
		k.issue(time.Hour)
		o, f := k.granted()
		k.unknown(o, f)
		k.over()
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundNothing}, store.Done)
		if r := k.get(); r.State != store.Issued {
			k.Fatalf("%+v", r)
		}
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"held: only a final word counts", func(k *key) {
		k.issue(time.Hour)
		k.short(wire.Probe)
		o, f := k.granted()
		k.h.Lose(k.name)
		k.restored(k.unknown(o, f), true)
		k.over()
		for _, outcome := range []store.Outcome{store.FoundNothing, store.Compensating} {
			k.h.LoseIndex(k.name)
			k.found(store.Finding{Owner: o, Fence: f, Outcome: outcome}, store.Withheld)
			k.indexed(true)
		}
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundExecuted, Status: 200}, store.Done)
	}},
	{"found nothing on a noted record: the noted owner has run it", func(k *key) {
		for _, outcome := range []store.Outcome{store.FoundNothing, store.Compensating} {
			n := newKey(k.T, k.h)
			n.short(wire.Reacquire)
			o, f := n.granted()
			n.over()
			p, g := n.granted()
			n.want(n.complete(o, f, 201, "first"), wire.Stale)
			n.over()
			n.found(store.Finding{Owner: p, Fence: g, Outcome: outcome}, store.Noted)
			n.notKept(201)
			n.indexed(false)
		}
	}},
	{"another owner or fence is a conflict", func(k *key) {
		o, f := k.overdue()
		for outcome := store.FoundResult; outcome <= store.Compensating; outcome++ {
			for _, x := range []store.Finding{{Owner: owner(), Fence: f}, {Owner: o, Fence: f + 1}, {Owner: o, Fence: f - 1}} {
				k.h.LoseIndex(k.name)
				x.Outcome, x.Status, x.Result = outcome, 200, []byte("x")
				k.found(x, store.Conflict)
				k.indexed(true)
			}
		}
		if r := k.get(); r.State != store.Unknown || r.Fence != f {
			k.Fatalf("%+v", r)
		}
	}},
	{"absent and final records are a conflict", func(k *key) {
		k.found(store.Finding{Owner: owner(), Fence: 1, Outcome: store.FoundNothing}, store.Conflict)
		if r := k.get(); r.State != store.Absent {
			k.Fatalf("%+v", r)
		}
		o, f := k.granted()
		k.complete(o, f, 200, "own")
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundNothing}, store.Conflict)
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.Compensating}, store.Conflict)
		k.replays(200, "own")
	}},
	{"a live lease is left to its owner", func(k *key) {
		o, f := k.granted()
		for _, outcome := range []store.Outcome{store.FoundResult, store.FoundExecuted, store.FoundNothing} {
			k.found(store.Finding{Owner: o, Fence: f, Outcome: outcome, Status: 500, Result: []byte("x")}, store.Live)
		}
		k.want(k.complete(o, f, 200, "own"), wire.OK)
	}},
	{"a finding repeated is the same finding", func(k *key) {
		o, f := k.overdue()
		x := store.Finding{Owner: o, Fence: f, Outcome: store.FoundResult, Status: 201, Result: []byte("probed")}
		k.found(x, store.Done)
		k.found(x, store.Done)
		x.Status, x.Result = 500, []byte("other")
		k.found(x, store.Done)
		k.replays(201, "probed")
		freed := newKey(k.T, k.h)
		o, f = freed.overdue()
		for range 2 {
			freed.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundNothing}, store.Done)
		}
	}},
	{"one compensation at a time", func(k *key) {
		o, f := k.overdue()
		begin := store.Finding{Owner: o, Fence: f, Outcome: store.Compensating, Quiet: k.h.Short}
		k.found(begin, store.Done)
		if !k.h.Exact {
			begin.Quiet = time.Minute // so that a slow machine does not pass it
		}
		k.found(begin, store.Busy)
		begin.Quiet = k.h.Short
		k.over()
		k.found(begin, store.Done)
		k.found(store.Finding{Owner: o, Fence: f, Outcome: store.FoundNothing}, store.Done)
		// The next owner's compensation is its own.
		k.policy.Recovery = wire.Probe
		o, f = k.granted()
		k.over()
		begin = store.Finding{Owner: o, Fence: f, Outcome: store.Compensating, Quiet: time.Hour}
		k.found(begin, store.Done)
		k.found(begin, store.Busy)
	}},
	{"due lists what is overdue, with owner and identity to ask by", func(k *key) {
		k.short(wire.Probe)
		op := k.operation(wire.Claim, owner(), 0)
		op.Identity = []byte("sealed")
		f := k.want(k.do(op), wire.Created).Fence
		if _, ok := k.isDue(); ok {
			k.Fatal("a live lease is due")
		}
		k.over()
		due, ok := k.isDue()
		if !ok || due.Overdue < 0 || due.Overdue > time.Minute {
			k.Fatalf("%v %v", due.Overdue, ok)
		}
		list, err := k.recoverer().Look(k.Context(), []store.Name{k.name, {1}})
		if err != nil || len(list) != 2 || list[1].State != store.Absent {
			k.Fatalf("%+v, %v", list, err)
		}
		if r := list[0]; r.Fence != f || string(r.Owner) != string(op.Owner) || string(r.Identity) != "sealed" || !r.LeaseOver {
			k.Fatalf("%+v", r)
		}
		k.found(store.Finding{Owner: op.Owner, Fence: f, Outcome: store.FoundExecuted, Status: 200}, store.Done)
		if r := k.get(); r.Identity != nil {
			k.Fatal("the identity outlives the final word")
		}
	}},
	{"a share has one holder until its end", func(k *key) {
		share := int(k.name[0]) % k.recoverer().Shares()
		hold := func(holder string, life time.Duration, want store.Lease) {
			k.Helper()
			if got, err := k.recoverer().Hold(k.Context(), share, holder, life); err != nil || got != want {
				k.Fatalf("%s: %d, %v, want %d", holder, got, err, want)
			}
		}
		a, b := string(owner()), string(owner())
		for range 64 { // rows beside this one use shares too
			if got, err := k.recoverer().Hold(k.Context(), share, a, time.Hour); err != nil {
				k.Fatal(err)
			} else if got != store.LeaseOthers {
				break
			}
			share = (share + 1) % k.recoverer().Shares()
		}
		hold(b, time.Hour, store.LeaseOthers)
		hold(a, k.h.Short, store.LeaseHeld)
		k.over()
		hold(b, time.Hour, store.LeaseTaken)
		hold(a, time.Hour, store.LeaseOthers)
		if err := k.recoverer().Yield(k.Context(), share, a); err != nil {
			k.Fatal(err)
		}
		hold(a, time.Hour, store.LeaseOthers)
		if err := k.recoverer().Yield(k.Context(), share, b); err != nil {
			k.Fatal(err)
		}
		hold(a, time.Hour, store.LeaseHeld)
	}},
	{"tidy takes out what has no record, and nothing else", func(k *key) {
		k.granted()
		lost := newKey(k.T, k.h)
		lost.name = k.name
		lost.name[31] ^= 1
		lost.granted()
		k.h.LoseRecord(lost.name)
		if _, err := k.recoverer().Tidy(k.Context(), k.shareOf()); err != nil {
			k.Fatal(err)
		}
		lost.indexed(false)
		k.indexed(true)
	}},
	{"reindex finds what its index lost", func(k *key) {
		k.granted()
		done := newKey(k.T, k.h)
		o, f := done.granted()
		done.complete(o, f, 200, "r")
		k.h.LoseIndex(k.name)
		if _, err := k.recoverer().Reindex(k.Context(), 0); err != nil {
			k.Fatal(err)
		}
		k.indexed(true)
		done.indexed(false)
	}},
	{"an incarnation stays while nothing is replaced", func(k *key) {
		a, err := k.recoverer().Incarnation(k.Context())
		b, err2 := k.recoverer().Incarnation(k.Context())
		if err != nil || err2 != nil || a == "" || a != b {
			k.Fatalf("%q %v, %q %v", a, err, b, err2)
		}
	}},
}

func (k *key) recoverer() store.Recoverer { return k.h.Store.(store.Recoverer) }

// found reconciles and fails unless the verdict is want.
func (k *key) found(f store.Finding, want store.Verdict) {
	k.Helper()
	f.Name, f.Deadline = k.name, time.Now().Add(10*time.Second)
	if got, err := k.recoverer().Reconcile(k.Context(), f); err != nil || got != want {
		k.Fatalf("outcome %d: verdict %d, %v, want %d", f.Outcome, got, err, want)
	}
}

// shareOf is the share that the key is in.
func (k *key) shareOf() int {
	buckets := 1024 / k.recoverer().Shares()
	return (int(k.name[0])<<2 | int(k.name[1])>>6) / buckets
}

func (k *key) isDue() (store.Due, bool) {
	k.Helper()
	list, err := k.recoverer().Due(k.Context(), k.shareOf(), 1000)
	if err != nil {
		k.Fatal(err)
	}
	for _, d := range list {
		if d.Name == k.name {
			return d, true
		}
	}
	return store.Due{}, false
}
