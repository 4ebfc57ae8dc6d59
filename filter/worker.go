package filter

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// The periods of ticks that a worker asks for.
const (
	// tickBusy: operations wait behind batches under way.
	tickBusy = 5 * time.Millisecond
	// tickWaiting: operations or streams wait for their next try.
	tickWaiting = 25 * time.Millisecond
	// tickLive: streams hold leases that may have to be renewed.
	tickLive = 250 * time.Millisecond
)

// Rule is a rule as the core uses it, with what can be computed once.
type Rule struct {
	*rules.Rule
	policy  wire.Policy
	timeout string // upstream_timeout in milliseconds
	drop    map[string]bool
	keep    map[string]bool
	// statuses are those of refusals that are not the default; nil: none.
	statuses map[Code]uint32
	// outcomes is the meaning of each status.
	outcomes *[600]rules.Outcome
	counts   counts // repeats that are not in a batch yet
	tallied  bool   // there are some
	slot     uint16 // index of policy in the batch numbered batch
	batch    uint32
	needs    time.Duration // what a lease must still cover to forward
	// Algorithms of the fingerprint's parts.
	bodyAlgorithm, headersAlgorithm wire.Algorithm
	comparison                      canon.Comparison
	callers                         []caller
	keys                            []keySource
	formKeys                        bool // one of keys is in a form
}

// Worker is the state of one Envoy worker. It is used by one goroutine.
type Worker struct {
	cfg   *rules.Config
	rules map[*rules.Rule]*Rule
	named map[string]*rules.Rule
	// misrouted is the rule of requests whose route names none of ours, ambiguous
	// that of requests whose path leads readers to different ones.
	misrouted, ambiguous *Rule
	// ambiguousObserved is ambiguous where all of those rules observe.
	ambiguousObserved *Rule
	// judging has rules that observe judge requests as if they enforced.
	judging   bool
	discovery discovery
	owner     [wire.OwnerBytes]byte
	counter   uint64
	b         batcher
	done      cache
	speech    speech
	tallies   []*Rule // those with repeats to be told of
	local     *local  // nil: no rule needs it, or the host has none

	waiting      []*task            // settling operations between two tries
	owed         map[recordID]*task // those of unprotected requests, by record
	followers    []*task            // claims that wait for one of owed
	pending      int                // settling operations that are not acknowledged
	pendingBytes int
	pendingTexts int                // bytes of their names, keys and callers
	captured     int                // bytes of responses that streams hold
	read         int                // bytes of request bodies that streams hold
	live         []*Stream          // forwarded streams, whose leases are renewed
	gatewayKey   []byte             // of proofs for gateways of the own namespace; nil: there is no secret
	handed       map[string]*Stream // claims whose stream Envoy continues, by token
	room         waitRoom           // streams that wait for a concurrent request
	epoch        int64              // unix nanoseconds at event time 0; 0: not known

	// The digests of the latest request's method and target.
	lastMethod, lastPath textDigest

	effects []Effect
	spent   []Effect
	tick    time.Duration
}

// NewWorker makes a worker for a validated configuration. seed is 128 random
// bits, drawn anew for each VM: owners begin with it.
func NewWorker(cfg *rules.Config, seed [16]byte) *Worker {
	w := &Worker{cfg: cfg, rules: make(map[*rules.Rule]*Rule, len(cfg.Rules)), done: newCache(), room: newWaitRoom(), owed: map[recordID]*task{},
		named: make(map[string]*rules.Rule, len(cfg.Rules)), misrouted: &Rule{Rule: &rules.Rule{Name: "misrouted"}}, ambiguous: &Rule{Rule: rules.Ambiguous},
		ambiguousObserved: &Rule{Rule: rules.AmbiguousObserved}}
	copy(w.owner[:], seed[:])
	if cfg.Discovery != "" {
		w.discovery = newDiscovery(cfg)
	}
	for _, r := range cfg.Rules {
		w.rules[r] = compile(r)
		w.named[r.Name] = r
	}
	return w
}

func compile(r *rules.Rule) *Rule {
	c := &Rule{Rule: r,
		policy: wire.Policy{
			Generation:     r.Generation,
			TTLMS:          r.Completed.TTL.Milliseconds(),
			TombstoneMS:    r.Completed.TombstoneTTL.Milliseconds(),
			LeaseMS:        r.Recovery.Lease.Milliseconds(),
			MaxAttempts:    int64(r.Recovery.MaxAttempts),
			Recovery:       wire.Recovery(r.Recovery.Action),
			Issued:         r.Key.Issued,
			RejectRepeat:   r.Completed.Action == rules.Reject,
			Replicas:       int64(r.Durability.Replicas),
			PreviousScopes: strings.Join(r.PreviousScopes, ","),
		},
		timeout: itoa(r.UpstreamTimeout.Milliseconds()),
		needs:   r.UpstreamTimeout + rules.Margin,

		bodyAlgorithm:    bodyAlgorithm(&r.Fingerprint),
		headersAlgorithm: headersAlgorithm(&r.Fingerprint),
		comparison:       comparison(&r.Fingerprint),
	}
	c.callers = callersOf(&r.Principal)
	c.keys, c.formKeys = keySourcesOf(&r.Key)
	c.outcomes = r.Outcomes.Table()
	for _, o := range r.Statuses {
		if c.statuses == nil {
			c.statuses = map[Code]uint32{}
		}
		c.statuses[Code(o.Code)] = uint32(o.Status)
	}
	c.drop, c.keep = setOf(r.Record.DropHeaders), setOf(r.Record.KeepHeaders)
	return c
}

func setOf(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// Config returns the configuration that the worker was made with.
func (w *Worker) Config() *rules.Config { return w.cfg }

// Match is [Worker.Select] for a request of which method and path are known.
func (w *Worker) Match(method, path string) *Rule { return w.enforced(w.cfg.Match(method, path)) }

// MatchIssue reports whether a request asks for a key, about one, or about the
// rules: the filter answers it itself.
func (w *Worker) MatchIssue(method, path string) bool {
	return w.cfg.IsIssue(method, path) || w.cfg.IsLookup(method, path) || w.cfg.IsDiscovery(method, path)
}

// nextOwner returns an owner that no claim has had.
func (w *Worker) nextOwner() []byte {
	w.counter++
	o := make([]byte, wire.OwnerBytes)
	copy(o, w.owner[:])
	binary.BigEndian.PutUint64(o[16:], w.counter)
	return o
}

func (w *Worker) emit(e Effect)  { w.effects = append(w.effects, e) }
func (w *Worker) count(m Metric) { w.emit(Effect{Kind: Count, Metric: m, N: 1}) }

// Effects returns what has to be done since the last call; nil: nothing. The
// slice is valid until the call after the next. Carrying effects out may make
// new ones (a callout that the host refuses): call until it returns nil.
func (w *Worker) Effects() []Effect {
	if len(w.effects) == 0 {
		return nil
	}
	out := w.effects
	clear(w.spent)
	w.effects, w.spent = w.spent[:0], out
	return out
}

// Tick lets time pass.
func (w *Worker) Tick(now int64) {
	w.resumeWaiting(now)
	w.resumeWaiters(now)
	w.renewLeases(now)
	w.abandonHanded(now)
	w.expireQueued(now)
	w.expireFollowers(now)
	w.pump(now)
	want := w.wanted()
	if want != w.tick {
		w.setTick(want)
	}
}

// schedule asks for more frequent ticks where they are needed. Slower ones are
// asked for only in Tick, so that short requests do not move the timer.
func (w *Worker) schedule() {
	if want := w.wanted(); want != 0 && (w.tick == 0 || want < w.tick) {
		w.setTick(want)
	}
}

func (w *Worker) wanted() time.Duration {
	switch {
	case w.b.queued():
		return tickBusy
	case len(w.waiting) > 0 || w.room.n > 0 || len(w.followers) > 0:
		return tickWaiting
	case len(w.live) > 0 || len(w.handed) > 0:
		return tickLive
	}
	return 0
}

func (w *Worker) setTick(d time.Duration) {
	w.tick = d
	w.emit(Effect{Kind: SetTick, TickMS: uint32(d / time.Millisecond)})
}

// Pending returns the number of operations that end a claim and are not
// acknowledged yet.
func (w *Worker) Pending() int { return w.pending }
