package table

import (
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// span turns microseconds into a duration.
func span(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// say answers with code alone and changes nothing.
func say(code wire.Code) func(*Case) {
	return func(c *Case) { c.Reply.Code = code }
}

// byOwner answers ok to the record's owner and stale to others.
func byOwner(c *Case) {
	c.Reply.Code = wire.Stale
	if c.me() {
		c.Reply.Code = wire.OK
	}
}

// grantFirst grants a key of which nothing is out.
func grantFirst(c *Case) { c.grant(1, false) }

// grantForgotten grants a key whose answer is past its life: new in every
// respect, save that its fence grows on.
func grantForgotten(c *Case) {
	r := &c.After
	r.Fingerprint, r.KeyExpires, r.HasPolicy = "", 0, false
	c.policy = *c.Op.Policy
	c.grant(1, false)
}

// takeOver grants a key whose earlier owner may have run.
func takeOver(c *Case) { c.grant(c.Before.Attempts+1, true) }

func (c *Case) grant(attempt int64, maybe bool) {
	r := &c.After
	fingerprint := r.Fingerprint
	if len(c.Op.Fingerprint) > 0 {
		fingerprint = string(c.Op.Fingerprint)
	}
	*r = Record{
		State: Processing, Owner: string(c.Op.Owner), Fence: max(r.Fence+1, uint64(c.Now)),
		Fingerprint: fingerprint, Policy: c.policy, HasPolicy: true,
		Claimed: c.Now, LeaseEnd: c.Now + c.policy.LeaseMS*1000, Attempts: attempt, Maybe: maybe,
		KeyExpires: r.KeyExpires, Result: r.Result, ResultLeft: r.ResultLeft, Leavers: r.Leavers,
		Identity: string(c.Op.Identity), Caller: string(c.Op.Caller), Trace: c.Op.Trace,
	}
	dropped := c.succeed()
	r.liveUnresolved(c.policy, c.Now)
	r.index()
	grantAgain(c)
	c.Reply.Dropped = dropped
}

// grantAgain answers with the claim as it stands.
func grantAgain(c *Case) {
	r := &c.After
	c.Reply = store.Reply{
		Code: wire.Created, Fence: r.Fence, Lease: span(r.LeaseEnd - c.Now),
		Attempt: uint32(r.Attempts), Takeover: r.Maybe,
	}
}

func (c *Case) age() time.Duration { return span(max(c.Now-c.Before.Claimed, 0)) }

// untilLease answers with code and when the lease ends; never later than a whole
// lease from now.
func untilLease(code wire.Code) func(*Case) {
	return func(c *Case) {
		left := min(max(c.Before.LeaseEnd-c.Now, 0), c.policy.LeaseMS*1000)
		c.Reply = store.Reply{Code: code, RetryAfter: span(left), Age: c.age(), Trace: c.Before.Trace}
	}
}

// noEnd answers outcome-unknown without a time: none would be honest.
func noEnd(c *Case) {
	c.Reply = store.Reply{Code: wire.OutcomeUnknown, Age: c.age(), Trace: c.Before.Trace}
}

// tell answers with code and the status of the answer that there was.
func tell(code wire.Code) func(*Case) {
	return func(c *Case) {
		r := &c.After
		c.Reply = store.Reply{Code: code, Status: r.Status, Age: c.age(), Remaining: span(r.Expires - c.Now), Trace: r.Trace}
		if code == wire.Replayed {
			c.Reply.Result = []byte(r.Result)
		}
	}
}

func tellReused(c *Case) {
	c.Reply = store.Reply{Code: wire.KeyReused, Age: c.age(), Fingerprint: []byte(c.Before.Fingerprint), Trace: c.Before.Trace}
}

// seal ends a claim on which an older owner's success was noted: the operation
// has run, its result is not here.
func (c *Case) seal() {
	r := &c.After
	r.State, r.Owner, r.Status, r.LeaseEnd = Executed, r.NotedOwner, r.NotedStatus, 0
	r.liveFinal(c.policy, c.Now)
}

func sealAndTell(c *Case) {
	c.seal()
	tell(wire.ResponseNotKept)(c)
}

func sealAndOK(c *Case) {
	c.After.Fence = max(c.After.Fence, c.Op.Fence)
	c.seal()
	c.Reply.Code = wire.OK
}

// finish makes the record final by executed or complete.
func finish(c *Case) {
	r, op := &c.After, c.Op
	if c.Before.State != Processing && c.Before.State != Unknown && !c.Before.Final() {
		r.Claimed = c.Now
		c.asks()
	}
	r.State, r.LeaseEnd = Completed, 0
	if op.Kind == wire.Executed {
		r.State = Executed
		if !op.NoResult { // the body has a lease of its own
			r.LeaseEnd = c.Now + c.policy.LeaseMS*1000
		}
	}
	r.Owner, r.Fence, r.Status = string(op.Owner), max(r.Fence, op.Fence), op.Status
	if len(op.Fingerprint) > 0 {
		r.Fingerprint = string(op.Fingerprint)
	}
	p := c.policy
	if ms := op.TTL.Milliseconds(); ms > 0 {
		p.TTLMS = ms // upstream's word on this answer; the policy stays as it is
	}
	r.liveFinal(p, c.Now)
	r.Policy = c.policy
	if r.State == Completed {
		r.Result, r.ResultLeft = string(op.Result), 0
		if r.Result != "" {
			r.ResultLeft = life(max(p.TTLMS, millis(r.KeyExpires-c.Now)))
		}
	}
	c.Reply.Code = wire.OK
}

// asks keeps who asked with a record that is made again, as far as the operation
// says it.
func (c *Case) asks() {
	r, op := &c.After, c.Op
	if len(op.Identity) > 0 {
		r.Identity = string(op.Identity)
	}
	if len(op.Caller) > 0 {
		r.Caller = string(op.Caller)
	}
	if op.Trace != "" {
		r.Trace = op.Trace
	}
}

func finishRestored(c *Case) {
	finish(c)
	c.Reply.Restored = true
}

// noteSuccess keeps that an older owner ran. The first note stays.
func noteSuccess(c *Case) {
	if !c.noted() {
		c.After.NotedOwner, c.After.NotedStatus = string(c.Op.Owner), c.Op.Status
	}
	c.Reply.Code = wire.Stale
}

func noBody(c *Case) {
	c.After.LeaseEnd = 0
	c.Reply.Code = wire.OK
}

// becomeUnknown keeps the lease of a live claim.
func becomeUnknown(c *Case) {
	c.After.State = Unknown
	c.After.forget(c.Now)
	c.unresolved()
	c.Reply.Code = wire.OK
}

// restoreUnknown makes a record that was lost, or fell back behind this fence.
func restoreUnknown(c *Case) {
	r, op := &c.After, c.Op
	r.Attempts = 1
	if c.Before.State == Processing {
		r.Attempts = c.Before.Attempts + 1 // one more than the older claim knows of
	}
	r.State, r.Owner, r.Fence = Unknown, string(op.Owner), max(r.Fence, op.Fence)
	r.Claimed, r.LeaseEnd = c.Now, c.Now+c.policy.LeaseMS*1000
	if len(op.Fingerprint) > 0 {
		r.Fingerprint = string(op.Fingerprint)
	}
	c.asks()
	dropped := c.succeed()
	c.unresolved()
	c.Reply = store.Reply{Code: wire.OK, Restored: true, Dropped: dropped}
}

// restoreHeld is the same for an issued key: what else was lost is not known.
func restoreHeld(c *Case) {
	c.After.Held = true
	restoreUnknown(c)
}

func (c *Case) unresolved() {
	c.After.Policy, c.After.HasPolicy = c.policy, true
	c.After.liveUnresolved(c.policy, c.Now)
	c.After.index()
}

// leaveMarker keeps that this owner is over, where nothing was found.
func leaveMarker(c *Case) {
	r := &c.After
	stray, due := r.Indexed, r.Due
	*r = Record{
		State: Released, Owner: string(c.Op.Owner), Fence: c.Op.Fence, Left: c.Limits.Marker.Microseconds(),
		Result: r.Result, ResultLeft: r.ResultLeft, Indexed: stray, Due: due,
	}
	c.Reply.Code = wire.OK
}

// free makes a key claimable again by others.
func free(c *Case) {
	r := &c.After
	*r = Record{
		State: Released, Owner: r.Owner, Fence: r.Fence, Left: c.Limits.Marker.Microseconds(),
		Result: r.Result, ResultLeft: r.ResultLeft, Leavers: r.Leavers,
	}
	r.forget(c.Now)
	c.Reply.Code = wire.OK
}

func issueAgain(c *Case) {
	before := c.Before
	free(c)
	r := &c.After
	r.State, r.Policy, r.HasPolicy, r.KeyExpires = Issued, before.Policy, before.HasPolicy, before.KeyExpires
	r.Left = max(r.Left, life(millis(r.KeyExpires-c.Now)))
}

// giveBack ends a take-over: an earlier owner may have run, so the key is not
// free.
func giveBack(c *Case) {
	r := &c.After
	r.State, r.LeaseEnd, r.Attempts = Unknown, 0, max(r.Attempts-1, 0)
	c.Reply.Dropped = c.leave(string(c.Op.Owner))
	r.liveUnresolved(c.policy, c.Now)
	r.index()
	c.Reply.Code = wire.OK
}

func renew(c *Case) {
	r := &c.After
	r.LeaseEnd = max(r.LeaseEnd, c.Now+c.policy.LeaseMS*1000)
	if r.State == Executed {
		r.outliveLease(c.policy, c.Now)
	} else {
		r.liveUnresolved(c.policy, c.Now)
	}
	c.Reply = store.Reply{Code: wire.OK, Lease: span(r.LeaseEnd - c.Now)}
}

func issueNew(c *Case) {
	r := &c.After
	r.State, r.Policy, r.HasPolicy = Issued, *c.Op.Policy, true
	r.Left = life(c.Op.Life.Milliseconds())
	r.KeyExpires = c.Now + r.Left
	tellIssued(c)
}

func tellIssued(c *Case) {
	c.Reply = store.Reply{Code: wire.Issued, Remaining: span(max(c.After.KeyExpires-c.Now, 0))}
}
