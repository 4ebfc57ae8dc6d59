package model

// everyRecovery in the order of the expectations.
var everyRecovery = []recovery{reacquire, probe, hold}

// A runList collects runs. Each function that adds to it is one family, named by
// a letter that its runs begin with.
type runList []Config

func (l *runList) add(name string, r recovery, m mode, changes ...func(*Config)) {
	c := Config{Name: name, Recovery: r, Mode: m, Requests: 2, Claims: 1}
	if m == held {
		c.Claims = 2
	}
	for _, change := range changes {
		change(&c)
	}
	*l = append(*l, c)
}

// Runs lists every run, in the order of golden.txt.
//
//	H  executed before or after the reply, every rule on, no ledger
//	J  the same with the ledger
//	P  issued keys; a lost record that unknown makes again is not held
//	K  one rule of executed off
//	Q  one rule of issued keys off, and the hold on
//	R  renew: the lease lives by renewals alone, and one is lost
//	S  max_attempts, and a backend that refuses old fences
//	A  one complete after the whole response, every rule on, no ledger
//	B  one rule off
//	C  failover and flush without a ledger
//	D  the ledger, every rule on
//	E  the ledger, one rule off
//	F  unavailable: forward
//	G  lives end
//	T  issued keys, every rule on
//	U  released owners: forgotten by a record that is another's, or not
func Runs() []Config {
	var l runList
	for _, r := range everyRecovery {
		l.families(r, before, "before")
		l.families(r, after, "after")
		l.executedRules(r)
		l.issuedRules(r)
		l.renewals(r)
	}
	l.attempts()
	l.wholeResponse()
	for _, r := range everyRecovery {
		l.issuedHeld(r, before, "before")
		l.issuedHeld(r, after, "after")
	}
	for _, r := range everyRecovery {
		l.leavers(r)
	}
	return l
}

// Faults.
func crash(c *Config)      { c.Crashes = 1 }
func stall(c *Config)      { c.Stalls = true }
func failover(c *Config)   { c.Failovers = 1 }
func flush(c *Config)      { c.Flushes = 1 }
func outage(c *Config)     { c.Outages = 1 }
func setBack(c *Config)    { c.SetBacks = 1 }
func loseIndex(c *Config)  { c.IndexLosses = 1 }
func duplicates(c *Config) { c.Duplicates = true }

// Settings.
func claimTwice(c *Config)   { c.Claims = 2 }
func claimOnce(c *Config)    { c.Claims = 1 }
func threeRequest(c *Config) { c.Requests, c.Claims = 3, 1 }
func withLedger(c *Config)   { c.Ledger, c.Claims = true, 1 }
func withWait(c *Config)     { c.Wait = true }
func forward(c *Config)      { c.Forward = true }
func expires(c *Config)      { c.Expires = true }
func twoAttempts(c *Config)  { c.Attempts = 2 }
func afterReply(c *Config)   { c.Mode = after }
func loseRenewal(c *Config)  { c.LostRenewals, c.RenewOver = 1, true }
func renewLive(c *Config)    { c.RenewOver = false }

func olderIs(o older) func(*Config)    { return func(c *Config) { c.Older = o } }
func shortWaits(s short) func(*Config) { return func(c *Config) { c.Short = s } }

// issuedKey is without the hold on restored records; issuedKeyHeld is with it.
func issuedKey(c *Config)     { c.Issued = true; without(issuedHeld)(c) }
func issuedKeyHeld(c *Config) { c.Issued = true }

// olderStale switches both rules on older fences off.
func olderStale(c *Config) { c.Older = stale; without(olderOnFree)(c) }

func (l *runList) families(r recovery, m mode, name string) {
	n := "H " + name + "/" + r.String()
	l.add(n+" crash", r, m, crash)
	l.add(n+" crash, duplicates, claim twice", r, m, crash, duplicates, claimTwice)
	l.add(n+" crash 3req", r, m, crash, threeRequest)
	l.add(n+" stall", r, m, stall, claimTwice)
	l.add(n+" redis away", r, m, outage)
	l.add(n+" failover+crash, WAIT", r, m, failover, withWait, crash)
	l.add(n+" failover+crash, no durability", r, m, failover, crash)
	l.add(n+" flush+crash, WAIT", r, m, flush, withWait, crash)

	n = "J ledger " + name + "/" + r.String()
	l.add(n+" failover+crash", r, m, withLedger, failover, crash)
	l.add(n+" flush+crash", r, m, withLedger, flush, crash)
	l.add(n+" away+crash", r, m, withLedger, outage, crash)
	l.add(n+" stall", r, m, withLedger, stall)
	l.add(n+" flush 3req", r, m, withLedger, flush, threeRequest)

	n = "P issued " + name + "/" + r.String()
	l.add(n+" crash", r, m, issuedKey, crash, duplicates)
	l.add(n+" flush+crash 3req", r, m, issuedKey, flush, crash, threeRequest)
	l.add(n+" failover+crash, WAIT", r, m, issuedKey, failover, withWait, crash)
	l.add(n+" failover, no durability", r, m, issuedKey, failover)
	l.add(n+" ledger flush+crash", r, m, withLedger, issuedKey, flush, crash)
	l.add(n+" ledger away+crash", r, m, withLedger, issuedKey, outage, crash)
}

func (l *runList) executedRules(r recovery) {
	k := func(rule, setting string, changes ...func(*Config)) {
		l.add("K "+rule+"/"+r.String()+setting, r, before, changes...)
	}
	onlyCurrent := func(c *Config) { olderStale(c); without(byFence)(c) }
	k("old fence stale", " crash 3req", crash, threeRequest, olderStale)
	k("old fence stale on live, accepted on not live", " crash 3req", crash, threeRequest, olderIs(stale))
	k("old fence takes the record", " crash 3req", crash, threeRequest, olderIs(accept))
	k("old fence noted on live, stale on not live", " crash 3req", crash, threeRequest, without(olderOnFree))
	k("old fence stale", " flush 3req", flush, threeRequest, olderStale)
	k("ledger old fence stale", " crash 3req", withLedger, crash, threeRequest, olderStale)
	k("ledger old fence noted", " crash 3req", withLedger, crash, threeRequest)
	k("EXECUTED over is re-acquired", " crash", crash, without(executedIsFinal))
	k("complete on EXECUTED from anybody", " crash 3req", crash, threeRequest, without(executedHasOwner))
	k("executed only cur (not on absent, newer)", " failover, WAIT", failover, withWait, onlyCurrent)
	k("executed only cur", " failover, none", failover, onlyCurrent)
	k("no executed, only complete: after", " crash", afterReply, crash, without(tellExecution))
	k("WAIT not on executed", " failover+crash", failover, withWait, crash, without(waitExecuted))
	k("WAIT not on response-not-kept", " failover+crash", failover, withWait, crash, without(waitNotKept))
	k("WAIT not on response-not-kept", " failover+crash 3req", failover, withWait, crash, threeRequest, without(waitNotKept))
	k("WAIT not on response-not-kept", " failover 3req", failover, withWait, threeRequest, without(waitNotKept))
	k("executed kept pending after complete", " flush+crash", flush, crash, without(settle))
	k("ledger: redis first", " flush+crash", withLedger, flush, crash, without(ledgerFirst))
	k("ledger: refusals not confirmed", " away+crash", withLedger, outage, crash, without(confirmRefusal))
}

func (l *runList) issuedRules(r recovery) {
	q := func(rule, setting string, changes ...func(*Config)) {
		l.add("Q issued: "+rule+"/"+r.String()+setting, r, before, changes...)
	}
	q("RELEASED is granted", " flush+crash 3req", issuedKey, flush, crash, threeRequest, without(issuedReleasedLost))
	q("ISSUED forgets who released", " crash", issuedKey, crash, duplicates, claimTwice, without(issuedReleaser))
	q("restored UNKNOWN is held", " flush+crash 3req", issuedKeyHeld, flush, crash, threeRequest)
	q("release gives RELEASED", " crash", issuedKey, crash, without(issuedAgain))
	q("ledger, redis refuses absent", " flush+crash", withLedger, issuedKey, flush, crash, without(issuedAsksLedger))
}

func (l *runList) issuedHeld(r recovery, m mode, name string) {
	n := "T issued, held " + name + "/" + r.String()
	l.add(n+" crash", r, m, issuedKeyHeld, crash, duplicates)
	l.add(n+" redis away", r, m, issuedKeyHeld, outage)
	l.add(n+" failover+crash, WAIT", r, m, issuedKeyHeld, failover, withWait, crash)
	l.add(n+" failover, no durability", r, m, issuedKeyHeld, failover)
	l.add(n+" flush+crash", r, m, issuedKeyHeld, flush, crash)
}

func (l *runList) leavers(r recovery) {
	for _, key := range []struct {
		name   string
		change func(*Config)
	}{{"client", claimOnce}, {"issued", issuedKeyHeld}} {
		n := "/" + key.name + "/" + r.String()
		l.add("U released owners remembered"+n, r, before, key.change, claimTwice)
		l.add("U released owners forgotten"+n, r, before, key.change, claimTwice, without(leaversKept))
	}
	l.add("U released owners remembered/client/"+r.String()+" crash 3req", r, before, crash, threeRequest)
	l.add("U released owners forgotten/client/"+r.String()+" crash 3req", r, before, crash, threeRequest, without(leaversKept))
}

func (l *runList) renewals(r recovery) {
	n := "/" + r.String()
	l.add("R renew"+n+" crash", r, before, loseRenewal, crash)
	l.add("R renew, not when over"+n+" crash", r, before, loseRenewal, crash, renewLive)
	l.add("R renew, reconcile does not compare over"+n+" crash", r, before, loseRenewal, crash, without(verdictIfOver))
	l.add("R renew 3req"+n, r, before, loseRenewal, threeRequest)
	l.add("R ledger renew"+n+" flush", r, before, withLedger, loseRenewal, flush)
}

func (l *runList) attempts() {
	s := func(name, setting string, changes ...func(*Config)) {
		l.add("S "+name+"/reacquire "+setting, reacquire, before, append(changes, threeRequest)...)
	}
	s("max_attempts 2", "crash 3req", twoAttempts, crash)
	s("max_attempts 2, ledger", "crash 3req", withLedger, twoAttempts, crash)
	s("max_attempts 2, release keeps the attempt", "crash 3req", twoAttempts, crash, without(attemptBack))
	for _, old := range []struct {
		name string
		set  func(*Config)
	}{
		{"note", olderIs(note)}, {"accept", olderIs(accept)}, {"stale", olderStale},
	} {
		for _, taken := range []struct {
			name string
			set  func(*Config)
		}{
			{"release", func(c *Config) { c.BackendFence = true }},
			{"result", func(c *Config) { c.BackendFence, c.RefusalIsResult = true, true }},
			{"result heard from old fences", func(c *Config) {
				c.BackendFence, c.RefusalIsResult = true, true
				without(olderNeedsOK)(c)
			}},
		} {
			n := "backend refuses old fence, taken as " + taken.name + ", old " + old.name
			s(n, "crash 3req", taken.set, old.set, crash)
			s(n, "renew lost 3req", taken.set, old.set, loseRenewal)
		}
	}
}
