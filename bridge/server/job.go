package server

import (
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// job is one batch on its way through the server, with the storage that the
// next batch may reuse.
type job struct {
	arrival time.Time
	took    time.Duration // from arrival to the outcome
	body    []byte
	batch   wire.Batch // byte slices alias body
	results []wire.Result
	out     []byte

	policies []string          // what is wrong with each policy; empty: nothing
	ops      []store.Operation // those that go to the store
	index    []int             // ops[i] is batch.Ops[index[i]]
	places   [][]named         // where the record of ops[i] may be; nil: where ops[i] says
	deadline time.Time         // smallest deadline of ops
	// issuedUntil is when the keys that this batch issues expire.
	issuedUntil time.Time
	quota       *quota // of the batch's namespace; nil: none
}

var jobs = sync.Pool{New: func() any { return new(job) }}

func newJob(arrival time.Time) *job {
	j := jobs.Get().(*job)
	j.arrival = arrival
	return j
}

// recycle hands j to the next batch. It must be the last use of j, and must not
// be called while a store may still read an operation: a command that is yet to
// be written would then carry another batch's bytes.
func (j *job) recycle() {
	j.reset()
	jobs.Put(j)
}

// reset leaves nothing but storage: whatever is left would become the next
// batch's, or keep bodies alive.
func (j *job) reset() {
	clear(j.results)
	clear(j.ops)
	clear(j.places)
	*j = job{
		body:     keep(j.body),
		results:  j.results[:0],
		out:      keep(j.out),
		policies: j.policies[:0],
		ops:      j.ops[:0],
		index:    j.index[:0],
		places:   j.places[:0],
	}
}

// prepare validates every operation and converts the valid ones. Results of the
// others are final after it.
//
// gone says that the filter has given this batch up, which Envoy tells by a
// reset. Claims among it are not carried out: after a stall of the bridge they
// would be granted to owners that have been answered long ago. What settles a
// claim is carried out all the same.
func (s *Server) prepare(j *job, gone bool) {
	n := len(j.batch.Ops)
	if cap(j.results) < n {
		j.results = make([]wire.Result, n)
	}
	j.results = j.results[:n]
	j.issuedUntil = s.cfg.Now().Add(s.cfg.ClockOffset + s.cfg.IssueLife)
	j.quota = s.quotaOf(j.batch.Namespace)
	namespace := checkLength("namespace", len(j.batch.Namespace), wire.MaxScopeBytes)
	for i := range j.batch.Policies {
		j.policies = append(j.policies, s.checkPolicy(&j.batch.Policies[i]))
	}
	for i := range j.batch.Ops {
		op := &j.batch.Ops[i]
		fault := namespace
		if fault == "" {
			fault = checkOperation(op, j.policies)
		}
		if fault != "" {
			j.results[i] = wire.Result{Code: wire.Invalid, Text: fault}
			continue
		}
		if gone && (op.Kind == wire.Claim || op.Kind == wire.Issue || op.Kind == wire.Renew) {
			j.results[i] = wire.Result{Code: wire.Unavailable}
			continue
		}
		converted, places, refusal := s.convert(j, op)
		if refusal.Code != 0 {
			j.results[i] = refusal
			continue
		}
		if over := j.quota.newKey(op.Kind, converted.Policy.Issued); over.Code != 0 {
			j.results[i] = over
			continue
		}
		j.ops = append(j.ops, converted)
		j.index = append(j.index, i)
		j.places = append(j.places, places)
		if j.deadline.IsZero() || converted.Deadline.Before(j.deadline) {
			j.deadline = converted.Deadline
		}
	}
}

// maxTTLMS keeps a word on a result's life from overflowing before it is
// bounded.
const maxTTLMS = 1 << 40

// convert turns a valid operation into the store's form, at the first place where
// its record may be, or refuses it for its key. A forged key costs no store call.
// places are set where there are several.
func (s *Server) convert(j *job, op *wire.Operation) (out store.Operation, places []named, refusal wire.Result) {
	policy := &j.batch.Policies[op.Policy]
	budget := min(time.Duration(op.BudgetMS)*time.Millisecond, MaxBudget)
	out = store.Operation{
		Kind:        op.Kind,
		Owner:       op.Owner,
		Fence:       op.Fence,
		Policy:      policy,
		Status:      op.Status,
		NoResult:    op.NoResult,
		Unprotected: op.Unprotected,
		TTL:         min(time.Duration(min(op.TTLMS, maxTTLMS))*time.Millisecond, s.cfg.MaxTTL),
		Withhold:    !op.Fetch,
		Deadline:    j.arrival.Add(budget),
		Trace:       sampled(op.Trace),
	}
	var first named
	switch {
	case op.Kind == wire.Issue:
		out.Owner = nil
		out.Life = s.cfg.IssueLife
		issuer := s.cfg.Keys.Issuer(s.cfg.Now().Add(s.cfg.ClockOffset))
		op.Key = issuer.Issue(j.batch.Namespace, op.Scope, op.Principal, j.issuedUntil)
		first = named{issuer, issuer.Name(j.batch.Namespace, op.Scope, op.Principal, op.Key)}
	case policy.Issued:
		var verdict naming.Verdict
		first, verdict = s.issuedPlace(j.batch.Namespace, op.Scope, policy.PreviousScopes, op.Principal, op.Key)
		if verdict != naming.Genuine {
			return out, nil, refuseKey(op.Kind, verdict)
		}
	default:
		places = s.places(j.batch.Namespace, op.Scope, policy.PreviousScopes, op.Principal, op.Key)
		first = places[0]
	}
	if op.Kind == wire.Complete && !j.quota.keeps(len(op.Result)) {
		withoutResult(&out)
	}
	s.address(&out, j.batch.Namespace, op, first)
	if len(places) < 2 {
		return out, nil, wire.Result{}
	}
	towards(&out, places[0], places[1])
	return out, places, wire.Result{}
}

// refuseKey answers an operation whose issued key is not the caller's. No claim
// of such a key was ever granted: there is nothing to release, and anything else
// would make a record for a key that nobody issued.
func refuseKey(kind wire.Kind, v naming.Verdict) wire.Result {
	switch {
	case kind == wire.Release:
		return wire.Result{Code: wire.OK}
	case kind == wire.Get:
		return wire.Result{Code: wire.NotFound}
	case kind != wire.Claim:
		return wire.Result{Code: wire.Invalid, Text: "key: not issued to this caller"}
	case v == naming.Foreign:
		return wire.Result{Code: wire.KeyForeign}
	}
	return wire.Result{Code: wire.KeyNotIssued}
}
