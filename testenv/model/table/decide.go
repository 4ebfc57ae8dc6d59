package table

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// A decision of an operator stands in the table as an operation of a kind of its
// own, beyond those that are sent.
const decisions wire.Kind = 100

var (
	onDecision = []wire.Kind{decisions + wire.Kind(store.Complete), decisions + wire.Kind(store.Execute), decisions + wire.Kind(store.Free), decisions + wire.Kind(store.Extend)}
	onFinish   = onDecision[:2]
	onFree     = onDecision[2:3]
	onExtend   = onDecision[3:]
)

// noPolicy is what holds where a record has none.
var noPolicy = wire.Policy{Recovery: wire.Hold}

// Resolve carries an operator's decision out on r, as Step does an operation.
func Resolve(r Record, d *store.Resolution, now int64, l Limits) (Record, store.Verdict, *Row) {
	policy := noPolicy
	if r.HasPolicy {
		policy = r.Policy
	}
	op := store.Operation{
		Kind: decisions + wire.Kind(d.Action), Name: d.Name, Owner: d.Owner, Fence: d.Fence, Policy: &policy,
		Status: d.Status, Result: d.Result, Life: d.By,
	}
	c := Case{Before: r, After: r, Op: &op, Now: now, Limits: l, policy: policy}
	row := c.row()
	if row == nil {
		return r, 0, nil
	}
	row.then(&c)
	if c.Before.Unresolved() && c.After.Unresolved() {
		c.After.index()
	}
	return c.After, c.verdict, row
}

// sameFence: the operator saw the record as it is.
func (c *Case) sameFence() bool { return c.Before.State != Absent && c.Op.Fence == c.Before.Fence }

func rule(v store.Verdict) func(*Case) {
	return func(c *Case) { c.verdict = v }
}

// decide carries out then and reports v.
func decide(v store.Verdict, then func(*Case)) func(*Case) {
	return func(c *Case) {
		then(c)
		c.verdict = v
	}
}

// finishByDecision makes the record final: no body follows, and the operator's
// decision is the owner.
func finishByDecision(c *Case) {
	op := *c.Op
	op.Kind, op.NoResult = wire.Complete, true
	if c.Op.Kind == decisions+wire.Kind(store.Execute) {
		op.Kind = wire.Executed
	}
	c.Op = &op
	finish(c)
}

func extend(c *Case) {
	r := &c.After
	r.LeaseEnd = max(r.LeaseEnd, c.Now+life(c.Op.Life.Milliseconds()))
	r.liveUnresolved(c.policy, c.Now)
}

var decideRows = []Row{
	{
		"decide-conflict", "any", "a decision, another fence than the record's", "–", "conflict", "",
		onDecision, not((*Case).sameFence), rule(store.Conflict),
	},
	{
		"decide-finish-again", "EXECUTED, COMPLETED", "complete or execute, by the same decision", "–", "done", "",
		onFinish, all(in(Executed, Completed), (*Case).me), rule(store.Done),
	},
	{
		"decide-free-again", "RELEASED, ISSUED", "free", "–", "done", "",
		onFree, in(Released, Issued), rule(store.Done),
	},
	{
		"decide-over", "ISSUED, RELEASED, EXECUTED, COMPLETED", "a decision otherwise", "–", "conflict", "",
		onDecision, in(Issued, Released, Executed, Completed), rule(store.Conflict),
	},
	{
		"decide-extend", "PROCESSING, UNKNOWN", "extend", "lease_end later", "done", "",
		onExtend, always, decide(store.Done, extend),
	},
	{
		"decide-live", "PROCESSING, UNKNOWN", "complete, execute or free, not over", "–", "live", "",
		onDecision, not((*Case).over), rule(store.Live),
	},
	{
		"decide-finish", "PROCESSING, UNKNOWN", "complete or execute, over", "COMPLETED or EXECUTED by the decision, out of the index", "done", "",
		onFinish, always, decide(store.Done, finishByDecision),
	},
	{
		"decide-noted", "PROCESSING noted", "free, over", "EXECUTED by the noted owner, out of the index", "noted", "",
		onFree, (*Case).noted, decide(store.Noted, func(c *Case) { c.seal() }),
	},
	{
		"decide-free-issued", "PROCESSING, UNKNOWN", "free, over, issued key", "ISSUED again, out of the index", "done", "",
		onFree, (*Case).issuedKey, decide(store.Done, issueAgain),
	},
	{
		"decide-free", "PROCESSING, UNKNOWN", "free, over, client key", "RELEASED, out of the index", "done", "",
		onFree, always, decide(store.Done, free),
	},
}
