package storetest

import (
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// leavers is how many released owners a record remembers beside its own.
const leavers = 8

// leaves lets a request give up whose claim has not come: it holds nothing.
func (k *key) leaves() (o []byte) {
	k.Helper()
	o = owner()
	if r := k.want(k.release(o, 0), wire.OK); r.Dropped {
		k.Fatal("another released owner was dropped")
	}
	return o
}

// brief makes leases that end well within the life of a marker; gone lets one end.
func (k *key) brief(r wire.Recovery) {
	k.policy.LeaseMS, k.policy.Recovery = (k.h.Short / 3).Milliseconds(), r
}

func (k *key) gone() { k.h.Pass(k.h.Short / 3) }

// leaverRows: an owner that has released is never granted the key, whatever its
// release met and whatever came after it (record.md, rule 5).
var leaverRows = []row{
	{"RELEASED: granted and released by another: the first one is refused still", func(k *key) {
		o1, f1 := k.granted()
		k.release(o1, f1)
		o2, f2 := k.granted()
		k.release(o2, f2)
		k.want(k.claim(o1), wire.Stale)
		k.want(k.claim(o2), wire.Stale)
		k.granted()
	}},
	{"RELEASED: release of another: refused", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		gone := k.leaves()
		k.want(k.claim(gone), wire.Stale)
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"PROCESSING: release of another: the claim stays; once it is free, refused", func(k *key) {
		o, f := k.granted()
		gone := k.leaves()
		k.want(k.claim(gone), wire.InFlight)
		if r := k.want(k.claim(o), wire.Created); r.Fence != f || r.Attempt != 1 {
			k.Fatalf("the owner's claim is now %+v", r)
		}
		k.release(o, f)
		k.want(k.claim(gone), wire.Stale)
		k.granted()
	}},
	{"PROCESSING over, reacquire: release of another: others take over, it does not", func(k *key) {
		k.brief(wire.Reacquire)
		k.granted()
		gone := k.leaves()
		k.gone()
		k.want(k.claim(gone), wire.Stale)
		if r := k.want(k.claim(owner()), wire.Created); !r.Takeover || r.Attempt != 2 {
			k.Fatalf("%+v, want the second attempt", r)
		}
		k.gone()
		k.want(k.claim(gone), wire.Stale)
	}},
	{"UNKNOWN over, reacquire: release of another, and of its owner: refused", func(k *key) {
		k.brief(wire.Reacquire)
		o, f := k.granted()
		k.unknown(o, f)
		gone := k.leaves()
		k.want(k.release(o, f), wire.OK)
		k.gone()
		k.want(k.claim(gone), wire.Stale)
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"PROCESSING after a take-over: release: its own late claim is refused", func(k *key) {
		k.brief(wire.Reacquire)
		k.granted()
		k.gone()
		o, f := k.granted()
		k.release(o, f)
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"ISSUED: release of an owner that never came: refused, the key is not consumed", func(k *key) {
		k.issue(time.Hour)
		gone := k.leaves()
		k.want(k.claim(gone), wire.Stale)
		if r := k.want(k.issue(time.Hour), wire.Issued); r.Remaining > time.Hour {
			k.Fatalf("life %v", r.Remaining)
		}
		o, f := k.granted()
		k.release(o, f)
		k.want(k.claim(gone), wire.Stale)
		k.want(k.claim(o), wire.Stale)
		o2, f2 := k.granted()
		k.release(o2, f2)
		k.want(k.claim(o), wire.Stale)
		k.granted()
	}},
	{"RELEASED: unknown, newer fence: who released it is refused still", func(k *key) {
		k.brief(wire.Reacquire)
		o, f := k.granted()
		k.release(o, f)
		gone := k.leaves()
		k.restored(k.unknown(owner(), f+1), true)
		k.gone()
		k.want(k.claim(o), wire.Stale)
		k.want(k.claim(gone), wire.Stale)
		k.granted()
	}},
	{"a released owner does not keep a final word out", func(k *key) {
		o, f := k.granted()
		k.leaves()
		k.want(k.complete(o, f, 201, "r"), wire.OK)
		k.replays(201, "r")
	}},
	{"its own success is heard although it has released", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.restored(k.complete(o, f, 201, "r"), true)
		k.replays(201, "r")
	}},
	{"final: release of another: nothing", func(k *key) {
		o, f := k.granted()
		k.complete(o, f, 201, "r")
		k.want(k.claim(k.leaves()), wire.Replayed)
	}},
	{"another fingerprint is told first", func(k *key) {
		k.brief(wire.Reacquire)
		k.granted()
		gone := k.leaves()
		k.gone()
		k.print = fingerprint('b')
		k.want(k.claim(gone), wire.KeyReused)
	}},
	{"released again: one place is taken, and it is the newest", func(k *key) {
		o, f := k.granted()
		first := k.leaves()
		for range leavers - 1 {
			k.leaves()
		}
		for range 3 {
			if r := k.want(k.release(first, 0), wire.OK); r.Dropped {
				k.Fatal("dropped although none is new")
			}
		}
		if r := k.want(k.release(owner(), 0), wire.OK); !r.Dropped {
			k.Fatalf("the place of a ninth: %+v, want one dropped", r)
		}
		k.release(o, f)
		k.want(k.claim(first), wire.Stale)
	}},
	{"too many: the longest gone is dropped, and told", func(k *key) {
		o, f := k.granted()
		gone := make([][]byte, leavers)
		for i := range gone {
			gone[i] = k.leaves()
		}
		for range 2 {
			if r := k.want(k.release(owner(), 0), wire.OK); !r.Dropped {
				k.Fatalf("%+v, want one dropped", r)
			}
		}
		k.release(o, f)
		for _, o := range gone[2:] {
			k.want(k.claim(o), wire.Stale)
		}
		k.want(k.claim(gone[1]), wire.Created)
	}},
	{"too many, a grant over RELEASED: the longest gone is dropped, and told", func(k *key) {
		o, f := k.granted()
		first := k.leaves()
		for range leavers - 1 {
			k.leaves()
		}
		k.release(o, f)
		if r := k.want(k.claim(owner()), wire.Created); !r.Dropped {
			k.Fatalf("%+v, want one dropped", r)
		}
		k.h.LoseIndex(k.name)
		k.want(k.claim(first), wire.InFlight)
		k.indexed(true)
	}},
}

// leaverMoments meet the end of a released owner's time exactly. A marker lives a
// minute where the claim's timeout is below 15 s.
var leaverMoments = []row{
	{"a released owner is refused for the life of a marker", func(k *key) {
		k.policy.LeaseMS, k.policy.Recovery = 1000, wire.Reacquire
		k.granted()
		gone := k.leaves()
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(gone), wire.Stale)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(gone), wire.Created)
	}},
	{"a marker counts once more from the grant that replaces it", func(k *key) {
		o, f := k.granted()
		k.release(o, f)
		k.h.Pass(time.Minute - time.Millisecond)
		o2, f2 := k.granted()
		k.release(o2, f2)
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(o), wire.Stale)
	}},
	{"a record lives as long as it refuses a released owner", func(k *key) {
		k.policy.LeaseMS, k.policy.TTLMS = 1000, 1000
		k.granted()
		gone := k.leaves()
		k.h.Pass(time.Minute - time.Millisecond)
		k.want(k.claim(gone), wire.OutcomeUnknown)
		k.h.Pass(time.Millisecond)
		k.want(k.claim(gone), wire.Created)
	}},
	{"one whose time is over takes no place", func(k *key) {
		k.policy.LeaseMS = (10 * time.Minute).Milliseconds()
		k.granted()
		for range leavers {
			k.leaves()
		}
		k.h.Pass(time.Minute)
		for range leavers {
			k.leaves()
		}
	}},
}

// leaverDecisions: an operator's decision forgets nobody.
var leaverDecisions = []row{
	{"free: who released before is refused still", func(k *key) {
		k.brief(wire.Hold)
		k.granted()
		gone := k.leaves()
		k.gone()
		k.verdict(store.Resolution{Fence: k.get().Fence, Action: store.Free}, store.Done)
		k.want(k.claim(gone), wire.Stale)
		k.granted()
	}},
}
