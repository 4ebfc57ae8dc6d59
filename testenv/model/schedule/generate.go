package schedule

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Length is the number of actions of a generated schedule.
const Length = 40

// weights say how often each verb is drawn.
var weights = []struct {
	verb   Verb
	weight int
}{
	{Verb(wire.Issue), 4}, {Verb(wire.Claim), 30}, {Verb(wire.Executed), 10}, {Verb(wire.Complete), 10},
	{Verb(wire.Release), 9}, {Verb(wire.Unknown), 9}, {Verb(wire.Renew), 7},
	{DecideComplete, 2}, {DecideExecute, 2}, {DecideFree, 4}, {DecideExtend, 2},
	{FindResult, 2}, {FindExecuted, 2}, {FindNothing, 4}, {Tidy, 1}, {Walk, 1}, {Look, 3},
	{Repeat, 5}, {Pass, 18}, {SetBack, 1},
	{LoseIndex, 2}, {LoseResult, 2}, {LoseRecord, 2}, {LoseAll, 1}, {LoseScripts, 1},
}

// large is a result that does not share a connection.
var large = strings.Repeat("large ", 12<<10)

type generator struct {
	rng          *rand.Rand
	keys, owners int
	policies     []wire.Policy
	shortest     time.Duration
	spans        []time.Duration
}

// Generate makes the schedule that seed names. shortest bounds the lives of
// answers: where the clock runs, none may end by itself within a schedule.
func Generate(seed uint64, shortest time.Duration) []Action {
	g := generator{rng: rand.New(rand.NewPCG(seed, 0x6f6e6365)), shortest: shortest}
	g.keys, g.owners = 1+g.rng.IntN(3), 2+g.rng.IntN(3)
	// One rule and, more seldom, others for the same keys: rules change, and bridges
	// learn of it one after the other.
	for range 3 {
		g.policies = append(g.policies, g.policy())
	}
	for _, p := range g.policies[:2] {
		ms := time.Millisecond
		lease, ttl := time.Duration(p.LeaseMS)*ms, time.Duration(p.TTLMS)*ms
		tomb := time.Duration(p.TombstoneMS) * ms
		g.spans = append(g.spans, lease, lease-ms, lease/2, ttl, ttl-ms, ttl-400*time.Microsecond, tomb, lease+ttl+tomb)
	}
	g.spans = append(g.spans, time.Millisecond, 400*time.Microsecond, time.Minute, time.Second)
	var actions []Action
	for len(actions) < Length {
		if g.chance(8) {
			actions = append(actions, g.story()...)
		} else {
			actions = append(actions, g.action())
		}
	}
	return actions[:Length]
}

// story is a few actions that lead where chance alone seldom does: to a take-over,
// to a note, or into the last moments of a life.
func (g *generator) story() []Action {
	p := g.policies[0]
	a := Action{Key: g.rng.IntN(g.keys), Policy: p, Print: 'a', Fence: OwnFence, Status: 200}
	do := func(kind wire.Kind, owner int) Action {
		a := a
		a.Verb, a.Owner = Verb(kind), owner
		return a
	}
	wait := func(d time.Duration) Action { return Action{Verb: Pass, Time: max(d, time.Microsecond)} }
	lease := time.Duration(p.LeaseMS) * time.Millisecond
	life := max(time.Duration(p.TTLMS)*time.Millisecond, lease)
	const part = 400 * time.Microsecond
	first := g.rng.IntN(g.owners)
	second := (first + 1) % g.owners
	found := Action{Verb: FindNothing, Key: a.Key, Theirs: true, Fence: RecordFence}
	switch g.rng.IntN(10) {
	case 8:
		// A claim comes later than its release.
		claim := []Action{do(wire.Claim, first), do(wire.Release, second)}
		if g.chance(50) {
			return append(claim, do(wire.Release, first), do(wire.Claim, second))
		}
		return append(claim, wait(lease), do(wire.Claim, second), do(wire.Claim, first))
	case 9:
		// More give up than a record remembers.
		many := []Action{do(wire.Claim, 0)}
		for o := 1; o < maxOwners-1; o++ {
			many = append(many, do(wire.Release, o))
		}
		return append(many, do(wire.Release, 0), do(wire.Claim, 1+g.rng.IntN(maxOwners-1)))
	case 0:
		return []Action{do(wire.Claim, first), wait(lease), do(wire.Claim, second)}
	case 1:
		// Lives are kept in whole milliseconds, rounded up.
		return []Action{do(wire.Executed, first), wait(part), do(wire.Renew, first), wait(life - part), do(wire.Claim, second)}
	case 2:
		// A result that outlives its record must not become another answer's.
		kept, none := do(wire.Complete, first), do(wire.Complete, second)
		kept.Body = "r"
		if g.chance(50) {
			decided := Action{Verb: DecideComplete, Key: a.Key, Owner: second, Fence: RecordFence, Status: 200}
			return []Action{
				kept, {Verb: LoseRecord, Key: a.Key}, do(wire.Claim, second), wait(lease), decided, do(wire.Claim, first),
			}
		}
		return []Action{kept, {Verb: LoseRecord, Key: a.Key}, none, do(wire.Claim, first)}
	case 3:
		noted, last := do(wire.Executed, second), do(wire.Claim, second)
		noted.Fence = OlderFence
		switch g.rng.IntN(3) {
		case 0:
			last = Action{Verb: DecideFree, Key: a.Key, Owner: second, Fence: RecordFence}
		case 1:
			last = found
		}
		return []Action{do(wire.Claim, first), noted, wait(lease), last}
	}
	issue := do(wire.Issue, first)
	issue.Time = time.Second
	issue.Policy.Issued = true
	switch g.rng.IntN(3) {
	case 0:
		issue.Time = time.Hour
		return []Action{issue, do(wire.Claim, first), wait(lease), found, do(wire.Claim, second)}
	case 1:
		lost := do(wire.Unknown, first)
		lost.Policy.Issued, lost.Fence = true, NewerFence
		return []Action{{Verb: LoseRecord, Key: a.Key}, lost, wait(lease), found}
	}
	return []Action{issue, do(wire.Claim, first), do(wire.Release, first), wait(time.Second), do(wire.Claim, second)}
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func (g *generator) policy() wire.Policy {
	return wire.Policy{
		Generation:  pick(g.rng, "g1", "g2", "g:3", ""),
		TTLMS:       max(pick[int64](g.rng, 1, 1500, 60_000, 600_000), g.shortest.Milliseconds()),
		TombstoneMS: pick[int64](g.rng, 0, 0, 20_000, 300_000),
		LeaseMS:     pick[int64](g.rng, 1000, 1001, 30_000, 120_000),
		MaxAttempts: pick[int64](g.rng, 0, 1, 2, 3, 5),
		Recovery:    pick(g.rng, wire.Hold, wire.Probe, wire.Reacquire, wire.Reacquire, wire.Reacquire),
		Issued:      g.chance(30), RejectRepeat: g.chance(15),
	}
}

func (g *generator) action() Action {
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	n := g.rng.IntN(total)
	a := Action{}
	for _, w := range weights {
		if n < w.weight {
			a.Verb = w.verb
			break
		}
		n -= w.weight
	}
	a.Key, a.Owner = g.rng.IntN(g.keys), g.rng.IntN(g.owners)
	if a.Verb == Pass || a.Verb == SetBack {
		a.Time = max(pick(g.rng, g.spans...), time.Microsecond)
		return a
	}
	if a.tending() {
		return a
	}
	if a.finding() {
		a.Theirs = g.chance(85)
	}
	if a.decision() || a.finding() {
		a.Fence = pick(g.rng, RecordFence, RecordFence, RecordFence, RecordFence, NoFence, OlderFence)
		a.Status, a.Body = pick[uint16](g.rng, 200, 409), pick(g.rng, "", "r")
		a.Time = pick(g.rng, 0, time.Second, time.Minute)
		return a
	}
	a.Policy = g.policies[0]
	if g.chance(25) {
		a.Policy = pick(g.rng, g.policies...)
	}
	switch wire.Kind(a.Verb) {
	case wire.Issue:
		a.Time = pick(g.rng, time.Second, time.Minute, 10*time.Minute)
		a.Policy.Issued = true
		return a
	case wire.Claim:
	default:
		a.Fence = pick(g.rng, OwnFence, OwnFence, OwnFence, OwnFence, NoFence, RecordFence, OlderFence, NewerFence)
	}
	if g.chance(85) {
		a.Print = 'a'
		if g.chance(8) {
			a.Print = 'b'
		}
	}
	a.Asks = g.chance(50)
	if g.chance(10) {
		a.Word = max(pick(g.rng, time.Millisecond, 1500*time.Millisecond, time.Hour), g.shortest)
	}
	a.Status = pick[uint16](g.rng, 200, 201, 204, 299, 303, 404, 500)
	a.NoResult = g.chance(40)
	if !g.chance(15) {
		a.Body = pick(g.rng, "r", "s", "\x00\xff long enough to be no integer")
	}
	if g.chance(2) {
		a.Body = large
	}
	if g.chance(5) {
		a.Unprotected, a.Fence = true, NoFence
	}
	return a
}
