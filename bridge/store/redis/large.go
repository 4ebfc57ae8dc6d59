package redis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A long result goes to its node, and comes from it, in pieces. Redis, its replica
// link and its log, the connection and the copying on either side hold everything
// else up for as long as they have one in hand: for milliseconds if it is a
// megabyte.

const (
	// pieceBytes is the longest piece: what an operation among others may carry too.
	pieceBytes = maxInline
	// pieceGap is the pause between two pieces of a result, in which others have
	// the machine. A megabyte takes some 25 ms with it. There is none where results
	// queue for the node or the deadline is near.
	pieceGap = time.Millisecond
	// maxTransfers is how many results are on their way to or from one node. Others
	// wait in the order in which they came: all at once, none would be there in time.
	maxTransfers = 4
)

var errTorn = errors.New("redis: a result in pieces: the node holds another, or none")

// freight is how long results go to and from one node. They never send two pieces
// at once.
type freight struct {
	room   chan struct{} // holds one for each result under way
	turn   chan struct{} // holds one while a piece is
	queued atomic.Int32  // results that wait for room
}

func newFreight() *freight {
	return &freight{room: make(chan struct{}, maxTransfers), turn: make(chan struct{}, 1)}
}

// enter waits until a result may start; then leave must be called.
func (f *freight) enter(ctx context.Context) error {
	f.queued.Add(1)
	defer f.queued.Add(-1)
	select {
	case f.room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("redis: waiting for results under way: %w", ctx.Err())
	}
}

func (f *freight) leave() { <-f.room }

// piece sends one piece when it is its turn. left is how many the result has
// after it.
func (f *freight) piece(ctx context.Context, left int, send func() error) error {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := send()
	<-f.turn
	if gap := f.gap(ctx, left); err == nil && gap > 0 {
		t := time.NewTimer(gap)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	return err
}

// gap is the pause after a piece: pauses never take more than a quarter of the
// time that is left.
func (f *freight) gap(ctx context.Context, left int) time.Duration {
	if left == 0 || f.queued.Load() > 0 {
		return 0
	}
	gap := pieceGap
	if end, ok := ctx.Deadline(); ok {
		gap = min(gap, time.Until(end)/time.Duration(4*left))
	}
	return gap
}
