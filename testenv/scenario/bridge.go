package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// callout is Envoy's side of one batch on its way. Its methods may be called
// when Envoy has given the callout up; they do nothing then.
type callout interface {
	after(d time.Duration, f func())
	answer(a bridgeAnswer)
	cut(a bridgeAnswer) // half of an answer, and then a reset
	reset()             // before any answer
}

// bridgeAnswer is what a real bridge answered.
type bridgeAnswer struct {
	status  int
	headers Lines
	body    []byte
}

// maxCallBody is the largest answer that Envoy takes for a callout.
const maxCallBody = 32 << 20

// kinds are the operations by the words for them.
var kinds = map[string]wire.Kind{"issue": wire.Issue, "claim": wire.Claim, "executed": wire.Executed, "complete": wire.Complete,
	"release": wire.Release, "unknown": wire.Unknown, "renew": wire.Renew, "wait": wire.Wait, "get": wire.Get}

// fault is what happens to batches with certain operations.
type fault struct {
	kind  string
	d     time.Duration
	on    []wire.Kind // nil: all
	times int         // -1: always
}

// faults are the words for what happens to a batch. Those that change the
// answer let the bridge do its work first: that is the worse case.
var faults = map[string]struct{ known, timed bool }{
	"answers":   {true, false}, // nothing is wrong
	"loses":     {true, false}, // the batch is lost on its way
	"swallows":  {true, false}, // done, and the answer is lost
	"holds":     {true, false}, // done, and the answer waits for "bridge lets go"
	"delays":    {true, true},  // done at once, answered later
	"crawls":    {true, true},  // done and answered later
	"garbage":   {true, false}, // stamped, 200, and not an answer
	"half":      {true, false}, // the first half of the answer, ended as if it were all
	"cut":       {true, false}, // half of the answer, then a reset
	"empty":     {true, false}, // stamped, 200, nothing in it
	"miscounts": {true, false}, // one result too few
	"too-large": {true, false}, // more than Envoy takes
	"unstamped": {true, false}, // the answer without the bridge's stamp
	"fails":     {true, false}, // 500 of the bridge, stamped
	"busy":      {true, false}, // 503 of Envoy's, unstamped, nothing done
	"resets":    {true, false}, // done, and the connection breaks
	"refuses":   {true, false}, // no connection
	"absent":    {true, false}, // no host to connect to
}

// bridge is the way to the real bridge, with what may go wrong on it.
type bridge struct {
	// serve is the real bridge, clock the world's clock.
	serve func(batch []byte, h Lines) bridgeAnswer
	clock func() time.Duration

	// look is the real bridge's look at the record of a long poll; nil: time is
	// real, and serveWait waits.
	look      func(batch *wire.Batch) wire.Result
	serveWait func(batch []byte, h Lines) bridgeAnswer

	mu       sync.Mutex
	waits    []*pendingWait
	faults   []fault // newest first
	held     []func()
	grants   map[uint64][]record      // by fence: each record has fences of its own
	finished map[record]time.Duration // until when it is known
	open     map[string]bool          // owners whose last word is not acknowledged
}

// record names a record as the filter does.
type record struct{ scope, principal, key string }

func newBridge(clock func() time.Duration, serve func([]byte, Lines) bridgeAnswer) *bridge {
	return &bridge{clock: clock, serve: serve,
		grants: map[uint64][]record{}, finished: map[record]time.Duration{}, open: map[string]bool{}}
}

// spoil makes f happen from now on; "answers" ends what it is said of.
func (b *bridge) spoil(f fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f.kind == "answers" && f.on == nil {
		b.faults = nil
		return
	}
	b.faults = append([]fault{f}, b.faults...)
}

// pick is the newest fault that meets a batch.
func (b *bridge) pick(batch *wire.Batch) fault {
	for i := range b.faults {
		f := &b.faults[i]
		if isWait(batch) && f.on == nil && f.times > 0 {
			continue // a number of batches
		}
		if f.times == 0 || f.on != nil && !slices.ContainsFunc(batch.Ops, func(o wire.Operation) bool { return slices.Contains(f.on, o.Kind) }) {
			continue
		}
		f.times--
		return *f
	}
	return fault{kind: "answers"}
}

// arrive takes a batch from Envoy.
func (b *bridge) arrive(body []byte, h Lines, c callout) {
	var batch wire.Batch
	if err := wire.DecodeBatch(bytes.Clone(body), &batch); err != nil {
		panic(fmt.Sprintf("scenario: the filter sent no batch: %v", err))
	}
	if isWait(&batch) {
		b.arriveWait(body, h, &batch, c)
		return
	}
	defer b.wake()
	b.mu.Lock()
	f := b.pick(&batch)
	for _, op := range batch.Ops {
		if settles(op.Kind) {
			b.open[string(op.Owner)] = true
		}
	}
	b.mu.Unlock()
	switch f.kind {
	case "loses":
		return
	case "busy":
		c.answer(bridgeAnswer{status: 503, body: []byte("upstream connect error")})
		return
	case "crawls":
		c.after(f.d, func() {
			c.answer(b.work(body, h, &batch, true))
			b.wake()
		})
		return
	}
	a := b.work(body, h, &batch, f.kind == "answers" || f.kind == "holds" || f.kind == "delays")
	switch f.kind {
	case "answers":
		c.answer(a)
	case "delays":
		c.after(f.d, func() { c.answer(a) })
	case "holds":
		b.mu.Lock()
		b.held = append(b.held, func() { c.answer(a) })
		b.mu.Unlock()
	case "cut":
		c.cut(a)
	case "resets":
		c.reset()
	case "swallows":
	default:
		c.answer(f.spoilt(a, len(batch.Ops)))
	}
}

// spoilt is an answer with something wrong in it.
func (f fault) spoilt(a bridgeAnswer, ops int) bridgeAnswer {
	switch f.kind {
	case "garbage":
		a.body = bytes.Repeat([]byte{0xa7, 0x00, 0xff}, 40)
	case "half":
		a.body = a.body[:len(a.body)/2]
	case "empty":
		a.body = nil
	case "miscounts":
		var err error
		if a.body, err = wire.AppendAnswer(nil, &wire.Answer{Results: make([]wire.Result, ops-1)}); err != nil {
			panic(err)
		}
	case "too-large":
		a.body = tooLarge()
	case "unstamped":
		a.headers = a.headers.without(wire.StampHeader)
	case "fails":
		a.status, a.body = 500, []byte(`{"title":"internal error"}`)
	}
	a.headers = a.headers.without("content-length")
	return a
}

// tooLarge is made once: several stories use it at a time.
var tooLarge = sync.OnceValue(func() []byte { return make([]byte, maxCallBody+1) })

func settles(k wire.Kind) bool {
	return k == wire.Executed || k == wire.Complete || k == wire.Release || k == wire.Unknown
}

// work lets the real bridge do its work and notes what became true. told says
// that the filter will learn of it.
func (b *bridge) work(body []byte, h Lines, batch *wire.Batch, told bool) bridgeAnswer {
	began := b.clock()
	a := b.serve(body, h)
	var answer wire.Answer
	if a.status != 200 || wire.DecodeAnswer(bytes.Clone(a.body), &answer) != nil || len(answer.Results) != len(batch.Ops) {
		return a
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, op := range batch.Ops {
		record := record{op.Scope, op.Principal, op.Key}
		switch r := &answer.Results[i]; {
		case op.Kind == wire.Claim && r.Code == wire.Created:
			b.grants[r.Fence] = append(b.grants[r.Fence], record)
		case (op.Kind == wire.Executed || op.Kind == wire.Complete) && r.Code == wire.OK:
			life := time.Duration(batch.Policies[op.Policy].TTLMS) * time.Millisecond
			b.finished[record] = max(b.finished[record], began+life)
		}
		if settles(op.Kind) && told && answer.Results[i].Code != wire.Unavailable {
			delete(b.open, string(op.Owner))
		}
	}
	return a
}

// mayRun is the oracle: whatever else a story says, a request that reaches
// upstream carries the fence of a grant whose record is not finished, or says
// that it is unprotected, or has no key. One that a rule only observes, which the
// story says by x-observed, must not have been touched.
func (b *bridge) mayRun(r Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	fence := r.Headers.Get(filter.HeaderFence)
	if r.Headers.Get("x-observed") != "" {
		if r.Headers.Get(filter.HeaderGateway) != "" || r.Headers.Get("x-envoy-upstream-rq-timeout-ms") != "" {
			return fmt.Errorf("%s was to be observed, and was changed", r.Client)
		}
		return nil
	}
	if fence == "" {
		if r.Headers.Get(filter.HeaderStatus) == string(filter.CodeUnprotected) || r.Headers.Get("idempotency-key") == "" {
			return nil
		}
		return fmt.Errorf("%s ran with neither a fence nor the unprotected mark", r.Client)
	}
	n, err := strconv.ParseUint(fence, 10, 64)
	if err != nil {
		return fmt.Errorf("%s ran with the fence %q", r.Client, fence)
	}
	granted, live := false, false
	for _, record := range b.grants[n] {
		if record.of(r) {
			granted = true
			live = live || b.clock() >= b.finished[record]
		}
	}
	switch {
	case !granted:
		return fmt.Errorf("%s ran with a fence that it was not granted", r.Client)
	case !live:
		return fmt.Errorf("%s ran although the key is known to be finished", r.Client)
	}
	return nil
}

// of reports whether a request may be the record's: a key in a header must be
// the record's, or a part of it, and so must the caller.
func (c record) of(r Request) bool {
	key := strings.Trim(r.Headers.Get("idempotency-key"), `"`)
	return (key == "" || key == c.key || slices.Contains(strings.Split(c.key, ":"), key)) && strings.Contains(c.principal, r.Headers.Get("x-user-id"))
}

// letGo sends the answers that are held, the last one first if backwards.
func (b *bridge) letGo(backwards bool) {
	b.mu.Lock()
	held := b.held
	b.held = nil
	b.mu.Unlock()
	if backwards {
		slices.Reverse(held)
	}
	for _, f := range held {
		f()
	}
}

func (b *bridge) holding() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held)
}

// quiet reports whether every last word was acknowledged.
func (b *bridge) quiet() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open) == 0
}
