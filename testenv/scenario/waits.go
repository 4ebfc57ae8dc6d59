package scenario

import (
	"bytes"
	"context"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// pendingWait is a long poll that the bridge has not answered.
type pendingWait struct {
	batch *wire.Batch
	c     callout
	over  bool
}

// leaseSlack is how long after a lease's end the bridge looks.
const leaseSlack = 2 * time.Millisecond

// isWait reports whether a batch is a long poll.
func isWait(batch *wire.Batch) bool { return len(batch.Ops) == 1 && batch.Ops[0].Kind == wire.Wait }

// arriveWait takes a long poll from Envoy. On a virtual clock nothing can block:
// the real bridge looks at the record when the poll arrives, after every batch
// that it has carried out, at the lease's end and at the budget's, which is when
// it would be woken. In real time the real bridge waits itself.
func (b *bridge) arriveWait(body []byte, h Lines, batch *wire.Batch, c callout) {
	b.mu.Lock()
	f := b.pick(batch)
	b.mu.Unlock()
	switch f.kind {
	case "loses", "swallows", "holds":
		return
	case "busy":
		c.answer(bridgeAnswer{status: 503, body: []byte("upstream connect error")})
		return
	case "resets", "cut", "refuses", "absent":
		c.reset()
		return
	case "answers", "delays", "crawls":
	default:
		c.answer(f.spoilt(waitAnswer(wire.Result{Code: wire.InFlight, RetryAfterMS: 1000}), 1))
		return
	}
	if b.look == nil {
		go func() { c.answer(b.serveWait(body, h)) }()
		return
	}
	p := &pendingWait{batch: batch, c: c}
	b.mu.Lock()
	b.waits = append(b.waits, p)
	b.mu.Unlock()
	budget := time.Duration(batch.Ops[0].BudgetMS) * time.Millisecond
	b.check(p, false)
	c.after(budget-min(budget/10, 100*time.Millisecond), func() { b.check(p, true) })
}

// check answers a poll if there is something to say; last says that its budget
// ends.
func (b *bridge) check(p *pendingWait, last bool) {
	if p.over {
		return
	}
	r := b.look(p.batch)
	if r.Code == wire.InFlight && !last {
		if left := time.Duration(r.RetryAfterMS)*time.Millisecond + leaseSlack; left < time.Duration(p.batch.Ops[0].BudgetMS)*time.Millisecond {
			p.c.after(left, func() { b.check(p, false) })
		}
		return
	}
	p.over = true
	p.c.answer(waitAnswer(r))
}

// wake lets every poll look again, after a batch.
func (b *bridge) wake() {
	b.mu.Lock()
	kept := b.waits[:0]
	for _, p := range b.waits {
		if !p.over {
			kept = append(kept, p)
		}
	}
	clear(b.waits[len(kept):])
	b.waits = kept
	waits := append([]*pendingWait(nil), kept...)
	b.mu.Unlock()
	for _, p := range waits {
		p.c.after(0, func() { b.check(p, false) })
	}
}

func waitAnswer(r wire.Result) bridgeAnswer {
	body, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
	if err != nil {
		panic(err)
	}
	return bridgeAnswer{status: 200, body: body, headers: Lines{{"content-type", wire.ContentType}, {wire.StampHeader, "1"}}}
}

// look lets the bridge look at the record of a long poll at a moment of the
// virtual clock.
func (p *inProcess) look(at time.Duration, batch *wire.Batch) wire.Result {
	p.at.Store(int64(at))
	p.store.Advance(0) // reads the clock
	ctx, cancel := context.WithTimeout(context.Background(), realBudget)
	defer cancel()
	body, err := wire.AppendBatch(nil, batch)
	if err != nil {
		panic(err)
	}
	var own wire.Batch
	if err := wire.DecodeBatch(bytes.Clone(body), &own); err != nil {
		panic(err)
	}
	return p.server.Look(ctx, &own)
}
