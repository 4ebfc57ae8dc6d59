package client

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors of what [Client.Do] runs.
var (
	// ErrNotExecuted, wrapped by the function's error, is its proof that it had no
	// effect: the key is released and the next claim runs.
	ErrNotExecuted = errors.New("client: not executed")
	// ErrLeaseLost is the cause of the function's context when the claim cannot be
	// held any longer, and wrapped by the error of Do.
	ErrLeaseLost = errors.New("client: the lease is lost")
)

// Do runs f once for key: it claims, renews while f works, and completes with f's
// result. A repeat returns the recorded result without running f. What f got in
// fence belongs into its effect.
//
// Where f returns an error the outcome is recorded as unknown, and the policy's
// recovery decides; where the error wraps [ErrNotExecuted] the key is released.
// f's context ends when ctx ends or before the lease does: an f that goes on runs
// beside its successor. An error of the completion is returned with the result:
// the effect has happened all the same.
func (c *Client) Do(ctx context.Context, key string, f func(ctx context.Context, fence uint64) (Result, error)) (Result, error) {
	claim, recorded, err := c.Claim(ctx, key, nil)
	if err != nil {
		return Result{}, err
	}
	if recorded != nil {
		return *recorded, nil
	}
	result, err := claim.run(ctx, f)
	// What has happened is told even when ctx has ended: for as long as the lease.
	word, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(c.cfg.Policy.Lease, c.cfg.Timeout))
	defer cancel()
	switch {
	case err == nil:
		if err := claim.Complete(word, result); err != nil {
			return result, fmt.Errorf("client: executed, and not recorded: %w", err)
		}
		return result, nil
	case errors.Is(err, ErrNotExecuted):
		return Result{}, errors.Join(err, claim.Release(word))
	}
	return Result{}, errors.Join(err, claim.Unknown(word))
}

// run calls f and renews meanwhile. A panic of f goes on after the renewals have
// ended; the claim then ends with its lease.
func (cl *Claim) run(ctx context.Context, f func(context.Context, uint64) (Result, error)) (Result, error) {
	working, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cl.keep(working, lost)
	}()
	defer func() {
		lost(nil)
		<-done
	}()
	result, err := f(working, cl.Fence)
	if err != nil && errors.Is(context.Cause(working), ErrLeaseLost) && !errors.Is(err, ErrLeaseLost) {
		err = errors.Join(err, ErrLeaseLost)
	}
	return result, err
}

// keep renews every third of the lease until working ends. It ends working by lost
// where the claim is another's, or a margin before the lease would end.
func (cl *Claim) keep(working context.Context, lost context.CancelCauseFunc) {
	lease := cl.c.cfg.Policy.Lease
	margin := lease / 10
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	end := time.NewTimer(time.Until(cl.Until()) - margin)
	defer end.Stop()
	renewed := make(chan error, 1)
	busy := false
	for {
		select {
		case <-working.Done():
			return
		case <-end.C:
			lost(ErrLeaseLost)
			return
		case <-tick.C:
			if busy {
				continue
			}
			busy = true
			go func() { renewed <- cl.Renew(working) }()
		case err := <-renewed:
			busy = false
			var p *ProblemError
			if errors.As(err, &p) && p.Code == "stale" {
				lost(ErrLeaseLost)
				return
			}
			end.Reset(time.Until(cl.Until()) - margin)
		}
	}
}
