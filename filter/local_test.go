package filter

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// sharedData behaves as proxy-wasm's: a first write compares nothing, and
// nothing is deleted.
type sharedData struct {
	mu    sync.Mutex
	slots map[int]sharedValue
	clock atomic.Int64
	sets  atomic.Int64
}

type sharedValue struct {
	value []byte
	cas   uint32
}

func newShared() *sharedData {
	m := &sharedData{slots: map[int]sharedValue{}}
	m.clock.Store(int64(1_800_000_000 * time.Second))
	PrepareLocal(m, [16]byte{7})
	return m
}

func (m *sharedData) Get(slot int) ([]byte, uint32, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.slots[slot]
	return v.value, v.cas, ok
}

func (m *sharedData) Set(slot int, value []byte, cas uint32) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.slots[slot]
	if ok && cas != 0 && cas != v.cas {
		return false
	}
	m.sets.Add(1)
	m.slots[slot] = sharedValue{append([]byte(nil), value...), v.cas + 1}
	return true
}

func (m *sharedData) Clock() int64 { return m.clock.Load() }

func localRig(t failer, m Shared, recovery string) *rig {
	cfg, err := rules.Parse(fmt.Appendf(nil, `{
 "namespace": "edge", "bridge": {"cluster": "bridge", "timeout": "200ms"},
 "envoy": {"allow_on_headers_stop_iteration": true},
 "rules": [{"name": "local", "match": {"path": {"prefix": "/local"}}, "principal": {"header": "x-user-id", "trusted": true},
  "upstream_timeout": "5s", "recovery": {"lease": "10s", %s}, "unavailable": "local"}]}`, recovery))
	if err != nil {
		t.Fatal(err)
	}
	g := rigWith(t, cfg)
	if m != nil {
		g.w.UseLocal(m)
	}
	return g
}

const holds, reacquires = `"action": "hold"`, `"action": "reacquire", "backend_checks_fence": true`

// alone opens a request while the store is away.
func (g *rig) alone(key string) *seen {
	s := g.open("POST", "/local", key, true)
	for range 4 {
		if len(g.flights) > 0 {
			g.fail(0)
		}
	}
	return s
}

// Each round, four workers claim one key at once while the store is away: one
// may forward.
func TestLocalClaimsHaveOneWinner(t *testing.T) {
	const workers = 4
	rounds := 10_000
	m := newShared()
	var winners [10_000]atomic.Int32
	var refused atomic.Int64
	gates := make([]sync.WaitGroup, rounds)
	for i := range gates {
		gates[i].Add(workers)
	}
	var all sync.WaitGroup
	for w := range workers {
		l := local{shared: m, salt: [16]byte{7}}
		all.Go(func() {
			owner := make([]byte, 24)
			owner[0] = byte(w)
			for i := range rounds {
				gates[i].Done()
				gates[i].Wait()
				there, granted := l.claim(makeRecordID("s", "p", fmt.Sprint("k", i)), owner, []byte("fp"), time.Minute, time.Hour, false)
				switch {
				case granted:
					winners[i].Add(1)
				case there != nil && there.state == localInFlight:
					refused.Add(1)
				}
			}
		})
	}
	all.Wait()
	full := 0
	for i := range rounds {
		switch winners[i].Load() {
		case 1:
		case 0:
			full++ // no room in its slot
		default:
			t.Fatalf("round %d: %d winners", i, winners[i].Load())
		}
	}
	if full > rounds/100 {
		t.Errorf("%d of %d keys found no room", full, rounds)
	}
	if want := int64((workers - 1) * (rounds - full)); refused.Load() != want {
		t.Errorf("%d told in-flight, want %d", refused.Load(), want)
	}
}

// What was let through is known to every worker while the store is away, told
// to the bridge when it is back, and from then on the bridge decides.
func TestLocalAndTheWayBack(t *testing.T) {
	m := newShared()
	one, two := localRig(t, m, holds), localRig(t, m, holds)
	first := one.alone("k")
	if first.code() != string(CodeUnprotected) {
		t.Fatalf("first: %q", first.code())
	}
	if got := two.alone("k").code(); got != string(CodeInFlight) {
		t.Errorf("concurrent, other worker: %q", got)
	}
	one.respond(first, upstream(201), true)
	for len(one.flights) > 0 {
		one.fail(0)
	}
	if first.released != 1 || first.response[HeaderStatus] != string(CodeUnprotected) {
		t.Fatalf("released %d times as %q", first.released, first.response[HeaderStatus])
	}
	for _, g := range []*rig{one, two} {
		if got := g.alone("k").code(); got != string(CodeResponseNotKept) {
			t.Errorf("finished: %q", got)
		}
	}
	// The store is back and the completion has not arrived: a claim would be
	// granted, so none is made.
	if before := len(two.flights); two.open("POST", "/local", "k", true).code() != string(CodeResponseNotKept) || len(two.flights) != before {
		t.Error("claimed at the bridge before the bridge knew")
	}
	for range 20 {
		one.settleDown()
	}
	if r := one.records[recordKey(first.core)]; r == nil || r.state != "C" {
		t.Fatalf("the bridge's record: %+v", r)
	}
	two.records = one.records
	two.w.b.breaker = breaker{}
	again := two.open("POST", "/local", "k", true)
	two.answerAll()
	if again.code() != string(CodeReplayed) {
		t.Errorf("after the way back: %q", again.code())
	}
}

func TestLocalOtherFingerprint(t *testing.T) {
	m := newShared()
	g := localRig(t, m, holds)
	g.alone("k")
	s := g.open("PUT", "/local", "k", true)
	for len(g.flights) > 0 {
		g.fail(0)
	}
	if s.code() != string(CodeKeyReused) {
		t.Errorf("%q", s.code())
	}
}

// A request that provably did not run frees its key; one whose outcome is not
// known does not, until its lease is over under reacquire.
func TestLocalReleaseAndUnknown(t *testing.T) {
	for recovery, after := range map[string]Code{holds: CodeOutcomeUnknown, reacquires: CodeUnprotected} {
		m := newShared()
		g := localRig(t, m, recovery)
		s := g.alone("free")
		g.respond(s, upstream(429), true)
		if got := g.alone("free").code(); got != string(CodeUnprotected) {
			t.Errorf("after a release: %q", got)
		}
		s = g.alone("lost")
		g.finish(s, Trail{Attempts: 1})
		for len(g.flights) > 0 {
			g.fail(0)
		}
		if got := g.alone("lost").code(); got != string(CodeOutcomeUnknown) {
			t.Errorf("outcome not known: %q", got)
		}
		m.clock.Add(int64(10 * time.Second))
		if got := g.alone("lost").code(); got != string(after) {
			t.Errorf("%s, lease over: %q, want %q", recovery, got, after)
		}
	}
}

// Keys spread over the slots by chance, and one whose slot is full is refused while
// the rest of the table stands empty: slots are few and large, so that this takes a
// table that is a third full.
func TestLocalHasRoomForAThird(t *testing.T) {
	l := local{shared: newShared(), salt: [16]byte{1}}
	owner := make([]byte, 24)
	for i := range LocalSlots * localEntries / 3 {
		if _, granted := l.claim(makeRecordID("s", "p", fmt.Sprint(i)), owner, nil, time.Minute, time.Hour, false); !granted {
			t.Fatalf("no room for key %d", i)
		}
	}
}

// A full slot refuses; an entry that the bridge knows of makes room.
func TestLocalSlotIsBounded(t *testing.T) {
	l := local{shared: newShared()}
	slot := -1
	var ids []recordID
	for i := 0; len(ids) < localEntries+2; i++ {
		id := makeRecordID("s", "p", fmt.Sprint(i))
		if at, _ := l.place(id); slot < 0 || at == slot {
			slot = at
			ids = append(ids, id)
		}
	}
	owner := make([]byte, 24)
	for i, id := range ids[:localEntries] {
		if _, granted := l.claim(id, owner, nil, time.Minute, time.Hour, false); !granted {
			t.Fatalf("entry %d found no room", i)
		}
	}
	if there, granted := l.claim(ids[localEntries], owner, nil, time.Minute, time.Hour, false); granted || there != nil {
		t.Fatalf("one more: granted %t, there %v", granted, there)
	}
	l.update(ids[3], owner, func(e *localEntry) bool { e.told = true; return true })
	if _, granted := l.claim(ids[localEntries], owner, nil, time.Minute, time.Hour, false); !granted {
		t.Error("no room where the bridge knows an entry")
	}
	if l.find(ids[3]) != nil || l.find(ids[0]) == nil {
		t.Error("another entry made room")
	}
	l.shared.(*sharedData).clock.Add(int64(time.Hour))
	if _, granted := l.claim(ids[localEntries+1], owner, nil, time.Minute, time.Hour, false); !granted {
		t.Error("entries outlive their life")
	}
}

// Making the slots again forgets nothing.
func TestPrepareLocalKeepsWhatIsThere(t *testing.T) {
	m := newShared()
	l := local{shared: m, salt: [16]byte{7}}
	id := makeRecordID("s", "p", "k")
	l.claim(id, make([]byte, 24), nil, time.Minute, time.Hour, false)
	before := m.sets.Load()
	PrepareLocal(m, [16]byte{9})
	if m.sets.Load() != before || l.find(id) == nil {
		t.Error("slots were written again")
	}
	if w := localRig(t, m, holds).w; w.local == nil || w.local.salt != [16]byte{7} {
		t.Error("the salt changed")
	}
}

// Without the table the rule refuses.
func TestLocalWithoutTable(t *testing.T) {
	if got := localRig(t, nil, holds).alone("k").code(); got != string(CodeUnavailable) {
		t.Errorf("%q", got)
	}
}

// A change of the rule while the store is away turns no retry into another
// request.
func TestLocalPrint(t *testing.T) {
	fp := func(a wire.Algorithm, digest byte) localPrint {
		b := wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartMethod, wire.AlgorithmFixed, [wire.DigestBytes]byte{1})
		return printOf(wire.AppendPart(b, wire.PartBody, a, [wire.DigestBytes]byte{digest}))
	}
	if !fp(20, 1).conflicts(fp(20, 2)) {
		t.Error("another body of the same algorithm does not conflict")
	}
	if fp(20, 1).conflicts(fp(21, 2)) || fp(20, 1).conflicts(fp(20, 1)) {
		t.Error("an honest retry conflicts")
	}
}
