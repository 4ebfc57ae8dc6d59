package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
)

// maxUnresolved bounds the names of unresolved records in an answer.
const maxUnresolved = 100

func reasonFault(reason string) *api.Problem {
	if len(reason) == 0 || len(reason) > maxReason {
		return invalid(fmt.Sprintf("reason: %d bytes: must be 1 to %d", len(reason), maxReason))
	}
	return nil
}

// erasure is the word for an erasure in audit entries.
func erasure(forget, force bool) string {
	word := "erase"
	if forget {
		word = "forget"
	}
	if force {
		word += "-unresolved"
	}
	return word
}

// forgotten is when the workers have forgotten what is erased now.
func (c *call) forgotten() (at string, ms int64) {
	now := c.cfg.Now()
	end := server.Forgotten(now)
	return end.UTC().Format(time.RFC3339), end.Sub(now).Milliseconds()
}

func erase(c *call) (any, *api.Problem) {
	var in api.Erase
	if p := c.read(&in); p != nil {
		return nil, p
	}
	if p := reasonFault(in.Reason); p != nil {
		return nil, p
	}
	name, p := c.subject(&in.Subject)
	if p != nil {
		return nil, p
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	before, _, err := c.cfg.Server.Get(ctx, name, false)
	if err != nil {
		return nil, away(err)
	}
	action := erasure(in.Forget, in.Force)
	entry, err := json.Marshal(api.Audit{
		At: c.cfg.Now().UTC().Format(time.RFC3339), Operator: c.caller.ID, Action: action, Reason: in.Reason,
		Fence: before.Fence, Before: stateNames[before.State],
	})
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	e := store.Erasure{Name: name, Forget: in.Forget, Force: in.Force, Audit: entry}
	e.Deadline, _ = ctx.Deadline()
	what, err := c.cfg.Server.Erase(ctx, e)
	result := [...]string{"failed", store.ErasedNow: "erased", store.ErasedNothing: "nothing", store.ErasedUnresolved: "unresolved"}[what]
	args := []any{"audit", true, "operator", c.caller.ID, "action", action, "reason", in.Reason, "record", nameText(name),
		"before", stateNames[before.State], "before_fence", before.Fence, "result", result}
	if err != nil {
		args = append(args, "error", err)
	}
	c.cfg.Log.Info("operator's decision", args...)
	if err != nil {
		return nil, away(err)
	}
	b := recordOf(&before, nil)
	b.Name = nameText(name)
	if what == store.ErasedUnresolved {
		p := problem(unresolved)
		p.Record = &b
		return nil, p
	}
	out := &api.Erased{Code: result, Before: b}
	out.MemoriesEndAt, out.MemoriesEndMS = c.forgotten()
	return out, nil
}

func erasePrincipal(c *call) (any, *api.Problem) {
	var in api.EraseBy
	if p := c.read(&in); p != nil {
		return nil, p
	}
	if p := reasonFault(in.Reason); p != nil {
		return nil, p
	}
	principal, p := principalOf(&in.Principal)
	if p != nil {
		return nil, p
	}
	if in.Rate == 0 {
		in.Rate = server.DefaultFindRate
	}
	if in.Rate < server.MinFindRate || in.Rate > server.MaxFindRate {
		return nil, invalid(fmt.Sprintf("rate: %d: must be %d to %d", in.Rate, server.MinFindRate, server.MaxFindRate))
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	page, err := c.cfg.Server.FindCaller(ctx, in.Namespace, principal, in.Cursor, in.Rate)
	if err != nil {
		var fault server.SubjectError
		if errors.As(err, &fault) {
			return nil, invalid(err.Error())
		}
		return nil, away(err)
	}
	out := &api.ErasedBy{Examined: page.Examined, Found: len(page.Names), Restarted: page.Restarted, Next: page.Next}
	for _, name := range page.Names {
		if in.DryRun {
			break
		}
		e := store.Erasure{Name: name, Forget: in.Forget, Force: in.Force}
		e.Deadline, _ = ctx.Deadline()
		what, err := c.cfg.Server.Erase(ctx, e)
		if err != nil {
			c.logPage(&in, out, err)
			return nil, away(err)
		}
		switch what {
		case store.ErasedNow:
			out.Erased++
		case store.ErasedUnresolved:
			if out.Unresolved++; len(out.UnresolvedNames) < maxUnresolved {
				out.UnresolvedNames = append(out.UnresolvedNames, nameText(name))
			}
		}
	}
	c.logPage(&in, out, nil)
	out.MemoriesEndAt, out.MemoriesEndMS = c.forgotten()
	return out, nil
}

// logPage writes the audit line of a page. The records themselves hold no entry:
// one caller's many would push everybody else's out.
func (c *call) logPage(in *api.EraseBy, out *api.ErasedBy, err error) {
	action := erasure(in.Forget, in.Force) + "-principal"
	if in.DryRun {
		action = "count-principal"
	}
	args := []any{"audit", true, "operator", c.caller.ID, "action", action, "reason", in.Reason, "namespace", in.Namespace,
		"examined", out.Examined, "found", out.Found, "erased", out.Erased, "unresolved", out.Unresolved, "last", out.Next == ""}
	if err != nil {
		args = append(args, "error", err)
	}
	c.cfg.Log.Info("operator's decision", args...)
}
