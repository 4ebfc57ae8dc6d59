package storetest

import (
	"bytes"
	"crypto/rand"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// movedRows: a record that has several names, and what is known of one.
var movedRows = []row{
	{"no record, and the operation knows another name: sent on, and so is everybody", func(k *key) {
		next := k.pointer()
		for _, kind := range []wire.Kind{wire.Claim, wire.Executed, wire.Complete, wire.Unknown, wire.Release, wire.Renew} {
			rand.Read(k.name[:])
			op := k.op(kind, owner(), 0)
			op.Next, op.NextLife = next, time.Hour
			k.sentOn(k.do(op), next, true)
			for _, again := range []wire.Kind{wire.Claim, wire.Executed, wire.Complete, wire.Unknown, wire.Release, wire.Renew, wire.Get} {
				k.sentOn(k.do(k.op(again, owner(), 0)), next, false)
			}
			op.Next = k.pointer()
			k.sentOn(k.do(op), next, false)
		}
	}},
	{"a record under an earlier name is used there", func(k *key) {
		me := owner()
		claim := k.op(wire.Claim, me, 0)
		first := k.do(claim)
		if first.Code != wire.Created {
			k.Fatalf("claim: code %d", first.Code)
		}
		claim.Next, claim.NextLife = k.pointer(), time.Hour
		if again := k.do(claim); again.Code != wire.Created || again.Fence != first.Fence {
			k.Errorf("claim again: code %d fence %d, want created %d", again.Code, again.Fence, first.Fence)
		}
		done := k.op(wire.Complete, me, first.Fence)
		done.Next, done.NextLife = k.pointer(), time.Hour
		if r := k.do(done); r.Code != wire.OK {
			k.Errorf("complete: code %d", r.Code)
		}
		claim.Owner = owner()
		if r := k.do(claim); r.Code != wire.Replayed {
			k.Errorf("repeat: code %d, want replayed", r.Code)
		}
	}},
	{"a circle ends where its marker is void", func(k *key) {
		next := k.pointer()
		op := k.op(wire.Claim, owner(), 0)
		op.Next, op.NextLife = next, time.Hour
		k.sentOn(k.do(op), next, true)
		op.Void, op.Next = true, k.pointer()
		k.sentOn(k.do(op), next, false)
		op.Next = next
		if r := k.do(op); r.Code != wire.Created {
			k.Fatalf("claim: code %d, want created", r.Code)
		}
		if r := k.do(op); r.Code != wire.Created {
			k.Errorf("the same claim again: code %d, want created", r.Code)
		}
		op.Owner = owner()
		if r := k.do(op); r.Code != wire.InFlight {
			k.Errorf("another claim: code %d, want in-flight", r.Code)
		}
	}},
	{"a marker shows as such, and a look makes none", func(k *key) {
		get := k.op(wire.Get, nil, 0)
		get.Next, get.NextLife = k.pointer(), time.Hour
		k.sentOn(k.do(get), get.Next, true)
		get.Next = nil
		if r := k.do(get); r.Code != wire.NotFound {
			k.Errorf("after a look: code %d, want not found", r.Code)
		}
		claim := k.op(wire.Claim, owner(), 0)
		claim.Next, claim.NextLife = k.pointer(), time.Hour
		k.do(claim)
		if i, ok := k.h.Store.(store.Inspector); ok {
			if r, err := i.Get(k.Context(), k.name, false); err != nil || r.State != store.Elsewhere {
				k.Errorf("inspected: state %d, %v", r.State, err)
			}
		}
	}},
	{"a look tells the state and changes nothing", func(k *key) {
		get := k.op(wire.Get, nil, 0)
		get.Withhold = false
		want := func(state store.State, status uint16, result bool) {
			k.Helper()
			r := k.do(get)
			if r.Code != wire.Found || r.State != state || r.Status != status || (len(r.Result) > 0) != result {
				k.Errorf("code %d state %d status %d result of %d bytes, want state %d status %d", r.Code, r.State, r.Status, len(r.Result), state, status)
			}
		}
		if r := k.do(get); r.Code != wire.NotFound {
			k.Errorf("code %d, want not found", r.Code)
		}
		me := owner()
		c := k.do(k.op(wire.Claim, me, 0))
		want(store.Processing, 0, false)
		if r := k.do(get); r.RetryAfter <= 0 || r.RetryAfter > time.Minute {
			k.Errorf("lease of %s", r.RetryAfter)
		}
		k.do(k.op(wire.Complete, me, c.Fence))
		want(store.Completed, 201, true)
		get.Withhold = true
		want(store.Completed, 201, false)
	}},
}

// pointer is a place that leads nowhere in particular.
func (k *key) pointer() []byte {
	p := make([]byte, store.PointerBytes)
	rand.Read(p)
	return p
}

func (k *key) sentOn(r store.Reply, next []byte, planted bool) {
	k.Helper()
	if r.Err != nil || r.Code != store.Moved || !bytes.Equal(r.Moved, next) || r.Planted != planted && !k.h.Repeats {
		k.Errorf("code %d (%v), made now %v, want to be sent on, made now %v", r.Code, r.Err, r.Planted, planted)
	}
}

// op is an operation of kind with all that it brings.
func (k *key) op(kind wire.Kind, o []byte, fence uint64) store.Operation {
	op := k.operation(kind, o, fence)
	op.Withhold = true
	if kind == wire.Executed || kind == wire.Complete {
		op.Status = 201
	}
	if kind == wire.Complete {
		op.Result = []byte("result")
	}
	return op
}
