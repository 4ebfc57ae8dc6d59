package filter

import (
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the traffic to the bridge, per worker and lane.
const (
	// maxFlights bounds the batches under way.
	maxFlights = 8
	// batchPatience is how long an operation waits behind a batch under way
	// before another batch leaves.
	batchPatience = 5 * time.Millisecond
	// minTry is the least budget with which a try is worth sending.
	minTry = 2 * time.Millisecond
	// operationOverhead is what an operation takes on the wire beside its texts.
	operationOverhead = 64
	// maxBatchFetches bounds the claims of one batch that are answered with a
	// large result, so that each batch is answered in time.
	maxBatchFetches = 8
)

// task is one operation on its way to an answer.
//
// A claim, issue or renew has a deadline and at most two tries within it.
// Everything that settles a claim is repeated until the bridge acknowledges it
// (settle.go); its deadline only tells when a stream that holds its response
// stops waiting.
type task struct {
	op       wire.Operation
	rule     *Rule
	stream   *Stream // who is told of the answer; nil: nobody
	since    int64   // settling: when the claim that it settles was sent; 0: not known
	queued   int64   // when it entered the queue for the try under way
	deadline int64
	due      int64 // of the next try, while it waits for that
	tries    int   // tries that have failed
	size     int
	texts    int // what a settling task takes of the worker's budget beside its result
	settles  bool
	dropped  bool  // a later operation of the same owner took its place
	sent     bool  // it has left at least once: the bridge may have seen it
	owns     bool  // its texts share no memory with others
	behind   *task // a claim: the operation that has to be acknowledged first
	leads    bool  // claims are behind it
}

func (t *task) measure() {
	o := &t.op
	t.size = operationOverhead + len(o.Scope) + len(o.Principal) + len(o.Key) + len(o.Owner) + len(o.Fingerprint) + len(o.Result) + len(o.Trace)
}

// budget is what the next try may take: half of the whole for the first try, so
// that the second has the rest; a whole timeout for the later tries of an
// operation that must be acknowledged.
func (t *task) budget(now int64, timeout time.Duration) time.Duration {
	switch t.tries {
	case 0:
		return min(timeout/2, time.Duration(t.deadline-now))
	case 1:
		return time.Duration(t.deadline - now)
	}
	return timeout
}

// flight is one batch under way.
type flight struct {
	id     uint32
	lane   lane
	claims bool // claims hang on it
	tasks  []*task
	sent   int64
	buf    []byte
	// previous says that the batch is of wire.PreviousVersion.
	previous bool
	tallies  []tallied
}

// batcher queues operations and sends them in batches, by lanes. While a batch
// is under way new operations of its lane queue, and leave together when it
// returns; an idle lane sends at once.
type batcher struct {
	lanes   [lanes]queue
	breaker breaker
	flights []*flight
	spare   []*flight
	nextID  uint32
	scratch wire.Batch
	answer  wire.Answer
}

// send makes one batch from the head of a queue and emits its callout.
func (w *Worker) send(now int64, l lane, q *[]*task) {
	b := &w.b
	f := b.newFlight()
	budget := w.cfg.Bridge.Timeout
	n, size, fetches := 0, 0, 0
	var expired []*task
	f.previous = w.speaksPrevious(now)
	for _, t := range *q {
		if len(f.tasks) == wire.MaxOperations || len(f.tasks) > 0 && size+t.size > wire.MaxBatchBytes {
			break
		}
		if t.large() {
			if fetches++; fetches > maxBatchFetches {
				break
			}
		}
		n++
		if t.dropped {
			w.forget(now, t)
			continue
		}
		if f.previous && !wire.InPrevious(&t.op, &t.rule.policy) {
			expired = append(expired, t)
			continue
		}
		try := t.budget(now, w.cfg.Bridge.Timeout)
		if try < minTry {
			if !t.settles {
				expired = append(expired, t)
				continue
			}
			try = w.cfg.Bridge.Timeout
		}
		budget = min(budget, try)
		size += t.size
		t.sent = true
		f.claims = f.claims || !t.settles || t.leads
		f.tasks = append(f.tasks, t)
	}
	rest := copy(*q, (*q)[n:])
	clear((*q)[rest:])
	*q = (*q)[:rest]
	if len(f.tasks) > 0 {
		f.sent, f.lane = now, l
		w.encode(f, budget)
		b.flights = append(b.flights, f)
		b.lanes[l].flights++
		if f.claims {
			b.breaker.left(f.id)
		}
		w.count(MetricCallout)
		w.emit(Effect{Kind: Count, Metric: MetricOperation, N: uint32(len(f.tasks))})
		w.emit(Effect{Kind: Call, Call: CallEffect{ID: f.id, TimeoutMS: uint32(budget / time.Millisecond), Body: f.buf}})
	} else {
		b.recycle(f)
	}
	for _, t := range expired {
		w.failed(now, t)
	}
}

// place gives a rule's policy a place in the batch of f: it is written once.
func (w *Worker) place(f *flight, s *wire.Batch, r *Rule) {
	if r.batch != f.id {
		r.batch, r.slot = f.id, uint16(len(s.Policies))
		s.Policies = append(s.Policies, r.policy)
	}
}

// encode writes a flight's batch into its buffer.
func (w *Worker) encode(f *flight, budget time.Duration) {
	s := &w.b.scratch
	s.Namespace = w.cfg.Namespace
	s.Policies, s.Ops, s.Tallies = s.Policies[:0], s.Ops[:0], s.Tallies[:0]
	for _, t := range f.tasks {
		w.place(f, s, t.rule)
		op := t.op
		op.Policy = t.rule.slot
		op.BudgetMS = uint32(budget / time.Millisecond)
		s.Ops = append(s.Ops, op)
	}
	write := wire.AppendPrevious
	if !f.previous {
		w.loadTallies(f, s)
		write = wire.AppendBatch
	}
	var err error
	if f.buf, err = write(f.buf[:0], s); err != nil {
		// The encoder fails on nothing that a Batch can hold.
		panic(err)
	}
	clear(s.Ops)
}

// callID is the number of the next callout.
func (b *batcher) callID() uint32 {
	b.nextID++
	if b.nextID == 0 {
		b.nextID++ // 0 is the number that no rule's batch has
	}
	return b.nextID
}

func (b *batcher) newFlight() *flight {
	b.callID()
	if n := len(b.spare); n > 0 {
		f := b.spare[n-1]
		b.spare = b.spare[:n-1]
		f.id = b.nextID
		return f
	}
	return &flight{id: b.nextID}
}

// recycle keeps a flight for reuse, unless a single large result made its
// buffer large.
func (b *batcher) recycle(f *flight) {
	clear(f.tasks)
	clear(f.tallies)
	f.tasks, f.tallies, f.claims = f.tasks[:0], f.tallies[:0], false
	if cap(f.buf) > 2*wire.MaxBatchBytes {
		f.buf = nil
	}
	b.spare = append(b.spare, f)
}

func (b *batcher) land(id uint32) *flight {
	for i, f := range b.flights {
		if f.id == id {
			last := len(b.flights) - 1
			b.flights[i] = b.flights[last]
			b.flights[last] = nil
			b.flights = b.flights[:last]
			b.lanes[f.lane].flights--
			return f
		}
	}
	return nil
}

// CallAnswered takes the body of a bridge's stamped answer to a callout.
func (w *Worker) CallAnswered(now int64, id uint32, body []byte) {
	if w.pollEnded(now, id, body) {
		return
	}
	f := w.b.land(id)
	if f == nil {
		return
	}
	w.measure(now, f)
	a := &w.b.answer
	a.Results = a.Results[:0]
	if err := wire.DecodeAnswer(body, a); err != nil || len(a.Results) != len(f.tasks) {
		w.callFailed(now, f)
		return
	}
	if w.b.breaker.answered() {
		w.hurry(now)
	}
	for i, t := range f.tasks {
		r := &a.Results[i]
		if r.Code == wire.Unavailable {
			w.failed(now, t)
			continue
		}
		if !t.believe(r) {
			w.count(MetricBridgeError)
			w.failed(now, t)
			continue
		}
		w.answered(now, t, r, f.sent)
	}
	clear(a.Results)
	w.b.recycle(f)
	w.pump(now)
	w.schedule()
}

// CallFailed takes a callout that came to nothing: refused by the host, reset,
// timed out, or answered by something that is not a bridge.
func (w *Worker) CallFailed(now int64, id uint32) {
	if w.pollEnded(now, id, nil) {
		return
	}
	if f := w.b.land(id); f != nil {
		w.measure(now, f)
		w.callFailed(now, f)
	}
}

// CallTooLarge takes a callout that the bridge refused for its size. Results
// among it would be refused for ever: their records say instead that the
// response was not kept.
func (w *Worker) CallTooLarge(now int64, id uint32) {
	if w.pollEnded(now, id, nil) {
		return
	}
	f := w.b.land(id)
	if f == nil {
		return
	}
	for _, t := range f.tasks {
		if t.settles && t.op.Kind == wire.Complete {
			w.count(MetricDropped)
			w.pendingBytes -= len(t.op.Result)
			t.op.Kind, t.op.Result, t.op.NoResult = wire.Executed, nil, true
			t.measure()
		}
	}
	w.b.breaker.answered()
	w.callFailed(now, f)
}

// measure tells how long a callout took.
func (w *Worker) measure(now int64, f *flight) {
	w.emit(Effect{Kind: Measure, N: uint32(max(now-f.sent, 0) / int64(time.Millisecond))})
}

func (w *Worker) callFailed(now int64, f *flight) {
	w.count(MetricBridgeError)
	if f.claims && w.b.breaker.failed(now, f.id) {
		w.count(MetricBreakerOpened)
	}
	w.untally(f)
	for _, t := range f.tasks {
		w.failed(now, t)
	}
	w.b.recycle(f)
	w.pump(now)
	w.schedule()
}

// failed takes one try of a task that came to nothing: its effect is not known.
func (w *Worker) failed(now int64, t *task) {
	t.tries++
	if t.stream != nil && t.sent && t.op.Kind == wire.Claim {
		t.stream.unsure = true
	}
	switch {
	case t.dropped:
		w.forget(now, t)
	case t.tries == 1 && time.Duration(t.deadline-now) >= minTry && t.op.Kind != wire.Renew:
		w.enqueue(now, t)
	case t.settles:
		w.unacknowledged(now, t)
	case t.stream != nil:
		t.stream.unavailable(now, t)
	}
}

// answered hands a task's answer to whoever waits for it. sent is when its
// batch left.
func (w *Worker) answered(now int64, t *task, r *wire.Result, sent int64) {
	if t.settles {
		w.acknowledged(now, t, r)
		return
	}
	if t.stream == nil {
		return
	}
	switch t.op.Kind {
	case wire.Claim:
		t.stream.claimAnswered(now, r, sent)
	case wire.Issue:
		t.stream.issueAnswered(r)
	case wire.Get:
		t.stream.lookupAnswered(r)
	case wire.Renew:
		t.stream.renewed(r, sent)
	}
}
