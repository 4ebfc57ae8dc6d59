package story

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// issueLife is the life of issued keys in the mesh: long enough to send one on a
// busy machine, short enough to wait for its end.
const issueLife = 3 * time.Second

// World is what the scenes play in: two stacks, since some scenes need parts
// that would spoil others.
type World struct {
	// Town has two gateways before the shop and a listener without the filter.
	Town *stack.Stack
	// Mesh has a plain Envoy between its gateway and its shop, and issues keys
	// that live for three seconds.
	Mesh *stack.Stack
	// Store is the bridges' store: stack.Embedded or stack.Cluster.
	Store string

	run  uint32
	keys atomic.Int64
}

// Open starts the stacks, both at once. o sets what they have in common: Root,
// Store, Envoy, Concurrency.
func Open(ctx context.Context, o stack.Options) (*World, error) {
	town, mesh := o, o
	town.Gateways, town.Bare = 2, true
	mesh.Inner, mesh.IssueLife = true, issueLife
	w := &World{Store: o.Store, run: rand.Uint32()}
	if w.Store == "" {
		w.Store = stack.Embedded
	}
	var townErr, meshErr error
	var started sync.WaitGroup
	started.Go(func() { w.Town, townErr = stack.Start(ctx, town) })
	started.Go(func() { w.Mesh, meshErr = stack.Start(ctx, mesh) })
	started.Wait()
	if err := errors.Join(townErr, meshErr); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// Close ends everything that Open started.
func (w *World) Close() error {
	var faults [2]error
	var ended sync.WaitGroup
	for i, s := range []*stack.Stack{w.Town, w.Mesh} {
		if s != nil {
			ended.Go(func() { faults[i] = s.Close() })
		}
	}
	ended.Wait()
	return errors.Join(faults[:]...)
}

// Key returns a key that no other call returns; about says what it is for.
func (w *World) Key(about string) string {
	return fmt.Sprintf("%s-%08x-%d", about, w.run, w.keys.Add(1))
}
