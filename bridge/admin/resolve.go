package admin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	maxReason = 500
	// maxFence is the largest that every JSON reader and every store keeps exactly.
	maxFence = 1<<53 - 1
)

// decision turns a request into a resolution and the answer that it records.
func (c *call) decision(in *api.Resolve) (r store.Resolution, response *wire.Response, p *api.Problem) {
	switch {
	case in.Fence == 0 || in.Fence > maxFence:
		return r, nil, invalid(fmt.Sprintf("fence: must be 1 to %d: the one that was seen", uint64(maxFence)))
	case len(in.Reason) == 0 || len(in.Reason) > maxReason:
		return r, nil, invalid(fmt.Sprintf("reason: %d bytes: must be 1 to %d", len(in.Reason), maxReason))
	case (in.Result != nil) != (in.Action == "complete"):
		return r, nil, invalid("result: with complete, and with nothing else")
	case (in.Status != 0) != (in.Action == "executed"):
		return r, nil, invalid("status: with executed, and with nothing else")
	case (in.ExtendMS != 0) != (in.Action == "extend"):
		return r, nil, invalid("extend_ms: with extend, and with nothing else")
	}
	r.Fence, r.Owner = in.Fence, in.Decision
	switch len(r.Owner) {
	case wire.OwnerBytes:
	case 0:
		r.Owner = make([]byte, wire.OwnerBytes)
		rand.Read(r.Owner) // never fails: it ends the program instead
	default:
		return r, nil, invalid(fmt.Sprintf("decision: %d bytes: must be %d", len(in.Decision), wire.OwnerBytes))
	}
	switch in.Action {
	case "complete":
		r.Action = store.Complete
		response, p = replayable(in.Result)
		if response != nil {
			r.Status = response.Status
		}
	case "executed":
		r.Action = store.Execute
		r.Status, p = statusOf("status", in.Status)
	case "release":
		r.Action = store.Free
	case "extend":
		r.Action = store.Extend
		if most := c.cfg.MaxLease.Milliseconds(); in.ExtendMS < 1 || in.ExtendMS > most {
			return r, nil, invalid(fmt.Sprintf("extend_ms: %d: must be 1 to %d", in.ExtendMS, most))
		}
		r.By = time.Duration(in.ExtendMS) * time.Millisecond
	default:
		return r, nil, invalid("action: must be complete, executed, release or extend")
	}
	return r, response, p
}

func resolve(c *call) (any, *api.Problem) {
	var in api.Resolve
	if p := c.read(&in); p != nil {
		return nil, p
	}
	name, p := c.subject(&in.Subject)
	if p != nil {
		return nil, p
	}
	r, response, p := c.decision(&in)
	if p != nil {
		return nil, p
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	before, _, err := c.cfg.Server.Get(ctx, name, false)
	if err != nil {
		return nil, away(err)
	}
	r.Name = name
	r.Deadline, _ = ctx.Deadline()
	r.Audit = c.entry(&in, &r, &before)
	verdict, err := c.cfg.Server.Resolve(ctx, r, response)
	after := before
	if err == nil {
		// What the record became is for reading: the verdict stands without it.
		if now, _, err := c.cfg.Server.Get(ctx, name, false); err == nil {
			after = now
		}
	}
	c.log(&in, name, &before, &after, verdict, err)
	if err != nil {
		return nil, away(err)
	}
	b, a := recordOf(&before, nil), recordOf(&after, nil)
	b.Name, a.Name = nameText(name), nameText(name)
	switch verdict {
	case store.Done:
		return &api.Resolved{Code: "resolved", Before: b, After: a}, nil
	case store.Noted:
		return &api.Resolved{Code: "executed-noted", Before: b, After: a}, nil
	case store.Live:
		p = problem(leaseLive)
		p.RetryAfterMS = max(a.LeaseMS, 0)
	default:
		p = problem(conflict)
	}
	p.Record = &a
	return nil, p
}

// entry is what the store keeps of a decision.
func (c *call) entry(in *api.Resolve, r *store.Resolution, before *store.Record) []byte {
	entry, err := json.Marshal(api.Audit{
		At: c.cfg.Now().UTC().Format(time.RFC3339), Operator: c.caller.ID, Action: in.Action, Reason: in.Reason,
		Fence: in.Fence, Status: int(r.Status), ExtendMS: in.ExtendMS, Before: stateNames[before.State],
	})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return entry
}

// log writes the audit line: who decided what and why, and what it came to. It
// is written for refused decisions too.
func (c *call) log(in *api.Resolve, name store.Name, before, after *store.Record, verdict store.Verdict, err error) {
	result := [...]string{"failed", store.Done: "done", store.Noted: "executed-noted", store.Conflict: "conflict", store.Live: "lease-live"}[verdict]
	args := []any{
		"audit", true, "operator", c.caller.ID, "action", in.Action, "reason", in.Reason, "record", nameText(name), "fence", in.Fence,
		"before", stateNames[before.State], "before_fence", before.Fence,
		"after", stateNames[after.State], "after_fence", after.Fence, "result", result,
	}
	if err != nil {
		args = append(args, "error", err)
	}
	c.cfg.Log.Info("operator's decision", args...)
}
