package storetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var seedFlag = flag.Uint64("storetest.seed", 0, "run this schedule alone")

// schedules lets requests of one key, their gateways and a network that loses,
// repeats and delays do what they like, and checks after every step what the
// store has promised. Time moves only as the schedule says.
func schedules(t *testing.T, h *Harness) {
	if *seedFlag != 0 {
		runSchedule(t, h, *seedFlag)
		return
	}
	first := uint64(time.Now().UnixNano())
	for seed := first; seed < first+300; seed++ {
		if runSchedule(t, h, seed); t.Failed() {
			t.Fatalf("rerun with -storetest.seed=%d", seed)
		}
	}
}

// A gateway is one request's: what it knows and what it has done.
type gateway struct {
	owner     []byte
	fence     uint64 // of the grant that it took; 0: none
	forwarded bool
	ended     bool // forwards no more, whatever comes
	// left is when the store last heard that it released.
	left time.Duration
	gone bool
}

// A message is an operation on its way.
type message struct {
	from *gateway
	op   store.Operation
}

type schedule struct {
	*key
	rng      *rand.Rand
	now      time.Duration
	requests []*gateway
	air      []message
	trace    []string

	lease    time.Duration
	holder   *gateway // of the newest grant
	fence    uint64   // its fence
	until    time.Duration
	released bool   // the holder has released it
	told     uint16 // status of an acknowledged final word
	ran      bool   // the store has heard of a success
}

func runSchedule(t *testing.T, h *Harness, seed uint64) {
	t.Helper()
	s := &schedule{key: newKey(t, h), rng: rand.New(rand.NewPCG(seed, 1)), lease: time.Minute}
	s.policy.TTLMS = (1000 * time.Hour).Milliseconds()
	s.policy.Recovery = []wire.Recovery{wire.Hold, wire.Reacquire}[s.rng.IntN(2)]
	s.policy.MaxAttempts = int64(1 + s.rng.IntN(4))
	s.note("recovery %d, attempts %d", s.policy.Recovery, s.policy.MaxAttempts)
	for range 40 {
		s.step()
		if t.Failed() {
			for _, line := range s.trace {
				t.Log(line)
			}
			return
		}
	}
}

func (s *schedule) note(format string, a ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, a...))
}

// who is how the trace calls a gateway.
func (s *schedule) who(g *gateway) string {
	for i, r := range s.requests {
		if r == g {
			return fmt.Sprintf("o%d", i+1)
		}
	}
	return "nobody"
}

func (s *schedule) step() {
	switch n := s.rng.IntN(10); {
	case n < 2 && len(s.requests) < 5:
		g := &gateway{owner: owner()}
		s.requests = append(s.requests, g)
		s.send(g, wire.Claim)
	case n < 4:
		d := []time.Duration{time.Second, s.lease / 2, s.lease}[s.rng.IntN(3)]
		s.h.Pass(d)
		s.now += d
		s.note("%v pass", d)
	case len(s.air) > 0:
		i := s.rng.IntN(len(s.air))
		m := s.air[i]
		switch s.rng.IntN(4) {
		case 0: // a duplicate stays behind
		case 1:
			if m.op.Kind == wire.Claim { // lost; the gateway gives up
				s.take(i)
				s.note("claim of %s lost", s.who(m.from))
				s.giveUp(m.from)
				return
			}
		default:
			s.take(i)
		}
		s.deliver(m)
	}
}

func (s *schedule) take(i int) { s.air = append(s.air[:i], s.air[i+1:]...) }

func (s *schedule) send(g *gateway, kind wire.Kind) {
	op := s.operation(kind, g.owner, g.fence)
	op.Fingerprint = s.print
	if kind == wire.Claim {
		op.Fence = 0
	}
	if kind == wire.Executed || kind == wire.Complete {
		op.Status = []uint16{200, 201, 404}[int(g.fence)%3]
		op.Result = []byte(s.who(g))
	}
	s.air = append(s.air, message{g, op})
}

// giveUp ends a request that was not forwarded.
func (s *schedule) giveUp(g *gateway) {
	if !g.forwarded {
		g.ended = true
		s.send(g, wire.Release)
	}
}

func (s *schedule) deliver(m message) {
	m.op.Deadline = time.Now().Add(10 * time.Second)
	r := s.do(m.op)
	s.note("%s %d f%d -> %d f%d status %d", s.who(m.from), m.op.Kind, m.op.Fence, r.Code, r.Fence, r.Status)
	switch m.op.Kind {
	case wire.Claim:
		s.claimed(m.from, r)
	case wire.Executed, wire.Complete:
		if m.op.Status < 300 {
			s.ran = true
		}
		if r.Code == wire.OK {
			if s.told != 0 && s.told != m.op.Status {
				s.Errorf("two answers acknowledged: %d and %d", s.told, m.op.Status)
			}
			s.told = m.op.Status
		}
	case wire.Release:
		m.from.gone, m.from.left = true, s.now
		if m.from == s.holder && (m.op.Fence == 0 || m.op.Fence == s.fence) {
			s.released = true
		}
	}
}

func (s *schedule) claimed(g *gateway, r store.Reply) {
	switch r.Code {
	case wire.Created:
		if r.Fence != s.fence {
			s.granted(g, r)
		}
		switch {
		case g.ended: // nobody waits for it any more
			s.giveUp(g)
		case !g.forwarded:
			g.fence = r.Fence
			s.act(g)
		}
	case wire.Lapsed:
		s.giveUp(g)
	case wire.InFlight, wire.OutcomeUnknown:
		if s.told != 0 && r.Code == wire.OutcomeUnknown {
			s.Errorf("outcome-unknown after %d was acknowledged", s.told)
		}
	case wire.Replayed, wire.ResponseNotKept:
		if s.told != 0 && r.Status != s.told {
			s.Errorf("answered with %d after %d was acknowledged", r.Status, s.told)
		}
	}
}

// granted checks a new grant against all that must forbid it.
func (s *schedule) granted(g *gateway, r store.Reply) {
	if r.Fence <= s.fence {
		s.Errorf("fence %d after %d", r.Fence, s.fence)
	}
	if g.gone && s.now < g.left+time.Minute {
		s.Errorf("granted to %s, which released %v ago", s.who(g), s.now-g.left)
	}
	if s.told != 0 || s.ran {
		s.Errorf("granted after the store had heard that it ran (acknowledged: %d)", s.told)
	}
	if s.holder != nil && !s.released && s.now < s.until {
		s.Errorf("granted while the lease of %s lasts %v more", s.who(s.holder), s.until-s.now)
	}
	sent := 0
	for _, other := range s.requests {
		if other.forwarded {
			sent++
		}
	}
	if sent > 0 && !r.Takeover {
		s.Errorf("granted as if new although it was forwarded %d times", sent)
	}
	if sent > 0 && s.policy.Recovery == wire.Hold {
		s.Errorf("granted under hold although it was forwarded")
	}
	if sent >= int(s.policy.MaxAttempts) {
		s.Errorf("granted after %d of %d attempts were forwarded", sent, s.policy.MaxAttempts)
	}
	s.holder, s.fence, s.until, s.released = g, r.Fence, s.now+s.lease, false
}

// act is what a gateway does with its grant: not forward at all, or forward and
// tell what came of it.
func (s *schedule) act(g *gateway) {
	n := s.rng.IntN(6)
	if n == 0 {
		s.giveUp(g)
		return
	}
	g.forwarded, g.ended = true, true
	switch n {
	case 1: // the gateway dies
	case 2:
		s.send(g, wire.Unknown)
	case 3:
		s.send(g, wire.Executed)
	default:
		if n == 4 {
			s.send(g, wire.Executed)
		}
		s.send(g, wire.Complete)
	}
}
