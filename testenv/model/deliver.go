package model

// wordArrives: i's last word reaches the stores; without a ledger, a duplicate of
// it may linger and arrive later.
func (s *stepper) wordArrives(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	switch {
	case q.out == noMessage || q.dead:
	case c.Ledger:
		s.wordToBoth(i)
	case !w.away:
		s.wordToRedis(i)
	}
	if q.late != noMessage && !w.away {
		t := *w
		t.req[i].late = noMessage
		c.apply(&t.redis, c.say(q, me, q.late))
		var p *promise
		if !c.Ledger {
			p = t.freed(w.redis, t.redis)
			t.left(me, q.late)
		}
		s.add(&t, p, "a copy of %s of o%d arrives", q.late, me)
	}
}

func (s *stepper) wordToRedis(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	t := *w
	heard := c.apply(&t.redis, c.say(q, me, q.out))
	p := t.freed(w.redis, t.redis)
	t.left(me, q.out)
	if q.out == complete {
		t.hear(me)
		p = first(when(!heard && !w.redis.final() && w.redis.fence < q.fence, thrownAway), p)
		if heard {
			p = first(when(w.anotherAcked(me), twoResults), p)
			if w.anyRan() {
				p = first(w.refusalAs(me), p)
			}
		}
		if c.Wait && c.rule(waitComplete) && heard && t.replica.state != completed {
			if t != *w {
				s.add(&t, p, "complete of o%d is applied, WAIT falls short: not acknowledged", me)
			}
			return
		}
	}
	s.settled(&t, i, heard)
	s.add(&t, p, "%s f%d of o%d arrives: heard=%t", q.out, q.fence, me, heard)
	if q.late == noMessage && heard && c.Duplicates {
		t.req[i].late = q.out
		s.fault(&t, nil, "%s of o%d arrives, a copy of it stays in the network", q.out, me)
	}
}

// wordToBoth: the ledger and Redis, one after the other. Redis is a cache then:
// only the ledger frees a key.
func (s *stepper) wordToBoth(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	t := *w
	heard := true
	var p *promise
	where := "redis"
	if (q.stores == 0) == c.rule(ledgerFirst) {
		where = "the ledger"
		heard = c.apply(&t.ledger, c.say(q, me, q.out))
		if q.out == complete {
			t.hear(me)
		}
		p = t.freed(w.ledger, t.ledger)
	} else if !w.away {
		heard = c.apply(&t.redis, c.say(q, me, q.out))
	}
	switch {
	case q.stores > 0:
		if q.out == complete && heard {
			p = first(when(w.anotherAcked(me), twoResults), p)
		}
		s.settled(&t, i, true)
		s.add(&t, p, "%s f%d of o%d arrives in %s, the second store: acknowledged", q.out, q.fence, me, where)
	case heard:
		t.req[i].stores = 1
		s.add(&t, p, "%s f%d of o%d arrives in %s", q.out, q.fence, me, where)
	default:
		s.settled(&t, i, false)
		s.add(&t, p, "%s f%d of o%d arrives in %s: stale", q.out, q.fence, me, where)
	}
}

// settled: i's last word has been answered.
func (s *stepper) settled(t *world, i int, heard bool) {
	me := uint8(i + 1)
	q := &t.req[i]
	out := q.out
	q.out, q.stores = noMessage, 0
	if q.phase == finishing || q.phase == gaveUp {
		q.phase = ended
	}
	switch {
	case out != complete:
	case heard:
		if t.acked == 0 {
			t.acked = me
		}
		t.kept = true
		// The queue holds one word for each owner, the latest.
		if s.c.rule(settle) && (q.report == onItsWay || q.report == halfway) {
			q.report, q.reportCopy = acknowledged, s.c.Duplicates
		}
		if s.c.Mode == held && t.seen == 0 {
			t.seen = me
		}
	case s.c.Mode == held && t.seenMarked == 0:
		t.seenMarked = me
	}
}
