package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// watchRows check a [store.Watcher].
var watchRows = []row{
	{"absent is free", func(k *key) { k.want(k.peek(), wire.Free) }},
	{"issued is free", func(k *key) {
		k.issue(time.Hour)
		k.want(k.peek(), wire.Free)
	}},
	{"live claim is in flight", func(k *key) {
		k.granted()
		r := k.want(k.peek(), wire.InFlight)
		if r.RetryAfter <= 0 || r.RetryAfter > time.Minute {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"another fingerprint", func(k *key) {
		k.granted()
		k.print = fingerprint('b')
		k.want(k.peek(), wire.KeyReused)
	}},
	{"lease over is free", func(k *key) {
		k.short(wire.Hold)
		k.granted()
		k.over()
		k.want(k.peek(), wire.Free)
	}},
	{"result withheld", func(k *key) {
		k.policy.Replicas = 0
		o, fence := k.granted()
		k.want(k.complete(o, fence, 201, string(make([]byte, 100<<10))), wire.OK)
		op := k.operation(wire.Wait, owner(), 0)
		op.Withhold = true
		r := k.want(k.h.Watcher.Peek(k.Context(), &op), wire.Replayed)
		if !r.Withheld || len(r.Result) > 0 {
			k.Fatalf("%d bytes, withheld %v", len(r.Result), r.Withheld)
		}
	}},
	{"woken by complete", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		if r := w.ends(k.final(wire.Replayed)); r.Code == wire.Replayed && (r.Status != 201 || string(r.Result) != "done") {
			k.Fatalf("%+v", r)
		}
	}},
	{"woken by complete after executed", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		k.want(k.executed(o, fence, 201), wire.OK)
		w.waits()
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		w.ends(k.final(wire.Replayed))
	}},
	{"woken by complete of a rule that rejects", func(k *key) {
		k.policy.RejectRepeat = true
		o, fence := k.granted()
		w := k.watch()
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		w.ends(k.final(wire.KeyUsed))
	}},
	{"woken by executed without a result", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		k.want(k.noResult(o, fence, 201), wire.OK)
		w.ends(k.final(wire.ResponseNotKept))
	}},
	{"woken when the result will not come", func(k *key) {
		o, fence := k.granted()
		k.want(k.executed(o, fence, 201), wire.OK)
		w := k.watch()
		k.want(k.noResult(o, fence, 201), wire.OK)
		w.ends(k.final(wire.ResponseNotKept))
	}},
	{"woken by unknown", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		k.want(k.unknown(o, fence), wire.OK)
		if r := w.ends(wire.OutcomeUnknown); r.RetryAfter <= 0 {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"woken by release", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		k.want(k.release(o, fence), wire.OK)
		w.ends(wire.Free)
	}},
	{"woken by release of a noted claim", func(k *key) {
		k.short(wire.Reacquire)
		first, fence := k.granted()
		k.over()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		second, higher := k.granted()
		k.want(k.executed(first, fence, 201), wire.Stale)
		w := k.watch()
		k.want(k.release(second, higher), wire.OK)
		w.ends(k.final(wire.ResponseNotKept))
	}},
	{"woken by release after a take-over", func(k *key) {
		k.short(wire.Reacquire)
		k.granted()
		k.over()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		second, higher := k.granted()
		w := k.watch()
		k.want(k.release(second, higher), wire.OK)
		w.ends(wire.Free) // its lease is over: a claim decides
	}},
	{"woken by an erasure by force", func(k *key) {
		if _, ok := k.h.Store.(store.Eraser); ok {
			k.granted()
			w := k.watch()
			k.erased(store.Erasure{Force: true}, store.ErasedNow)
			w.ends(wire.Free) // a claim is told key-expired
		}
	}},
	{"woken when it is forgotten", func(k *key) {
		if _, ok := k.h.Store.(store.Eraser); ok {
			k.granted()
			w := k.watch()
			k.erased(store.Erasure{Force: true, Forget: true}, store.ErasedNow)
			w.ends(wire.Free)
		}
	}},
	{"woken by an erasure while the result is on its way", func(k *key) {
		if _, ok := k.h.Store.(store.Eraser); ok {
			o, fence := k.granted()
			k.want(k.executed(o, fence, 201), wire.OK)
			w := k.watch()
			k.erased(store.Erasure{}, store.ErasedNow)
			w.ends(wire.Free)
		}
	}},
	{"woken by a final word that restores the record", func(k *key) {
		o, fence := k.granted()
		w := k.watch()
		w.waits()
		k.h.Lose(k.name)
		k.restored(k.complete(o, fence, 201, "done"), true)
		w.ends(k.final(wire.Replayed))
	}},
	{"woken by nothing of another record", func(k *key) {
		o, fence := k.granted()
		other := *k
		other.name[31] ^= 1 // of the same bucket
		otherOwner, otherFence := other.granted()
		w := k.watch()
		other.want(other.complete(otherOwner, otherFence, 201, "x"), wire.OK)
		w.waits()
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		w.ends(k.final(wire.Replayed))
	}},
	{"ends with its context", func(k *key) {
		k.granted()
		w := k.watchFor(2 * time.Second)
		if r := w.ends(wire.InFlight); r.RetryAfter <= 0 {
			k.Fatalf("retry after %v", r.RetryAfter)
		}
	}},
	{"several wait for one", func(k *key) {
		o, fence := k.granted()
		waits := []*watch{k.watch(), k.watch(), k.watch()}
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		for _, w := range waits {
			w.ends(k.final(wire.Replayed))
		}
	}},
	{"changes nothing", func(k *key) {
		inspector, ok := k.h.Store.(store.Inspector)
		if !ok {
			return
		}
		k.granted()
		before := k.record(inspector)
		k.watchFor(time.Second).ends(wire.InFlight)
		k.want(k.peek(), wire.InFlight)
		after := k.record(inspector)
		if before.Fence != after.Fence || before.State != after.State || !slices.Equal(before.Owner, after.Owner) || before.Attempts != after.Attempts {
			k.Fatalf("%+v, was %+v", after, before)
		}
	}},
}

// leaseRows wait in real time, so the store's clock must be real.
var leaseRows = []row{
	{"a crashed owner's lease ends", func(k *key) {
		k.short(wire.Hold)
		k.granted()
		k.watch().ends(wire.Free)
	}},
	{"a renewed lease is waited for", func(k *key) {
		k.short(wire.Hold)
		o, fence := k.granted()
		w := k.watch()
		k.policy.LeaseMS = time.Minute.Milliseconds()
		k.want(k.renew(o, fence), wire.OK)
		k.h.Pass(2 * k.h.Short)
		w.waits()
		k.want(k.complete(o, fence, 201, "done"), wire.OK)
		w.ends(k.final(wire.Replayed))
	}},
}

// final is the answer about a key with a final word: a claim's business where
// replicas must acknowledge it.
func (k *key) final(c wire.Code) wire.Code {
	if k.policy.Replicas > 0 {
		return wire.Free
	}
	return c
}

func (k *key) peek() store.Reply {
	k.Helper()
	op := k.operation(wire.Wait, owner(), 0)
	op.Fingerprint = k.print
	r := k.h.Watcher.Peek(k.Context(), &op)
	if r.Err != nil {
		k.Fatal(r.Err)
	}
	return r
}

func (k *key) record(i store.Inspector) store.Record {
	k.Helper()
	r, err := i.Get(k.Context(), k.name, false)
	if err != nil {
		k.Fatal(err)
	}
	return r
}

// commands is how many commands the store has sent; 0: it does not count.
func (k *key) commands() uint64 {
	if c, ok := k.h.Store.(interface{ Commands() uint64 }); ok {
		return c.Commands()
	}
	return 0
}

// A watch is one that waits in a goroutine.
type watch struct {
	k      *key
	done   chan store.Reply
	cancel context.CancelFunc
}

// patience bounds every wait of these tests.
const patience = 20 * time.Second

// watch begins to wait. What is done next may come before its first look, which
// must make no difference.
func (k *key) watch() *watch { return k.watchFor(patience) }

func (k *key) watchFor(d time.Duration) *watch {
	ctx, cancel := context.WithTimeout(k.Context(), d)
	w := &watch{k: k, done: make(chan store.Reply, 1), cancel: cancel}
	op := k.operation(wire.Wait, owner(), 0)
	op.Fingerprint = k.print
	go func() { w.done <- k.h.Watcher.Watch(ctx, &op) }()
	k.Cleanup(cancel)
	return w
}

// ends fails unless the wait ends with the code.
func (w *watch) ends(code wire.Code) store.Reply {
	w.k.Helper()
	select {
	case r := <-w.done:
		if r.Err != nil {
			w.k.Fatal(r.Err)
		}
		return w.k.want(r, code)
	case <-time.After(patience):
		w.k.Fatal("still waiting")
	}
	return store.Reply{}
}

// waits fails if the wait has ended. What would end it has been done: give it
// the time that a message takes.
func (w *watch) waits() {
	w.k.Helper()
	select {
	case r := <-w.done:
		w.k.Fatalf("ended: %+v", r)
	case <-time.After(100 * time.Millisecond):
	}
}

// NoPolling fails if waiting costs commands: waiters of many keys and of one
// wait for a second, and the store sends nothing. s is used by nobody else.
func NoPolling(t *testing.T, s store.Store) {
	h := &Harness{Store: s, Watcher: s.(store.Watcher)}
	var waits []*watch
	for range 50 {
		k := newKey(t, h)
		k.granted()
		for range 4 {
			waits = append(waits, k.watch())
		}
	}
	count := waits[0].k.commands
	var settled uint64
	for deadline := time.Now().Add(patience); ; {
		before := count()
		<-time.After(300 * time.Millisecond) // what is counted is that nothing happens
		if settled = count(); settled == before && settled >= 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the commands of waiters do not come to an end")
		}
	}
	<-time.After(time.Second)
	if n := count() - settled; n != 0 {
		t.Fatalf("%d commands in a second of waiting, want none", n)
	}
	for _, w := range waits {
		w.cancel()
		w.ends(wire.InFlight)
	}
}
