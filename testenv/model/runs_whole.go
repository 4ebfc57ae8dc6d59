package model

// wholeResponse adds the families in which the whole response is held until one
// complete is acknowledged.
func (l *runList) wholeResponse() {
	for _, r := range everyRecovery {
		n := "A fix/" + r.String()
		l.add(n+" crash", r, held, crash, duplicates)
		l.add(n+" crash 3req", r, held, crash, threeRequest)
		l.add(n+" stall", r, held, stall)
		l.add(n+" redis away", r, held, outage)
	}
	l.add("A fix/probe index lost", probe, held, loseIndex, crash)
	l.oneRuleOff()
	for _, r := range everyRecovery {
		l.replica(r)
	}
	for _, r := range everyRecovery {
		l.ledger(r)
	}
	l.add("E reconciler works from redis/probe flush+crash", probe, held, withLedger, flush, crash, without(ledgerScanned))
	for _, r := range everyRecovery {
		n := "/" + r.String()
		l.add("F forward, tells"+n, r, held, forward)
		l.add("F forward, silent"+n, r, held, forward, without(tellsAnyway))
	}
	l.add("C by-fence off, failover/hold", hold, held, failover, without(byFence))
	l.add("C failover+crash 3req, WAIT not on replay", reacquire, held, failover, crash, threeRequest, withWait, without(waitReplay))
	l.add("C failover+crash 3req, WAIT everywhere", reacquire, held, failover, crash, threeRequest, withWait)
	l.add("B lapsed own claim not released/hold", hold, held, without(lapsedReleased))
	l.add("G ttl/reacquire", reacquire, held, expires, threeRequest)
}

func (l *runList) oneRuleOff() {
	for _, r := range everyRecovery {
		n := r.String()
		l.add("B no elapsed check/"+n+" stall", r, held, stall, without(ownClock))
		l.add("B same owner re-entrant after lease/"+n+" stall", r, held, stall, without(reentryWhileLive))
		l.add("B same owner re-entrant after lease, no elapsed/"+n, r, held, stall, without(reentryWhileLive, ownClock))
		l.add("B no marker/"+n+" crash", r, held, crash, duplicates, without(marker))
		l.add("B stale=any mismatch (as written)/"+n, r, held, crash, without(byFence))
	}
	l.add("B release after take-over frees/reacquire", reacquire, held, crash, threeRequest, without(maybeKeeps))
	l.add("B probe 'not done' is no promise/probe", probe, held, without(probePromises))
	l.add("B index not healed/probe", probe, held, loseIndex, crash, without(indexHeals))
}

func (l *runList) replica(r recovery) {
	c := func(name string, changes ...func(*Config)) { l.add("C "+name+"/"+r.String(), r, held, changes...) }
	c("failover, no durability", failover)
	c("failover, WAIT all, claim+complete+replay", failover, withWait)
	c("failover, WAIT, claim+complete+replay 3req", failover, withWait, threeRequest)
	c("failover, WAIT on claim only", failover, withWait, without(waitComplete, waitReplay))
	c("failover, WAIT on claim+complete, not replay", failover, withWait, without(waitReplay))
	c("failover+crash, WAIT not on replay", failover, crash, claimOnce, withWait, without(waitReplay))
	c("failover+crash, WAIT everywhere", failover, crash, claimOnce, withWait)
	c("failover, WAIT short -> grant anyway", failover, withWait, shortWaits(grant))
	c("failover, WAIT short -> refuse, claim left", failover, withWait, shortWaits(refuse))
	c("failover, WAIT all, stale=any mismatch", failover, withWait, without(byFence))
	c("flush, WAIT", flush, withWait)
}

func (l *runList) ledger(r recovery) {
	d := func(setting string, changes ...func(*Config)) {
		l.add("D ledger fix/"+r.String()+" "+setting, r, held, append([]func(*Config){withLedger}, changes...)...)
	}
	d("failover", failover)
	d("flush+crash", flush, crash)
	d("flush 3req", flush, threeRequest)
	d("redis away", outage)
	d("redis away 3req", outage, threeRequest)
	d("flush+clock back", flush, setBack)
	d("stall", stall)

	e := func(rule, setting string, changes ...func(*Config)) {
		l.add("E "+rule+"/"+r.String()+" "+setting, r, held, append([]func(*Config){withLedger}, changes...)...)
	}
	e("ledger insert-or-ignore", "flush", flush, without(ledgerGrants))
	e("ledger row taken by higher fence", "flush", flush, without(ledgerDecides))
	e("complete: redis first", "flush+crash", flush, crash, without(ledgerFirst))
	e("redis refusals not confirmed", "away", outage, without(confirmRefusal))
	e("redis refusals not confirmed", "away 3req", outage, threeRequest, without(confirmRefusal))
	e("no repair", "flush+crash", flush, crash, without(repairs, confirmRefusal))
	e("no fence floor", "flush+clock back", flush, setBack, crash, without(fenceFloor))
	e("by-fence off", "flush", flush, without(byFence))
}
