package model

// maxProbes bounds the probes of one run; a record that is unresolved after them
// counts as the operator's.
const maxProbes = 3

// reconcile: with recovery probe, a record that is overdue is asked about, and
// the verdict applied by owner and fence. Between the two anything may happen.
func (s *stepper) reconcile() {
	c, w := s.c, &s.from
	if c.Recovery != probe {
		return
	}
	scansLedger := c.Ledger && c.rule(ledgerScanned)
	source := w.redis
	if scansLedger {
		source = w.ledger
	}
	found := scansLedger || !w.away && (source.indexed || c.rule(indexHeals))
	if w.probe == 0 && w.probes < maxProbes && source.unresolved() && source.over && found {
		s.askBackend(source)
	}
	if w.probe > 0 && (!w.away || scansLedger) {
		s.applyVerdict(scansLedger)
	}
	leftover := w.redis.unresolved() && w.redis.over && !w.ledger.unresolved()
	if scansLedger && c.rule(repairs) && !w.away && leftover {
		t := *w
		t.redis = w.ledger.copied(c)
		s.add(&t, nil, "reconciler: redis is overdue, copies %s from the ledger", w.ledger)
	}
}

func (s *stepper) askBackend(r record) {
	t := s.from
	t.probes++
	t.probe, t.probeOwner, t.probeFence = 1, r.owner, r.fence
	for i := range t.req {
		if t.req[i].effect == ran {
			t.probe, t.probeResult = 2, uint8(i+1)
		}
	}
	if t.probe == 1 && s.c.rule(probePromises) {
		for i := range t.req {
			if q := &t.req[i]; q.effect == sent && q.fence <= r.fence {
				q.effect = refused
			}
		}
	}
	s.add(&t, nil, "reconciler: asks about o%d f%d: %s", r.owner, r.fence,
		[...]string{"", "NOT EXECUTED", "EXECUTED"}[t.probe])
}

func (s *stepper) applyVerdict(scansLedger bool) {
	c, w := s.c, &s.from
	t := *w
	t.probe, t.probeOwner, t.probeFence, t.probeResult = 0, 0, 0, 0
	r := &t.redis
	if scansLedger {
		r = &t.ledger
	}
	applied, p := s.verdict(&t, r, scansLedger)
	if scansLedger && applied && !w.away && w.redis.state != completed && w.redis.fence <= t.ledger.fence {
		s.fault(&t, p, "reconciler: tells the ledger, dies before redis")
		t.redis = t.ledger.copied(c)
	}
	s.add(&t, p, "reconciler: applies its verdict")
}

// applies reports whether the verdict under way still fits r.
func (s *stepper) applies(r *record) bool {
	return r.unresolved() && r.owner == s.from.probeOwner && r.fence == s.from.probeFence &&
		(r.over || !s.c.rule(verdictIfOver))
}

// verdict carries the verdict out on r, if it still fits.
func (s *stepper) verdict(t *world, r *record, inLedger bool) (applied bool, p *promise) {
	w := &s.from
	if !s.applies(r) {
		return false, nil
	}
	was := *r
	switch {
	case w.probe == 2:
		*r = record{state: completed, owner: r.owner, fence: r.fence, result: w.probeResult}
		return true, nil
	case r.held: // "not executed" says nothing of a newer fence that was lost
		return true, nil
	case r.noted != 0:
		r.seal(r.fence)
	case inLedger && s.c.rule(marker):
		*r = record{state: released, owner: r.owner, fence: r.fence, leavers: r.leavers}
	default:
		s.c.free(r, r.owner)
	}
	return true, t.freed(was, *r)
}
