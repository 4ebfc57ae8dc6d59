package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

const (
	// MaxWait bounds how long one request waits here: a larger budget is cut to it.
	MaxWait = 5 * time.Minute
	// maxWaitBytes bounds the body of a wait: one operation and one policy.
	maxWaitBytes = 64 << 10
	// waitGrace is what may be added to a wait's budget until its answer is sent.
	waitGrace = 10 * time.Second
	// maxWaitMargin bounds what is kept of a wait's budget for the way back.
	maxWaitMargin = 100 * time.Millisecond
)

// serveWait answers a batch of one Wait operation when its key is no longer in
// flight, or with in-flight when its budget ends or the bridge drains. It takes
// none of the batches' places.
func (s *Server) serveWait(w http.ResponseWriter, r *http.Request, arrival time.Time) {
	body, err := readBody(w, r, nil, maxWaitBytes)
	if err != nil {
		s.refuse(w, bodyProblem(err, maxWaitBytes))
		return
	}
	var batch wire.Batch
	if err := wire.DecodeBatch(body, &batch); err != nil {
		s.refuse(w, decodeProblem(err))
		return
	}
	if len(batch.Ops) != 1 || batch.Ops[0].Kind != wire.Wait {
		s.refuse(w, problem{Title: "not a wait", Status: http.StatusBadRequest,
			Detail: fmt.Sprintf("%d operations: must be one of kind %d", len(batch.Ops), wire.Wait)})
		return
	}
	budget := min(time.Duration(batch.Ops[0].BudgetMS)*time.Millisecond, MaxWait)
	// The server's own limits are those of batches. A writer that knows none (a
	// test's) has no limit.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(arrival.Add(budget + waitGrace))

	ctx, cancel := context.WithDeadline(r.Context(), arrival.Add(budget-min(margin(budget), maxWaitMargin)))
	defer cancel()
	result, looked, reply := s.wait(ctx, &batch)
	if r.Context().Err() != nil {
		s.waits.ended(outcomeGone, time.Since(arrival))
		return
	}
	took := time.Since(arrival)
	s.waits.ended(waitOutcome(result.Code), took)
	s.metrics.operation(nil, wire.Wait, result.Code, took)
	out, err := wire.AppendAnswerAs(nil, wire.VersionOf(body), &wire.Answer{Results: []wire.Result{result}})
	if err != nil {
		panic(err) // the encoder fails only beyond 256 MiB
	}
	h := w.Header()
	h.Set("Content-Type", wire.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(out)))
	w.WriteHeader(http.StatusOK)
	w.Write(out)
	s.metrics.served.Inc()
	told := &job{arrival: arrival, took: took, batch: batch, results: []wire.Result{result}}
	if looked != nil {
		told.ops, told.index = []store.Operation{*looked}, []int{0}
	}
	s.tell(told, []store.Reply{reply})
}

// wait carries out the Wait of batch. It ends with ctx at the latest. looked is
// where it looked, and reply what it saw there; nil where it did not come to that.
func (s *Server) wait(ctx context.Context, batch *wire.Batch) (result wire.Result, looked *store.Operation, reply store.Reply) {
	ops, refusal := s.waitOperations(batch)
	if refusal.Code != 0 {
		return refusal, nil, reply
	}
	watcher, ok := s.cfg.Store.(store.Watcher)
	if !ok {
		return wire.Result{Code: wire.Unavailable}, nil, reply
	}
	// Under the name that the record has today, wherever it is found.
	leave, ok := s.waits.enter(ops[len(ops)-1].Name)
	if !ok {
		return wire.Result{Code: wire.TooManyWaiting}, &ops[len(ops)-1], reply
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.waits.draining, cancel)()

	op, r := find(ctx, watcher, ops)
	if r.Err == nil && (r.Code == 0 || r.Code == wire.InFlight) {
		r = watcher.Watch(ctx, op)
	}
	return s.waited(op, &r), op, r
}

// Look answers the Wait of batch without waiting.
func (s *Server) Look(ctx context.Context, batch *wire.Batch) wire.Result {
	ops, refusal := s.waitOperations(batch)
	if refusal.Code != 0 {
		return refusal
	}
	watcher, ok := s.cfg.Store.(store.Watcher)
	if !ok {
		return wire.Result{Code: wire.Unavailable}
	}
	op, r := find(ctx, watcher, ops)
	if r.Err == nil && r.Code == 0 {
		r = watcher.Peek(ctx, op)
	}
	return s.waited(op, &r)
}

// find returns the operation at the place where the record is, with what was
// read there; nothing is read where there is but one place.
func find(ctx context.Context, w store.Watcher, ops []store.Operation) (*store.Operation, store.Reply) {
	if len(ops) == 1 {
		return &ops[0], store.Reply{}
	}
	var r store.Reply
	for i := range ops {
		if r = w.Peek(ctx, &ops[i]); r.Err != nil || r.Code != wire.Free {
			return &ops[i], r
		}
	}
	return &ops[len(ops)-1], r
}

func (s *Server) waited(op *store.Operation, r *store.Reply) wire.Result {
	if r.Err != nil || r.Code == 0 {
		return wire.Result{Code: wire.Unavailable}
	}
	return s.answer(op, r)
}

// waitOperations validates the Wait of batch and turns it into the store's form,
// once for each name that the record may have.
func (s *Server) waitOperations(batch *wire.Batch) ([]store.Operation, wire.Result) {
	if len(batch.Ops) != 1 || batch.Ops[0].Kind != wire.Wait {
		return nil, wire.Result{Code: wire.Invalid, Text: "not one operation of kind wait"}
	}
	op := &batch.Ops[0]
	fault := checkLength("namespace", len(batch.Namespace), wire.MaxScopeBytes)
	if fault == "" {
		policies := make([]string, len(batch.Policies))
		for i := range batch.Policies {
			policies[i] = s.checkPolicy(&batch.Policies[i])
		}
		like := *op
		like.Kind = wire.Claim // what a wait carries is what a claim does
		fault = checkOperation(&like, policies)
	}
	if fault != "" {
		return nil, wire.Result{Code: wire.Invalid, Text: fault}
	}
	policy := &batch.Policies[op.Policy]
	var places []named
	if policy.Issued {
		place, verdict := s.issuedPlace(batch.Namespace, op.Scope, policy.PreviousScopes, op.Principal, op.Key)
		if verdict != naming.Genuine {
			return nil, refuseKey(wire.Claim, verdict)
		}
		places = []named{place}
	} else {
		places = s.places(batch.Namespace, op.Scope, policy.PreviousScopes, op.Principal, op.Key)
	}
	ops := make([]store.Operation, len(places))
	for i, p := range places {
		ops[i] = store.Operation{Kind: wire.Wait, Policy: policy, Withhold: true}
		s.address(&ops[i], batch.Namespace, op, p)
	}
	return ops, wire.Result{}
}
