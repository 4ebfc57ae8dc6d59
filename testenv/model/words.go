package model

// A word is what an owner says of its request, as one atomic step on a record.
type word struct {
	message message
	owner   uint8
	fence   uint8 // 0: not known
	success bool  // the answer was a 2xx
}

// say is what request i says with m.
func (c *Config) say(q *request, me uint8, m message) word {
	return word{message: m, owner: me, fence: q.fence, success: q.effect != refused}
}

// apply carries w out on r and reports whether it was heard; false is stale.
func (c *Config) apply(r *record, w word) bool {
	switch w.message {
	case complete, tellExecuted:
		return c.applyFinal(r, w)
	case tellUnknown:
		return c.applyUnknown(r, w)
	}
	c.applyRelease(r, w)
	return true
}

// current reports whether w speaks for the record as it is, or for a newer one
// than the store remembers.
func (c *Config) current(r *record, w word) bool {
	if !c.rule(byFence) {
		live := r.state == processing || r.state == unknown && w.message != tellUnknown
		return live && r.owner == w.owner && r.fence == w.fence
	}
	newer := w.fence > r.fence || w.fence == r.fence && (r.owner == w.owner || r.state == absent)
	return newer || w.fence == 0 && (r.state == absent || r.owner == w.owner)
}

func (c *Config) applyFinal(r *record, w word) bool {
	to := record{state: completed, owner: w.owner, fence: max(r.fence, w.fence), result: w.owner}
	if w.message == tellExecuted {
		to.state = executed
	}
	switch r.state {
	case completed, tombstone:
		return r.owner == w.owner
	case executed:
		if r.owner != w.owner && c.rule(executedHasOwner) {
			return false
		}
		if w.message == complete {
			*r = to
		}
		return true
	}
	if c.current(r, w) {
		*r = to
		return true
	}
	heard := w.success || !c.rule(olderNeedsOK)
	live := r.state == processing
	switch {
	case heard && !live && c.rule(olderOnFree), heard && c.Older == accept:
		*r = to
		return true
	case heard && live && c.Older == note && r.noted == 0:
		r.noted = w.owner
	}
	return false
}

func (c *Config) applyUnknown(r *record, w word) bool {
	switch {
	case r.final() || r.state == unknown:
		return r.owner == w.owner
	case !c.current(r, w):
		return false
	case r.noted != 0:
		r.seal(max(r.fence, w.fence))
		return true
	}
	live := r.state == processing && r.holds(w)
	to := record{
		state: unknown, owner: w.owner, fence: max(r.fence, w.fence), indexed: true,
		over: live && r.over, attempts: c.attemptsOfUnknown(r, w), leavers: r.leavers,
	}
	if r.owner != w.owner {
		to.leavers = c.leftBehind(*r)
	}
	if !live && c.Issued && !c.Ledger && c.rule(issuedHeld) {
		to.held, to.attempts = true, 0
	}
	*r = to
	return true
}

// holds reports whether w is of the very claim that r is.
func (r *record) holds(w word) bool {
	return r.owner == w.owner && (w.fence == 0 || w.fence == r.fence)
}

// attemptsOfUnknown counts what was sent: a record that is made again knows of one
// attempt, one that fell back behind a newer fence of one more than it knew.
func (c *Config) attemptsOfUnknown(r *record, w word) uint8 {
	switch {
	case c.Attempts == 0:
		return 0
	case r.state != processing:
		return 1
	case r.holds(w):
		return r.attempts
	}
	return r.attempts + 1
}

func (c *Config) applyRelease(r *record, w word) {
	if r.state == absent && c.rule(marker) {
		*r = record{state: released, owner: w.owner, fence: w.fence}
		return
	}
	if r.state != processing || r.owner != w.owner || w.fence != 0 && w.fence != r.fence {
		free := r.state == released || r.state == issued
		if !r.final() && r.state != absent && !(free && r.owner == w.owner) {
			c.leave(r, w.owner)
		}
		return
	}
	switch {
	case r.noted != 0:
		r.seal(r.fence)
	case r.maybe:
		attempts := r.attempts
		if attempts > 0 && c.rule(attemptBack) {
			attempts--
		}
		*r = record{
			state: unknown, owner: w.owner, fence: r.fence, over: true, indexed: true, maybe: true, attempts: attempts,
			leavers: r.leavers,
		}
		c.leave(r, w.owner)
	default:
		c.free(r, w.owner)
	}
}

// free makes the key claimable again, by others than owner.
func (c *Config) free(r *record, owner uint8) {
	switch {
	case c.Issued && c.rule(issuedAgain):
		*r = record{state: issued, owner: owner, fence: r.fence, leavers: r.leavers}
	case c.rule(marker):
		*r = record{state: released, owner: owner, fence: r.fence, leavers: r.leavers}
	default:
		*r = record{}
	}
}
