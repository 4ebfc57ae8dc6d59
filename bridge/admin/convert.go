package admin

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/wire"
)

const defaultAttempts = 3

var recoveries = map[string]wire.Recovery{"hold": wire.Hold, "probe": wire.Probe, "reacquire": wire.Reacquire}

var recoveryNames = [...]string{wire.Hold: "hold", wire.Probe: "probe", wire.Reacquire: "reacquire"}

var stateNames = [...]string{
	store.Absent: "absent", store.Issued: "issued", store.Released: "released", store.Processing: "processing",
	store.Unknown: "unknown", store.Executed: "executed", store.Completed: "completed", store.Elsewhere: "elsewhere",
	store.Later: "later-version",
}

// policyOf reads what has a name here; the server checks the numbers.
func policyOf(p *api.Policy) (wire.Policy, *api.Problem) {
	recovery, ok := recoveries[p.Recovery]
	if !ok {
		return wire.Policy{}, invalid("policy.recovery: must be hold, probe or reacquire")
	}
	attempts := p.MaxAttempts
	if attempts == 0 {
		attempts = defaultAttempts
	}
	return wire.Policy{
		Generation: p.Generation, TTLMS: p.TTLMS, TombstoneMS: p.TombstoneTTLMS, LeaseMS: p.LeaseMS,
		MaxAttempts: attempts, Recovery: recovery, Issued: p.Issued, RejectRepeat: p.RejectRepeat, Replicas: p.Replicas,
		PreviousScopes: strings.Join(p.PreviousScopes, ","),
	}, previousFault(p.PreviousScopes)
}

// previousFault refuses what would be taken apart into other scopes than the caller
// named, and was allowed.
func previousFault(scopes []string) *api.Problem {
	for _, s := range scopes {
		if s == "" || strings.Contains(s, ",") {
			return invalid("previous_scopes: a scope is not empty and holds no comma")
		}
	}
	return nil
}

func statusOf(member string, n int) (uint16, *api.Problem) {
	if n < 200 || n > 999 {
		return 0, invalid(fmt.Sprintf("%s: %d: must be 200 to 999", member, n))
	}
	return uint16(n), nil
}

func responseOf(r *api.Result) (*wire.Response, *api.Problem) {
	status, p := statusOf("result.status", r.Status)
	if p != nil {
		return nil, p
	}
	if len(r.Headers) > wire.MaxHeaderLines {
		return nil, invalid(fmt.Sprintf("result.headers: %d lines: must be at most %d", len(r.Headers), wire.MaxHeaderLines))
	}
	out := &wire.Response{Status: status, Body: r.Body}
	for _, h := range r.Headers {
		if h.Name == "" {
			return nil, invalid("result.headers: a line without a name")
		}
		out.Headers = append(out.Headers, wire.HeaderLine{Name: h.Name, Value: h.Value})
	}
	return out, nil
}

func resultOf(r *wire.Response) *api.Result {
	out := &api.Result{Status: int(r.Status), Body: r.Body}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, api.Header{Name: h.Name, Value: h.Value})
	}
	return out
}

// outcome tells a result: what was asked for, or why not.
func outcome(r *wire.Result) (any, *api.Problem) {
	out := &api.Outcome{
		Fence: r.Fence, Attempt: r.Attempt, LeaseMS: r.LeaseMS, AgeMS: r.AgeMS, RemainingMS: r.RemainingMS, Restored: r.Restored,
	}
	switch r.Code {
	case wire.OK:
		out.Code = "ok"
	case wire.Created:
		out.Code = "created"
	case wire.Issued:
		out.Code, out.Key = "issued", r.Key
		out.ExpiresAt = time.UnixMilli(r.ExpiresAtMS).UTC().Format(time.RFC3339)
	case wire.Replayed:
		var response wire.Response
		if wire.DecodeResponse(r.Result, &response) != nil {
			return nil, refused(&wire.Result{Code: wire.ResponseNotKept, Status: r.Status})
		}
		out.Code, out.Result = "replayed", resultOf(&response)
	default:
		return nil, refused(r)
	}
	return out, nil
}

// tombstone is the state of a final record past its life.
func tombstone(r *store.Record) string {
	if r.Erased {
		return "erased"
	}
	return "expired"
}

// recordOf tells a record; response is its result where it was asked for.
func recordOf(r *store.Record, response *wire.Response) api.Record {
	out := api.Record{
		State: stateNames[r.State], Fence: r.Fence, Attempts: r.Attempts, Status: int(r.Status),
		AgeMS: r.Age.Milliseconds(), RemainingMS: r.Remaining.Milliseconds(),
		Maybe: r.Maybe, Noted: r.Noted, NotedStatus: int(r.NotedStatus), Held: r.Held, ResultKept: r.Kept,
	}
	if (r.State == store.Executed || r.State == store.Completed) && r.Remaining <= 0 {
		out.State, out.RemainingMS = tombstone(r), 0
	}
	if r.State.Unresolved() || r.State == store.Executed && !r.LeaseOver {
		out.LeaseMS, out.LeaseOver = r.Lease.Milliseconds(), r.LeaseOver
	}
	if p := &r.Policy; p.Recovery >= wire.Hold && p.Recovery <= wire.Reacquire {
		out.Policy = &api.Policy{
			TTLMS: p.TTLMS, TombstoneTTLMS: p.TombstoneMS, LeaseMS: p.LeaseMS, MaxAttempts: p.MaxAttempts,
			Recovery: recoveryNames[p.Recovery], Issued: p.Issued, RejectRepeat: p.RejectRepeat,
			Replicas: p.Replicas, Generation: p.Generation,
		}
	}
	if response != nil {
		out.Result = resultOf(response)
	}
	return out
}

func nameText(n store.Name) string { return hex.EncodeToString(n[:]) }
