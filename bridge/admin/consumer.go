package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

func (a *API) consumerRoutes() http.Handler {
	return a.routes(false, map[string]route{
		api.PathIssue:    {smallBody, issue},
		api.PathClaim:    {smallBody, claim},
		api.PathExecuted: {smallBody, executed},
		api.PathComplete: {a.cfg.MaxBodyBytes, complete},
		api.PathRelease:  {smallBody, settle(wire.Release)},
		api.PathUnknown:  {smallBody, settle(wire.Unknown)},
		api.PathRenew:    {smallBody, settle(wire.Renew)},
		api.PathGet:      {smallBody, getKey},
	})
}

func issue(c *call) (any, *api.Problem) {
	var in api.Issue
	if p := c.read(&in); p != nil {
		return nil, p
	}
	in.Policy.Issued = true
	return c.execute(&in.Target, &in.Policy, wire.Operation{Kind: wire.Issue})
}

func claim(c *call) (any, *api.Problem) {
	var in api.Claim
	if p := c.read(&in); p != nil {
		return nil, p
	}
	return c.executeKey(&in.Key, in.Fingerprint, wire.Operation{Kind: wire.Claim})
}

func executed(c *call) (any, *api.Problem) {
	var in api.Executed
	if p := c.read(&in); p != nil {
		return nil, p
	}
	status, p := statusOf("status", in.Status)
	if p != nil {
		return nil, p
	}
	return c.executeKey(&in.Key, in.Fingerprint, wire.Operation{
		Kind: wire.Executed, Fence: in.Fence, Status: status, NoResult: !in.ResultFollows,
	})
}

func complete(c *call) (any, *api.Problem) {
	var in api.Complete
	if p := c.read(&in); p != nil {
		return nil, p
	}
	response, p := replayable(&in.Result)
	if p != nil {
		return nil, p
	}
	encoded, err := wire.AppendResponse(nil, response)
	if err != nil {
		return nil, problem(tooLarge)
	}
	return c.executeKey(&in.Key, in.Fingerprint, wire.Operation{
		Kind: wire.Complete, Fence: in.Fence, Status: response.Status, Result: encoded,
	})
}

func settle(kind wire.Kind) func(*call) (any, *api.Problem) {
	return func(c *call) (any, *api.Problem) {
		var in api.Settle
		if p := c.read(&in); p != nil {
			return nil, p
		}
		if len(in.Fingerprint) > 0 && kind != wire.Unknown {
			return nil, invalid("fingerprint: only with unknown")
		}
		return c.executeKey(&in.Key, in.Fingerprint, wire.Operation{Kind: kind, Fence: in.Fence})
	}
}

func (c *call) executeKey(k *api.Key, fingerprint []byte, op wire.Operation) (any, *api.Problem) {
	op.Key, op.Owner = k.Key, k.Owner
	switch len(fingerprint) {
	case 0:
	case wire.DigestBytes:
		op.Fingerprint = wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartBody, wire.AlgorithmFixed, [wire.DigestBytes]byte(fingerprint))
	default:
		return nil, invalid(fmt.Sprintf("fingerprint: %d bytes: must be %d", len(fingerprint), wire.DigestBytes))
	}
	return c.execute(&k.Target, &k.Policy, op)
}

// execute carries out one operation in the caller's name.
func (c *call) execute(t *api.Target, policy *api.Policy, op wire.Operation) (any, *api.Problem) {
	principal, timeout, p := c.target(t)
	if p != nil {
		return nil, p
	}
	pol, p := policyOf(policy)
	if p != nil {
		return nil, p
	}
	for _, scope := range policy.PreviousScopes {
		if !c.caller.allows(t.Namespace, scope) {
			return nil, problem(forbidden)
		}
	}
	op.Scope, op.Principal, op.BudgetMS = t.Scope, principal, uint32(timeout.Milliseconds())
	if op.Kind != wire.Renew {
		op.Trace = c.trace
	}
	r := c.cfg.Server.Execute(c.ctx, &wire.Batch{
		Namespace: t.Namespace, Policies: []wire.Policy{pol}, Ops: []wire.Operation{op},
	})
	return outcome(&r[0])
}

// target checks where an operation belongs and returns its encoded principal.
func (c *call) target(t *api.Target) (principal string, timeout time.Duration, p *api.Problem) {
	if !c.caller.allows(t.Namespace, t.Scope) {
		return "", 0, problem(forbidden)
	}
	if t.Principal == "" {
		return "", 0, invalid("principal: required")
	}
	timeout = defaultTimeout
	if t.TimeoutMS != 0 {
		most := server.MaxBudget.Milliseconds()
		if t.TimeoutMS < 1 || t.TimeoutMS > most {
			return "", 0, invalid(fmt.Sprintf("timeout_ms: %d: must be 1 to %d", t.TimeoutMS, most))
		}
		timeout = time.Duration(t.TimeoutMS) * time.Millisecond
	}
	return wire.EncodePrincipal(wire.PrincipalAPI, c.caller.ID, t.Principal), timeout, nil
}

func getKey(c *call) (any, *api.Problem) {
	var in api.Get
	if p := c.read(&in); p != nil {
		return nil, p
	}
	principal, timeout, p := c.target(&in.Target)
	if p != nil {
		return nil, p
	}
	if p := previousFault(in.PreviousScopes); p != nil {
		return nil, p
	}
	for _, scope := range in.PreviousScopes {
		if !c.caller.allows(in.Namespace, scope) {
			return nil, problem(forbidden)
		}
	}
	name, p := c.locate(server.Subject{
		Namespace: in.Namespace, Scope: in.Scope, Principal: principal, Key: in.Key, Issued: in.Issued,
		PreviousScopes: strings.Join(in.PreviousScopes, ","),
	}, timeout)
	if p != nil {
		return nil, p
	}
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	r, response, err := c.cfg.Server.Get(ctx, name, in.WithResult)
	if err != nil {
		return nil, away(err)
	}
	out := recordOf(&r, response)
	return &out, nil
}
