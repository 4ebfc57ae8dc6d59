package model

// answer is what a claim is told.
type answer uint8

const (
	noAnswer answer = iota
	created
	inFlight
	outcomeUnknown
	replayed
	keyExpired
	staleClaim
	unavailable
	lapsed // its own claim, over: the gateway releases
	notKept
	bodyComing
)

func (a answer) String() string {
	return [...]string{
		"nothing", "created", "in-flight", "outcome-unknown", "replayed", "key-expired", "stale", "unavailable",
		"lapsed", "response-not-kept", "in-flight for the body",
	}[a]
}

// A verdict answers a claim. kind is 0 for a claim that was there already.
type verdict struct {
	answer              answer
	kind, fence, result uint8
}

// A place is where a claim is carried out.
type place struct {
	ledger bool
	// proposed is the fence that Redis granted, for the ledger to confirm; 0: the
	// place grants alone.
	proposed uint8
}

var inRedis = place{}

// claim is the claim's column of the table: one atomic step on r. clock is the
// clock that fences come from.
func (c *Config) claim(r *record, me uint8, clock *uint8, at place) verdict {
	asks := c.Ledger && c.rule(issuedAsksLedger)
	switch r.state {
	case absent:
		if c.Issued && !asks && at.proposed == 0 {
			return verdict{answer: keyExpired}
		}
		return c.take(r, me, clock, at, granted)
	case issued:
		if r.owner == me && c.rule(issuedReleaser) || r.hasLeft(me) {
			return verdict{answer: staleClaim}
		}
		return c.take(r, me, clock, at, granted)
	case released:
		if r.owner == me || r.hasLeft(me) {
			return verdict{answer: staleClaim}
		}
		if c.Issued && !at.ledger && c.rule(issuedReleasedLost) && !asks {
			return verdict{answer: keyExpired}
		}
		return c.take(r, me, clock, at, granted)
	case executed:
		switch {
		case !r.over:
			return verdict{answer: bodyComing, result: r.result}
		case !c.rule(executedIsFinal) && c.Recovery == reacquire:
			return c.take(r, me, clock, at, reacquired)
		}
		return verdict{answer: notKept, result: r.result}
	case completed:
		return verdict{answer: replayed, result: r.result}
	case tombstone:
		return verdict{answer: keyExpired}
	}
	return c.claimUnresolved(r, me, clock, at)
}

func (c *Config) claimUnresolved(r *record, me uint8, clock *uint8, at place) verdict {
	if c.rule(indexHeals) {
		r.indexed = true
	}
	mine := r.state == processing && r.owner == me
	switch {
	case mine && (!r.over || !c.rule(reentryWhileLive)):
		return verdict{answer: created, fence: r.fence}
	case mine && c.rule(lapsedReleased):
		return verdict{answer: lapsed}
	case at.ledger && !c.rule(ledgerDecides) && at.proposed > r.fence:
		return c.take(r, me, clock, at, granted)
	case !r.over && r.state == unknown:
		return verdict{answer: outcomeUnknown}
	case !r.over:
		return verdict{answer: inFlight}
	case r.noted != 0:
		r.seal(r.fence)
		return verdict{answer: notKept, result: r.result}
	case c.Recovery == reacquire && (c.Attempts == 0 || r.attempts < c.Attempts) && !r.held:
		if r.hasLeft(me) {
			return verdict{answer: staleClaim}
		}
		return c.take(r, me, clock, at, reacquired)
	}
	return verdict{answer: outcomeUnknown}
}

// take makes me the owner under a higher fence.
func (c *Config) take(r *record, me uint8, clock *uint8, at place, kind uint8) verdict {
	fence := max(r.fence+1, *clock)
	if at.proposed > 0 {
		fence = at.proposed
		if c.rule(fenceFloor) {
			fence = max(fence, r.fence+1)
		}
	} else {
		*clock++
	}
	over := r.unresolved() || r.state == executed
	attempts := uint8(0)
	if c.Attempts > 0 {
		attempts = 1
		if over {
			attempts += r.attempts
		}
	}
	*r = record{
		state: processing, owner: me, fence: fence, indexed: true,
		maybe: over && c.rule(maybeKeeps), attempts: attempts, leavers: c.leftBehind(*r),
	}
	return verdict{answer: created, kind: kind, fence: fence}
}
