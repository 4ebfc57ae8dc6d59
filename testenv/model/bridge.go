package model

// claimArrives: a claim of request i reaches a bridge, or gets lost.
func (s *stepper) claimArrives(i int) {
	c, q, me := s.c, &s.from.req[i], uint8(i+1)
	if q.claims == 0 || q.duty != noDuty || q.reply != noAnswer {
		return
	}
	t := s.from
	t.req[i].claims--
	lost := t
	switch {
	case !s.from.away:
		s.claimInRedis(&t, i)
	case c.Ledger:
		v := c.claim(&t.ledger, me, &t.clock, place{ledger: true})
		t.grantOf(i, v)
		t.answer(i, v)
		s.add(&t, s.grantTold(v), "bridge: claim of o%d, redis away, the ledger alone: %s", me, v.answer)
	default:
		t.req[i].reply = unavailable
		s.add(&t, nil, "bridge: claim of o%d, redis away: unavailable", me)
	}
	s.fault(&lost, nil, "network: a claim of o%d is lost", me)
}

func (s *stepper) claimInRedis(t *world, i int) {
	c, me := s.c, uint8(i+1)
	v := c.claim(&t.redis, me, &t.clock, inRedis)
	q := &t.req[i]
	waits := v.answer == replayed && c.rule(waitReplay) ||
		(v.answer == notKept || v.answer == bodyComing) && c.rule(waitNotKept)
	switch {
	case v.answer == created && c.Ledger:
		q.duty, q.proposed = askLedger, v.fence
		s.add(t, nil, "bridge: claim of o%d, redis grants f%d, the ledger is next", me, v.fence)
	case v.answer == created && c.Wait:
		t.grantOf(i, v)
		q.duty, q.proposed = waitReplica, v.fence
		s.add(t, s.grantedInRedis(i, v), "bridge: claim of o%d, redis grants f%d, WAIT is next", me, v.fence)
	case v.answer == created:
		t.grantOf(i, v)
		t.answer(i, v)
		s.add(t, s.grantedInRedis(i, v), "bridge: claim of o%d: created f%d", me, v.fence)
	case c.Ledger && c.rule(confirmRefusal) && v.answer != replayed && v.answer != staleClaim:
		q.duty, q.proposed = confirm, 0
		s.add(t, nil, "bridge: claim of o%d, redis says %s, the ledger is asked", me, v.answer)
	case waits && c.Wait && t.replica != t.redis:
		q.reply = unavailable
		s.add(t, nil, "bridge: claim of o%d, %s is not replicated: unavailable", me, v.answer)
	default:
		t.answer(i, v)
		s.add(t, nil, "bridge: claim of o%d: %s %d", me, v.answer, v.result)
	}
}

// answer puts v on its way to request i's gateway.
func (w *world) answer(i int, v verdict) {
	w.req[i].reply, w.req[i].replyFence, w.req[i].replyResult = v.answer, v.fence, v.result
}

// grantOf remembers how i came by its grant: a re-acquire outlasts a repeat.
func (w *world) grantOf(i int, v verdict) {
	if v.answer == created {
		w.req[i].kind = max(w.req[i].kind, v.kind)
	}
}

// grantTold checks a new grant by the authority.
func (s *stepper) grantTold(v verdict) *promise {
	return when(v.answer == created && v.kind > 0 && s.from.told > 0 && !s.from.forgotten, grantedTold)
}

// grantedInRedis checks a new grant by Redis alone.
func (s *stepper) grantedInRedis(i int, v verdict) *promise {
	gone := s.from.gone>>(i+1)&1 == 1
	return first(s.grantTold(v), when(v.kind > 0 && gone && !s.from.forgotten, grantedGone))
}

// bridgeGoesOn: the next step of a bridge that has not answered i's claim yet.
func (s *stepper) bridgeGoesOn(i int) {
	switch s.from.req[i].duty {
	case confirm:
		s.confirmRefusal(i)
	case askLedger:
		s.askLedger(i)
	case waitReplica:
		s.waitForReplica(i)
	}
}

// confirmRefusal looks at the ledger's row, without granting from it.
func (s *stepper) confirmRefusal(i int) {
	c, me := s.c, uint8(i+1)
	t := s.from
	t.req[i].duty = noDuty
	row, clock := t.ledger, uint8(9)
	v := c.claim(&row, me, &clock, place{ledger: true})
	switch {
	case v.answer == created:
		v.answer = inFlight
	case !c.rule(repairs) || t.away:
	case t.ledger.state == completed || t.ledger.state == executed || row.state == executed:
		was := t.ledger
		if row.state == executed { // the look that finds a note seals it
			t.ledger = row
		}
		if t.redis.state != completed && t.redis.fence <= was.fence {
			t.redis = t.ledger
		}
	}
	t.req[i].reply, t.req[i].replyResult = v.answer, v.result
	s.add(&t, nil, "bridge: the ledger tells o%d: %s %d", me, v.answer, v.result)
}

// askLedger: Redis has granted, the ledger decides.
func (s *stepper) askLedger(i int) {
	c, q, me := s.c, &s.from.req[i], uint8(i+1)
	t := s.from
	t.req[i].duty = noDuty
	if c.rule(ledgerGrants) {
		v := c.claim(&t.ledger, me, &t.clock, place{ledger: true, proposed: q.proposed})
		t.grantOf(i, v)
		mine := t.redis.owner == me && t.redis.state == processing && !t.away
		if v.answer == created && v.fence != q.proposed && mine {
			t.redis.fence = v.fence
		}
		t.answer(i, v)
		s.add(&t, s.grantTold(v), "bridge: the ledger tells o%d (row %s): %s f%d", me, s.from.ledger, v.answer, v.fence)
		if v.answer != created && c.rule(repairs) && mine {
			t.redis = t.ledger.copied(c)
			t.redis.indexed = true
			s.add(&t, nil, "bridge: the ledger tells o%d (row %s): %s, redis is overwritten", me, s.from.ledger, v.answer)
		}
	} else {
		if t.ledger.state == absent {
			t.ledger = record{state: processing, owner: me, fence: q.proposed, indexed: true}
		}
		if t.req[i].kind == 0 {
			t.req[i].kind = granted
		}
		t.req[i].reply, t.req[i].replyFence = created, q.proposed
		s.add(&t, nil, "bridge: o%d's claim is put into the ledger or not: created f%d", me, q.proposed)
	}
	t = s.from
	t.req[i].duty = noDuty
	s.fault(&t, nil, "bridge: dies before it asks the ledger for o%d", me)
}

func (s *stepper) waitForReplica(i int) {
	c, q, me := s.c, &s.from.req[i], uint8(i+1)
	t := s.from
	t.req[i].duty = noDuty
	if t.replica.owner == me && t.replica.fence == q.proposed || c.Short == grant {
		t.req[i].reply, t.req[i].replyFence = created, q.proposed
		s.add(&t, nil, "bridge: WAIT for o%d ends: created f%d", me, q.proposed)
		return
	}
	t.req[i].reply = unavailable
	if c.Short == refuse {
		s.add(&t, nil, "bridge: WAIT for o%d falls short: unavailable, the claim stays", me)
		return
	}
	was := t.redis
	c.apply(&t.redis, word{message: release, owner: me, fence: q.proposed, success: true})
	s.add(&t, t.freed(was, t.redis), "bridge: WAIT for o%d falls short: released, unavailable", me)
}
