package client

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/oncewall/oncewall/client/api"
)

// Claim is a key that this program owns until its lease ends.
type Claim struct {
	// Fence grows with every grant of the key. Whatever has the effect must refuse a
	// lower one than it has seen.
	Fence uint64
	// Attempt is 1 for the first grant of the key. Above 1 an earlier owner may
	// have had the effect.
	Attempt int

	c           *Client
	key         api.Key
	fingerprint []byte
	until       atomic.Int64 // end of the lease as far as is known, in time since start
}

// start is what until counts from: a clock that nobody sets.
var start = time.Now()

// Until is when the lease ends at the earliest, as this program's clock has it:
// it is counted from before the request was sent that was granted.
func (cl *Claim) Until() time.Time { return start.Add(time.Duration(cl.until.Load())) }

func (cl *Claim) extend(sent time.Time, leaseMS int64) {
	cl.until.Store(int64(sent.Sub(start)) + leaseMS*int64(time.Millisecond))
}

// Renew starts the lease again. A *ProblemError with code stale means that the
// claim is lost: stop.
func (cl *Claim) Renew(ctx context.Context) error {
	var out api.Outcome
	sent, err := cl.c.via.timed(ctx, api.PathRenew, api.Settle{Key: cl.key, Fence: cl.Fence}, &out)
	if err == nil {
		cl.extend(sent, out.LeaseMS)
	}
	return err
}

// Executed records that the effect has happened, with a status and no result.
// After it the key never runs again.
func (cl *Claim) Executed(ctx context.Context, status int) error {
	return cl.c.via.call(ctx, api.PathExecuted, api.Executed{Key: cl.key, Fence: cl.Fence, Fingerprint: cl.fingerprint, Status: status}, nil)
}

// Complete records that the effect has happened, and its result. A *ProblemError
// with code stale means that another owner had the last word.
func (cl *Claim) Complete(ctx context.Context, result Result) error {
	return cl.c.via.call(ctx, api.PathComplete, api.Complete{Key: cl.key, Fence: cl.Fence, Fingerprint: cl.fingerprint, Result: result}, nil)
}

// Release gives the key back: proof that nothing was executed under this claim.
func (cl *Claim) Release(ctx context.Context) error {
	return cl.c.via.call(ctx, api.PathRelease, api.Settle{Key: cl.key, Fence: cl.Fence}, nil)
}

// Unknown records that the effect may have happened. What becomes of the key is
// the policy's recovery.
func (cl *Claim) Unknown(ctx context.Context) error {
	return cl.c.via.call(ctx, api.PathUnknown, api.Settle{Key: cl.key, Fence: cl.Fence, Fingerprint: cl.fingerprint}, nil)
}

// giveBack releases a claim whose grant is not known, whatever became of ctx, in
// one attempt.
func (cl *Claim) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cl.c.cfg.Timeout)
	defer cancel()
	_ = cl.Release(ctx)
}
