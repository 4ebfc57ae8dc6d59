package model

// gatewayStarts: request i comes, its gateway claims, repeats, gives up.
func (s *stepper) gatewayStarts(i int) {
	c, w, me := s.c, &s.from, uint8(i+1)
	q := &w.req[i]
	// Requests that have not come are alike: they come in order.
	if q.phase == idle && (i == 0 || w.req[i-1].phase != idle) {
		t := *w
		n := &t.req[i]
		n.phase, n.sends, n.claims = waiting, 1, 1
		n.afterSeen = w.seen != 0 && !w.forgotten
		if w.acked != 0 && !w.forgotten {
			n.after = 1
			if w.kept {
				n.after = 2
			}
		}
		s.add(&t, nil, "o%d: comes, claims", me)
	}
	if q.phase != waiting || q.dead {
		return
	}
	if q.sends == 1 && c.Claims == 2 && q.duty == noDuty {
		t := *w
		t.req[i].sends, t.req[i].claims = 2, q.claims+1
		s.add(&t, nil, "o%d: no answer yet, claims again", me)
	}
	if q.sends == c.Claims {
		t := *w
		if c.Forward {
			t.req[i].phase, t.req[i].effect, t.req[i].unprotected = forwarded, sent, true
			s.add(&t, nil, "o%d: unavailable, FORWARDED without a grant", me)
			return
		}
		t.req[i].send(gaveUp, release)
		s.add(&t, nil, "o%d: unavailable, refused to the client, releases", me)
	}
}

// send puts m on its way.
func (q *request) send(to phase, m message) { q.phase, q.out, q.stores = to, m, 0 }

// replyArrives: the answer to i's claim reaches its gateway, or gets lost.
func (s *stepper) replyArrives(i int) {
	c, me := s.c, uint8(i+1)
	q := s.from.req[i]
	if q.reply == noAnswer {
		return
	}
	t := s.from
	n := &t.req[i]
	n.reply, n.replyFence, n.replyResult = noAnswer, 0, 0
	s.fault(&t, nil, "network: the answer %s to o%d is lost", q.reply, me)

	over := q.phase == ended || q.phase == gaveUp
	late := c.rule(lapsedReleased) && q.effect == notSent && q.out == noMessage && over &&
		(q.reply == created || q.reply == lapsed)
	switch {
	case !q.dead && (late || q.reply == lapsed && q.phase == waiting):
		n.send(finishing, release)
		s.add(&t, nil, "o%d: %s, but it never forwards: releases", me, q.reply)
	case q.dead || q.phase != waiting:
		s.add(&t, nil, "o%d: %s comes too late", me, q.reply)
	case q.reply == created:
		s.granted(&t, i)
	default:
		switch q.reply {
		case replayed:
			t.acked, t.kept = q.replyResult, true
		case notKept:
			t.acked = q.replyResult
		}
		n.phase = ended
		s.add(&t, c.told(&s.from, i), "o%d: the client is told %s %d", me, q.reply, q.replyResult)
	}
}

// granted: i's gateway takes its grant; it may forward, or find that it need not.
func (s *stepper) granted(t *world, i int) {
	c, q, me := s.c, &s.from.req[i], uint8(i+1)
	t.req[i].fence = q.replyFence
	if q.outlived && c.rule(ownClock) {
		t.req[i].send(finishing, release)
		s.add(t, nil, "o%d: the grant is too old, releases", me)
		return
	}
	u := *t
	u.req[i].phase, u.req[i].effect = forwarded, sent
	s.add(&u, c.forwarding(&s.from, i), "o%d: created f%d, FORWARDED", me, q.replyFence)
	u = *t
	u.req[i].send(finishing, release)
	s.add(&u, nil, "o%d: created f%d, but the client is gone: releases", me, q.replyFence)
}

// upstream: the backend executes i's request; its gateway learns what came of it.
func (s *stepper) upstream(i int) {
	c, me := s.c, uint8(i+1)
	q := &s.from.req[i]
	if q.effect == sent {
		t := s.from
		t.req[i].effect = ran
		for j := range t.req {
			if o := &s.from.req[j]; c.BackendFence && o.effect == ran && o.fence > q.fence {
				t.req[i].effect = refused
			}
		}
		s.add(&t, nil, "backend: request of o%d: %s", me, [...]string{"", "", "EXECUTES", "refuses its fence"}[t.req[i].effect])
	}
	if q.phase != forwarded || q.dead {
		return
	}
	answered := q.effect == ran || q.effect == refused && c.RefusalIsResult
	silent := q.unprotected && !c.rule(tellsAnyway)
	last := func(m message, format string) {
		t := s.from
		t.req[i].send(finishing, m)
		if silent {
			t.req[i].phase, t.req[i].out = ended, noMessage
		}
		s.add(&t, nil, format, me)
	}
	switch {
	case answered && c.Mode != held:
		t := s.from
		t.req[i].phase = streaming
		if c.rule(tellExecution) {
			t.req[i].report = onItsWay
		}
		s.add(&t, nil, "o%d: response headers are here, sends executed", me)
	case answered:
		last(complete, "o%d: the response is here, sends complete")
	}
	last(tellUnknown, "o%d: no complete answer, sends unknown")
	if q.effect == refused && !c.RefusalIsResult {
		t := s.from
		t.req[i].send(finishing, release)
		s.add(&t, nil, "o%d: the backend refused its fence, releases", me)
	}
}

func (s *stepper) crash(i int) {
	q := &s.from.req[i]
	pending := q.report == onItsWay || q.report == halfway
	if s.from.crashes == 0 || q.dead || q.phase == idle || q.phase == ended && !pending {
		return
	}
	t := s.from
	t.crashes--
	t.req[i].dead = true
	s.fault(&t, nil, "gateway of o%d CRASHES", i+1)
}
