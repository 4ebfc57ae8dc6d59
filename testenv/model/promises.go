package model

// A promise is something that the protocol promises, or that is worth knowing.
// Steps name the promise that they break.
type promise struct {
	name string
	text string
}

// note reports a promise that was never given: a run goes on behind it.
func (p *promise) note() bool { return p.name[0] == 'n' }

var (
	secondForward   = &promise{"I1a", "a second forward though no rule allowed a re-acquire"}
	ranAgain        = &promise{"I1b", "forwarded again after its result was acknowledged, replayed or told"}
	twoAtOnce       = &promise{"I1c", "two are forwarded at once, both gateways alive"}
	twoResults      = &promise{"I2", "two different results"}
	resultLost      = &promise{"I2w", "the result was known before this retry, which is told nothing of it"}
	stuck           = &promise{"I3", "the record is stuck for ever"}
	freedSent       = &promise{"I4", "a release frees a key of which a request was sent"}
	bodyLost        = &promise{"I5", "the body was acknowledged before this retry, which is told that it is not kept or still to come"}
	thrownAway      = &promise{"I6", "a result is thrown away although the store holds no newer claim"}
	refusalKept     = &promise{"I7", "the backend's refusal of a fence became the result"}
	grantedTold     = &promise{"I8", "granted after the store had been told, and had not lost, that it has run"}
	unusedRefused   = &promise{"I9", "an issued key that nobody used is refused"}
	tooManyGrants   = &promise{"I10", "forwarded more often than max_attempts"}
	grantedGone     = &promise{"I11", "granted to an owner after the store had been told, and had not lost, that it has released"}
	againSeen       = &promise{"nS", "forwarded again after a client saw an unmarked answer"}
	againMarked     = &promise{"nM", "forwarded again after a client saw a marked answer"}
	seenThenWait    = &promise{"nU", "a client saw an unmarked answer, the retry is told in-flight or outcome-unknown"}
	seenThenGone    = &promise{"nE", "the result was known or seen, and the issued key is refused as expired"}
	twoSeen         = &promise{"n2", "two clients saw different unmarked answers"}
	fenceMustChoose = &promise{"nC", "two are forwarded at once, and the backend's fence decides"}
)

// first is the first that is broken.
func first(ps ...*promise) *promise {
	for _, p := range ps {
		if p != nil {
			return p
		}
	}
	return nil
}

func when(broken bool, p *promise) *promise {
	if broken {
		return p
	}
	return nil
}

// anotherAcked reports that an acknowledged result is not result.
func (w *world) anotherAcked(result uint8) bool {
	return w.acked != 0 && w.acked != result && !w.forgotten
}

// refusalAs is broken when result is nothing but the refusal of its fence.
func (w *world) refusalAs(result uint8) *promise {
	return when(result > 0 && w.req[result-1].effect == refused, refusalKept)
}

// freed checks a step that took r from was: no key is freed of which a request
// was sent.
func (w *world) freed(was, is record) *promise {
	free := is.state == released || is.state == absent || is.state == issued
	if w.forgotten || !was.unresolved() || !free || was.owner == 0 {
		return nil
	}
	for i := range w.req {
		q := &w.req[i]
		if (q.effect == sent || q.effect == ran) && !q.unprotected {
			return freedSent
		}
	}
	return nil
}

// forwarding checks that request i is forwarded now, in w.
func (c *Config) forwarding(w *world, i int) *promise {
	q := &w.req[i]
	var p *promise
	if !w.forgotten {
		p = first(when(w.acked != 0, ranAgain), when(w.seen != 0, againSeen), when(w.seenMarked != 0, againMarked))
	}
	if c.Attempts > 0 && w.forwards() >= c.Attempts {
		p = tooManyGrants
	}
	for j := range w.req[:c.Requests] {
		o := &w.req[j]
		if j == i || o.effect != sent && o.effect != ran || o.unprotected || w.forgotten {
			continue
		}
		if p != nil && !p.note() {
			break
		}
		live := !o.dead && (o.phase == forwarded || o.phase == streaming)
		switch {
		case q.kind != reacquired:
			p = secondForward
		case live && c.BackendFence:
			p = fenceMustChoose
		case live:
			p = twoAtOnce
		}
	}
	return p
}

// told checks what request i's client is told by a claim's answer.
func (c *Config) told(w *world, i int) *promise {
	q := &w.req[i]
	switch q.reply {
	case replayed:
		p := first(when(w.anotherAcked(q.replyResult), twoResults), when(w.anotherSeen(q.replyResult), twoSeen))
		return first(w.refusalAs(q.replyResult), p)
	case notKept, bodyComing:
		p := first(
			when(w.anotherAcked(q.replyResult), twoResults),
			when(q.after == 2 && !w.forgotten, bodyLost),
			when(w.anotherSeen(q.replyResult), twoSeen),
		)
		return first(w.refusalAs(q.replyResult), p)
	}
	var p *promise
	gone := q.reply == keyExpired
	switch {
	case w.forgotten:
	case q.after > 0 && q.reply != unavailable && q.reply != staleClaim:
		p = resultLost
		if c.Issued && gone {
			p = seenThenGone
		}
	case q.afterSeen && (q.reply == outcomeUnknown || q.reply == inFlight):
		p = seenThenWait
	case q.afterSeen && gone:
		p = seenThenGone
	}
	if c.Issued && gone && w.forwards() == 0 && w.flushes == c.Flushes && !c.Expires {
		p = unusedRefused
	}
	return p
}

func (w *world) anotherSeen(result uint8) bool {
	return w.seen != 0 && w.seen != result && !w.forgotten
}

// stuck reports that a client which comes once all is quiet would wait for ever.
func (c *Config) stuck(w *world) bool {
	authority := w.redis
	if c.Ledger {
		authority = w.ledger
	}
	switch c.Recovery {
	case hold:
		return c.stuckUnsent(w, authority)
	case probe:
		if c.Ledger && !c.rule(confirmRefusal) {
			authority = w.redis
		}
		return !w.redis.held && authority.unresolved() && w.probes < maxProbes
	}
	const stranger = maxRequests + 5
	clock := uint8(9)
	r := w.redis
	r.over = true
	v := c.claim(&r, stranger, &clock, inRedis)
	if v.answer == created && c.Ledger {
		l := w.ledger
		l.over = true
		clock = 9
		v = c.claim(&l, stranger, &clock, place{ledger: true, proposed: v.fence})
	}
	switch v.answer {
	case outcomeUnknown:
		if w.redis.held {
			return false
		}
		if c.Attempts > 0 && (w.redis.attempts >= c.Attempts || c.Ledger && w.ledger.attempts >= c.Attempts) {
			return c.heldEarly(w)
		}
	case keyExpired:
		return c.Ledger && c.Issued && (w.ledger.state == released || w.ledger.unresolved())
	case created, replayed, notKept:
		return false
	}
	return true
}

// stuckUnsent: under hold, records wait for the operator; one is stuck only when
// its owner provably never forwarded and nothing else was sent.
func (c *Config) stuckUnsent(w *world, r record) bool {
	if !r.unresolved() || w.req[r.owner-1].effect != notSent || w.req[r.owner-1].dead {
		return false
	}
	for i := range w.req {
		if e := w.req[i].effect; e == sent || e == ran {
			return false
		}
	}
	return true
}

// heldEarly: max_attempts holds a record though fewer were forwarded or lost in a
// crash.
func (c *Config) heldEarly(w *world) bool {
	n := uint8(0)
	for i := range w.req {
		if w.req[i].effect != notSent || w.req[i].dead {
			n++
		}
	}
	return n < c.Attempts
}
