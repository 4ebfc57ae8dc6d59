package model

// stream: the client's first byte, the end of the body, renewals.
func (s *stepper) stream(i int) {
	c, me := s.c, uint8(i+1)
	q := &s.from.req[i]
	if q.phase == streaming && !q.dead {
		if q.saw == 0 {
			s.firstByte(i)
		} else {
			s.bodyEnds(i)
		}
	}
	forwards := q.phase == forwarded || q.phase == streaming
	if forwards && !q.dead && c.LostRenewals > 0 && !q.renewed && !s.from.away {
		t := s.from
		t.req[i].renewed = true
		for _, r := range [...]*record{&t.ledger, &t.redis} {
			live := r.state == processing || r.state == executed
			if live && r.owner == me && r.fence == q.fence && (!r.over || c.RenewOver) {
				r.over = false
			}
		}
		s.add(&t, nil, "o%d: renew", me)
	}
}

func (s *stepper) firstByte(i int) {
	w, me := &s.from, uint8(i+1)
	t := *w
	if s.c.Mode == after || w.req[i].report == acknowledged {
		t.req[i].saw = 1
		if t.seen == 0 {
			t.seen = me
		}
		p := when(w.anotherSeen(me) || w.anotherAcked(me), twoSeen)
		s.add(&t, p, "o%d: the client sees the answer, unmarked", me)
		return
	}
	t.req[i].saw = 2
	if t.seenMarked == 0 {
		t.seenMarked = me
	}
	s.add(&t, nil, "o%d: executed was not acknowledged; the client sees the answer, MARKED", me)
}

func (s *stepper) bodyEnds(i int) {
	me := uint8(i + 1)
	t := s.from
	t.req[i].send(finishing, complete)
	if t.req[i].report == superseded {
		t.req[i].phase, t.req[i].out = ended, noMessage
	}
	s.add(&t, nil, "o%d: the body is whole, sends complete", me)
	t = s.from
	t.req[i].phase = ended
	if !s.c.rule(tellExecution) {
		t.req[i].send(finishing, tellUnknown)
	}
	s.add(&t, nil, "o%d: the body is cut", me)
}

// executedArrives: i's executed reaches the stores, the ledger first; or gets
// lost with its gateway; or arrives a second time.
func (s *stepper) executedArrives(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	if pending := q.report == onItsWay || q.report == halfway; pending {
		if !w.away || c.Ledger {
			s.executedStep(i)
		}
		if q.dead {
			t := *w
			t.req[i].report = unreported
			s.fault(&t, nil, "network: executed of o%d, which is dead, is lost", me)
		}
	}
	if q.reportCopy && !w.away && !c.Ledger {
		t := *w
		t.req[i].reportCopy = false
		c.apply(&t.redis, c.say(q, me, tellExecuted))
		s.add(&t, nil, "a copy of executed f%d of o%d arrives", q.fence, me)
	}
}

func (s *stepper) executedStep(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	t := *w
	says := c.say(q, me, tellExecuted)
	heard, done := true, true
	var p *promise
	switch {
	case c.Ledger && (q.report == onItsWay) == c.rule(ledgerFirst):
		heard = c.apply(&t.ledger, says)
		t.hear(me)
	case c.Ledger && !w.away:
		heard = c.apply(&t.redis, says)
	case c.Ledger:
	default:
		was := t.redis
		heard = c.apply(&t.redis, says)
		t.hear(me)
		p = when(!heard && !was.final() && was.fence < q.fence, thrownAway)
		replicated := (t.replica.state == executed || t.replica.state == completed) && t.replica.owner == me
		if c.Wait && c.rule(waitExecuted) && heard && !replicated {
			done = false // applied, but not acknowledged: it comes again
		}
	}
	if c.Ledger {
		switch {
		case q.report == onItsWay && heard:
			done = false
			t.req[i].report = halfway
		case q.report == halfway:
			heard = true
		}
	}
	if done {
		p = first(s.reported(&t, i, heard), p)
	}
	if done || t != *w {
		s.add(&t, p, "executed f%d of o%d arrives: heard=%t, acknowledged=%t", q.fence, me, heard, done)
	}
}

// reported: i's gateway learns what became of its executed.
func (s *stepper) reported(t *world, i int, heard bool) (p *promise) {
	w, me := &s.from, uint8(i+1)
	q := &t.req[i]
	switch {
	case q.dead:
		q.report = unreported
	case !heard:
		q.report = superseded
	default:
		q.report = acknowledged
		p = when(w.anotherAcked(me), twoResults)
		if w.anyRan() {
			p = first(w.refusalAs(me), p)
		}
		if t.acked == 0 {
			t.acked = me
		}
		q.reportCopy = q.reportCopy || s.c.Duplicates
	}
	return p
}
