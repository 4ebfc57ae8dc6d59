package table

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// What a reconciler writes down, and what it does for the index, stand in the
// table as operations of kinds of their own, beyond decisions.
const (
	findings wire.Kind = 120
	tidying  wire.Kind = 130
	walking  wire.Kind = 131
)

var (
	onFinding = []wire.Kind{findings + wire.Kind(store.FoundResult), findings + wire.Kind(store.FoundExecuted), findings + wire.Kind(store.FoundNothing)}
	onFound   = onFinding[:2]
	onNothing = onFinding[2:]
	onTidying = []wire.Kind{tidying}
	onWalking = []wire.Kind{walking}
)

// Reconcile carries a reconciler's finding out on r, as Step does an operation.
// That a backend says running, or does not know, is no finding.
func Reconcile(r Record, f *store.Finding, now int64, l Limits) (Record, store.Verdict, *Row) {
	policy := noPolicy
	if r.HasPolicy {
		policy = r.Policy
	}
	op := store.Operation{
		Kind: findings + wire.Kind(f.Outcome), Name: f.Name, Owner: f.Owner, Fence: f.Fence, Policy: &policy,
		Status: f.Status, Result: f.Result,
	}
	return beside(r, &op, now, l)
}

// Tidy is a look at r's place in the index: out of it where nothing is unresolved.
func Tidy(r Record, now int64) (Record, *Row) {
	after, _, row := beside(r, &store.Operation{Kind: tidying, Policy: &noPolicy}, now, Limits{})
	return after, row
}

// Walk is the walk over all records that comes by r.
func Walk(r Record, now int64) (Record, *Row) {
	after, _, row := beside(r, &store.Operation{Kind: walking, Policy: &noPolicy}, now, Limits{})
	return after, row
}

// beside carries out what no caller sends.
func beside(r Record, op *store.Operation, now int64, l Limits) (Record, store.Verdict, *Row) {
	c := Case{Before: r, After: r, Op: op, Now: now, Limits: l, policy: *op.Policy}
	row := c.row()
	if row == nil {
		return r, 0, nil
	}
	row.then(&c)
	if c.Before.Unresolved() && c.After.Unresolved() && op.Kind != tidying && op.Kind != findings {
		c.After.index()
	}
	return c.After, c.verdict, row
}

// asked: the record is as it was when the backend was asked.
func (c *Case) asked() bool { return c.me() && c.sameFence() }

func (c *Case) held() bool { return c.Before.Held }

// finishAsFound makes the record final for its own owner.
func finishAsFound(c *Case) {
	op := *c.Op
	op.Kind, op.NoResult = wire.Complete, true
	if c.Op.Kind == findings+wire.Kind(store.FoundExecuted) {
		op.Kind = wire.Executed
	}
	c.Op = &op
	finish(c)
}

func stay(*Case) {}

var recoverRows = []Row{
	{
		"reconcile-other", "any", "a finding, another owner or fence than the record's", "–", "conflict", "",
		onFinding, not((*Case).asked), rule(store.Conflict),
	},
	{
		"reconcile-final-again", "EXECUTED, COMPLETED", "a finding: final", "–", "done", "",
		onFound, in(Executed, Completed), rule(store.Done),
	},
	{
		"reconcile-free-again", "RELEASED, ISSUED", "a finding: not-executed", "–", "done", "",
		onNothing, in(Released, Issued), rule(store.Done),
	},
	{
		"reconcile-late", "ISSUED, RELEASED, EXECUTED, COMPLETED", "a finding otherwise", "–", "conflict", "",
		onFinding, in(Issued, Released, Executed, Completed), rule(store.Conflict),
	},
	{
		"reconcile-live", "PROCESSING, UNKNOWN", "a finding, not over", "–", "live", "",
		onFinding, not((*Case).over), rule(store.Live),
	},
	{
		"reconcile-final", "PROCESSING, UNKNOWN", "a finding: final, over", "COMPLETED or EXECUTED, out of the index", "done", "",
		onFound, always, decide(store.Done, finishAsFound),
	},
	{
		"reconcile-held", "UNKNOWN held", "a finding: not-executed, over", "–", "withheld", "",
		onNothing, (*Case).held, rule(store.Withheld),
	},
	{
		"reconcile-noted", "PROCESSING noted", "a finding: not-executed, over", "EXECUTED by the noted owner, out of the index", "noted", "",
		onNothing, (*Case).noted, decide(store.Noted, func(c *Case) { c.seal() }),
	},
	{
		"reconcile-free-issued", "PROCESSING, UNKNOWN", "a finding: not-executed (a promise), over, issued key", "ISSUED again, out of the index", "done", "",
		onNothing, (*Case).issuedKey, decide(store.Done, issueAgain),
	},
	{
		"reconcile-free", "PROCESSING, UNKNOWN", "a finding: not-executed (a promise), over, client key", "RELEASED, out of the index", "done", "",
		onNothing, always, decide(store.Done, free),
	},
	{
		"sweep-stray", "any but PROCESSING, UNKNOWN", "sweep", "out of the index", "–", "",
		onTidying, not(in(Processing, Unknown)), func(c *Case) { c.After.unindex() },
	},
	{
		"sweep-unresolved", "PROCESSING, UNKNOWN", "sweep", "–", "–", "",
		onTidying, always, stay,
	},
	{
		"scan-unresolved", "PROCESSING, UNKNOWN", "scan", "indexed", "–", "",
		onWalking, in(Processing, Unknown), func(c *Case) { c.After.index() },
	},
	{
		"scan-other", "any other", "scan", "–", "–", "",
		onWalking, always, stay,
	},
}
