package server

import (
	"context"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Locate returns the name under which a subject's record lives, and its current
// name where it lives nowhere. It changes nothing. Its error is a SubjectError, or
// wraps store.ErrUnavailable.
func (s *Server) Locate(ctx context.Context, sub Subject) (store.Name, error) {
	name, err := s.Name(sub)
	if err != nil || sub.Issued {
		return name, err
	}
	j := &job{arrival: time.Now(), batch: wire.Batch{
		Namespace: sub.Namespace,
		Policies:  []wire.Policy{{TTLMS: 1, LeaseMS: 1, PreviousScopes: sub.PreviousScopes}},
		Ops:       []wire.Operation{{Kind: wire.Get, Scope: sub.Scope, Principal: sub.Principal, Key: sub.Key}},
	}}
	return s.locate(ctx, j, &j.batch.Ops[0], name)
}

// locate is Locate for an operation of j; current is the name that it has today.
func (s *Server) locate(ctx context.Context, j *job, op *wire.Operation, current store.Name) (store.Name, error) {
	policy := &j.batch.Policies[op.Policy]
	places := s.places(j.batch.Namespace, op.Scope, policy.PreviousScopes, op.Principal, op.Key)
	look := &job{arrival: j.arrival, batch: j.batch, index: []int{0}, places: [][]named{places}}
	look.batch.Ops = []wire.Operation{{Kind: wire.Get, Policy: op.Policy, Scope: op.Scope, Principal: op.Principal, Key: op.Key}}
	out := store.Operation{Kind: wire.Get, Policy: policy, Withhold: true}
	out.Deadline, _ = ctx.Deadline()
	s.address(&out, j.batch.Namespace, &look.batch.Ops[0], places[0])
	if len(places) > 1 {
		towards(&out, places[0], places[1])
	}
	look.ops = []store.Operation{out}
	replies, walks := s.follow(ctx, look)
	if len(replies) != 1 {
		return current, store.ErrUnavailable
	}
	if replies[0].Err != nil {
		return current, s.noted(replies[0].Err)
	}
	if replies[0].Code != wire.Found {
		return current, nil
	}
	if len(walks) == 1 {
		return walks[0].op.Name, nil
	}
	return out.Name, nil
}
