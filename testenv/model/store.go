package model

// mayEnd reports whether the lease of r may end now. A living gateway finishes a
// forwarded request, or renews, before its lease ends, unless renewals get lost;
// without stalls, nobody is slower with a grant than its lease.
func (s *stepper) mayEnd(r record) bool {
	w := &s.from
	if !r.unresolved() && r.state != executed || r.over || r.owner == 0 {
		return false
	}
	q := &w.req[r.owner-1]
	forwards := q.phase == forwarded || q.phase == streaming && r.state != executed
	if forwards && !q.dead && !q.unprotected && w.renewals == 0 {
		return false
	}
	return s.c.Stalls || q.dead || q.duty == noDuty && q.reply != created
}

func (w *world) renewalLost(owner uint8) {
	q := &w.req[owner-1]
	if (q.phase == forwarded || q.phase == streaming) && !q.dead && w.renewals > 0 {
		w.renewals--
	}
}

// outlived: the lease ended while the owner was still waiting for its grant.
func (w *world) outlived(owner uint8) {
	if q := &w.req[owner-1]; q.phase == waiting || q.phase == gaveUp {
		q.outlived = true
	}
}

func (s *stepper) leasesEnd() {
	w := &s.from
	if s.mayEnd(w.redis) && !w.away {
		t := *w
		t.redis.over = true
		t.renewalLost(w.redis.owner)
		if !s.c.Ledger { // a gateway's clock bounds the lease of the authority
			t.outlived(w.redis.owner)
		}
		s.add(&t, nil, "the lease of o%d ends in redis", w.redis.owner)
	}
	if s.c.Ledger && s.mayEnd(w.ledger) {
		t := *w
		t.ledger.over = true
		t.renewalLost(w.ledger.owner)
		t.outlived(w.ledger.owner)
		s.add(&t, nil, "the lease of o%d ends in the ledger", w.ledger.owner)
	}
}

// storesFail: replication, failover, flush, a lost index, Redis away and back.
func (s *stepper) storesFail() {
	w := &s.from
	lags := w.replica != w.redis
	if lags && (w.failovers > 0 || s.c.Wait) {
		t := *w
		t.replica = w.redis
		s.add(&t, nil, "replication catches up")
	}
	if lags && w.failovers > 0 {
		t := *w
		t.failovers--
		t.redis = w.replica
		s.lose(&t, "FAILOVER to "+w.replica.state.String())
	}
	if w.flushes > 0 && w.redis.state != absent {
		t := *w
		t.flushes--
		t.redis, t.replica = record{}, record{}
		s.lose(&t, "FLUSH")
	}
	if w.indexLoss > 0 && w.redis.indexed && w.redis.unresolved() {
		t := *w
		t.indexLoss--
		t.redis.indexed, t.replica.indexed = false, false
		s.fault(&t, nil, "the index is lost")
	}
	if w.outages > 0 && !w.away {
		t := *w
		t.away = true
		t.outages--
		s.fault(&t, nil, "redis AWAY")
	}
	if w.away {
		t := *w
		t.away = false
		s.add(&t, nil, "redis is back")
	}
}

// lose adds a step on which Redis lost data, and one on which its clock is behind
// as well.
func (s *stepper) lose(t *world, what string) {
	t.gone = 0
	if !s.c.Ledger {
		t.told = 0
	}
	if t.setBack > 0 {
		u := *t
		u.setBack--
		u.clock = 0
		s.fault(&u, nil, "%s, the clock is behind", what)
	}
	s.fault(t, nil, "%s", what)
}

// livesEnd: an answer becomes a tombstone, a tombstone ends.
func (s *stepper) livesEnd() {
	w := &s.from
	if !s.c.Expires {
		return
	}
	switch w.redis.state {
	case completed:
		t := *w
		t.forgotten, t.told = true, 0
		t.redis.state, t.redis.result = tombstone, 0
		if s.c.Ledger {
			t.ledger.state = tombstone
		}
		s.add(&t, nil, "the answer's life ends")
	case tombstone:
		t := *w
		t.redis = record{}
		s.add(&t, nil, "the tombstone's life ends")
	}
}
