package model

// maxRequests bounds the requests of a run.
const maxRequests = 3

// phase is where a request's gateway is.
type phase uint8

const (
	idle      phase = iota
	waiting         // for the answer to its claim
	forwarded       // the request is with the backend
	finishing       // its last word is on the way
	ended
	gaveUp    // no answer in time: refused to the client; a late grant is released
	streaming // response headers are here, the body is on its way
)

// message is what a gateway sends after its claim.
type message uint8

const (
	noMessage message = iota
	complete
	tellUnknown
	release
	tellExecuted
)

func (m message) String() string {
	return [...]string{"nothing", "complete", "unknown", "release", "executed"}[m]
}

// effect is what the backend did with a request.
type effect uint8

const (
	notSent effect = iota
	sent
	ran
	refused // its fence was too old, and never will run
)

// report is how far a gateway's executed has come.
type report uint8

const (
	unreported report = iota
	onItsWay
	halfway // applied in the first of two stores
	acknowledged
	superseded
)

// duty is what a bridge still owes a claim.
type duty uint8

const (
	noDuty duty = iota
	askLedger
	waitReplica
	confirm
)

// How a grant was obtained, for the promises; 0 is a claim answered again.
const (
	granted uint8 = 1 + iota
	reacquired
)

// A request is one client request, its gateway, and what bridge and network hold
// of it.
type request struct {
	phase                       phase
	claims                      uint8 // claim messages in the network
	sends                       uint8 // claims sent so far
	duty                        duty
	proposed                    uint8 // fence that Redis granted, while duty is open
	reply                       answer
	replyFence, replyResult     uint8
	fence                       uint8 // of the grant taken; 0: not known
	out                         message
	stores                      uint8   // stores that out has passed
	late                        message // a duplicate of out that is still on its way
	effect                      effect
	kind                        uint8
	report                      report
	saw                         uint8 // the client's first byte: 1 unmarked, 2 marked
	after                       uint8 // started when executed (1) or complete (2) was known already
	afterSeen                   bool  // started when a client had seen an unmarked answer
	renewed, reportCopy         bool
	dead, outlived, unprotected bool // outlived: the lease ended before the grant was used
}

// A world is one state of the whole system. It is compared and hashed as a value.
type world struct {
	redis, replica, ledger                                             record
	req                                                                [maxRequests]request
	clock                                                              uint8
	failovers, flushes, crashes, outages, renewals, indexLoss, setBack uint8 // faults left
	away                                                               bool

	probe                               uint8 // under way: 1 not executed, 2 executed
	probeOwner, probeFence, probeResult uint8
	probes                              uint8

	// What promises refer to; no step reads these.
	acked      uint8 // whose result was acknowledged, replayed or told
	kept       bool  // with its body
	seen       uint8 // whose answer a client saw unmarked
	seenMarked uint8
	told       uint8 // whose success the authority has been told of and not lost
	gone       uint8 // a bit for each owner of whose release Redis has been told and not lost
	forgotten  bool  // the key's life is over: all promises end
}

func (c *Config) start() world {
	w := world{
		clock: 1, failovers: c.Failovers, flushes: c.Flushes, crashes: c.Crashes, outages: c.Outages,
		renewals: c.LostRenewals, indexLoss: c.IndexLosses, setBack: c.SetBacks,
	}
	if c.Issued {
		w.redis.state, w.replica.state = issued, issued
	}
	return w
}

// normal forgets what no later step and no promise depends on, so that worlds
// which differ in nothing else are one.
func (w *world) normal() {
	for i := range w.req {
		q := &w.req[i]
		if q.phase == ended || q.dead {
			q.after, q.afterSeen, q.outlived = 0, false, false
			q.kind, q.sends, q.saw, q.renewed = 0, 0, 0, false
		}
		if q.phase >= forwarded && q.phase != gaveUp {
			q.after, q.afterSeen, q.outlived = 0, false, false
		}
		if q.claims == 0 && q.duty == noDuty && (q.dead || q.phase != waiting && q.phase != idle) {
			// It claims nothing any more: nothing asks whether it has left.
			for _, left := range [...]*uint8{&w.redis.leavers, &w.replica.leavers, &w.ledger.leavers, &w.gone} {
				*left &^= 1 << (i + 1)
			}
		}
	}
}

// forwards counts the requests that were ever sent to the backend.
func (w *world) forwards() (n uint8) {
	for i := range w.req {
		if w.req[i].effect != notSent {
			n++
		}
	}
	return n
}

func (w *world) anyRan() bool {
	for i := range w.req {
		if w.req[i].effect == ran {
			return true
		}
	}
	return false
}

// hear is told whenever the authority is told of a success.
func (w *world) hear(me uint8) {
	if w.told == 0 && w.req[me-1].effect != refused {
		w.told = me
	}
}

// left is told whenever Redis is told of a release.
func (w *world) left(me uint8, m message) {
	if m == release {
		w.gone |= 1 << me
	}
}

// show describes the stores, for traces.
func (w *world) show(c *Config) string {
	s := "redis=" + w.redis.String()
	if w.replica != w.redis && (c.Wait || c.Failovers > 0) {
		s += " replica=" + w.replica.String()
	}
	if c.Ledger {
		s += " ledger=" + w.ledger.String()
	}
	if w.away {
		s += " [redis away]"
	}
	return s
}
