// Package storetest is the contract of a record store as tests: every row of
// docs/protocol.md's table that a store serves alone, every answer that gets
// lost after its step took effect, and what must hold under concurrency. A
// store that passes may be put behind the bridge.
package storetest

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Harness is a store together with the power that its users do not have: over
// time, and to lose what it holds.
type Harness struct {
	Store store.Store
	// Watcher is the store as one; nil: it is none.
	Watcher store.Watcher
	// Pass lets d pass on the store's own clock.
	Pass func(d time.Duration)
	// Short is a lease or a life that the suite may wait out.
	Short time.Duration
	// Exact says that the store's clock moves by Pass alone, so that boundaries
	// can be met to the microsecond.
	Exact bool
	// SetBack sets the store's clock back, as a failover may; nil: cannot.
	SetBack func(d time.Duration)
	// Skew is the difference of clocks that the store tolerates.
	Skew time.Duration
	// Indexed says whether the reconciler would find the record, and for when:
	// the end of its lease in microseconds of the store's clock.
	Indexed func(n store.Name) (us int64, ok bool)
	// Lose removes the record and all that belongs to it, as a flush does.
	Lose func(n store.Name)
	// LoseRecord, LoseResult and LoseIndex remove that part alone.
	LoseRecord, LoseResult, LoseIndex func(n store.Name)
	// Full makes the store's memory full until undo; nil: it never is.
	Full func() (undo func())
	// Repeats says that the store carries out every operation twice, as after a lost
	// answer: what the first one restored the second finds there.
	Repeats bool
	// Except names rows that are not run.
	Except []string
	// Replicas is what the suite's rules want; the store must have as many.
	Replicas int64
}

// A row is one row of the table, or one part of it.
type row struct {
	name string
	test func(k *key)
}

// Run checks the store that open returns. It calls open once.
func Run(t *testing.T, open func(t *testing.T) *Harness) {
	h := open(t)
	for _, group := range []struct {
		name string
		rows []row
	}{
		{"claim", claimRows}, {"fingerprint", fingerprintRows}, {"issued", issuedRows}, {"final", finalRows}, {"unknown", unknownRows},
		{"release", releaseRows}, {"renew", renewRows}, {"lost answer", lostRows},
		{"released owners", leaverRows}, {"policy", policyRows}, {"numbers", numberRows}, {"batch", batchRows}, {"moved", movedRows},
	} {
		t.Run(group.name, func(t *testing.T) { runRows(t, h, group.rows, !h.Exact) })
	}
	if _, ok := h.Store.(store.Inspector); ok {
		t.Run("inspector", func(t *testing.T) { runRows(t, h, append(inspectRows, leaverDecisions...), !h.Exact) })
	}
	if h.Watcher != nil {
		t.Run("watch", func(t *testing.T) { runRows(t, h, watchRows, !h.Exact) })
		if !h.Exact {
			t.Run("watch a lease", func(t *testing.T) { runRows(t, h, leaseRows, true) })
		}
	}
	if _, ok := h.Store.(store.Recoverer); ok {
		t.Run("recoverer", func(t *testing.T) { runRows(t, h, recoverRows, !h.Exact) })
	}
	runErase(t, h)
	if h.Exact {
		t.Run("boundary", func(t *testing.T) { runRows(t, h, append(boundaryRows, leaverMoments...), false) })
	}
	if h.SetBack != nil {
		t.Run("clock set back", func(t *testing.T) { runRows(t, h, clockRows, false) })
	}
	if h.Full != nil {
		t.Run("memory full", func(t *testing.T) { runRows(t, h, fullRows, false) })
	}
	if h.Exact {
		t.Run("schedules", func(t *testing.T) { schedules(t, h) })
	}
	t.Run("one grant", func(t *testing.T) { oneGrant(t, h) })
}

func runRows(t *testing.T, h *Harness, rows []row, parallel bool) {
	for _, r := range rows {
		if slices.Contains(h.Except, r.name) {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			if parallel {
				t.Parallel()
			}
			r.test(newKey(t, h))
		})
	}
}

// A key is one record under test and the policy of its callers.
type key struct {
	*testing.T
	h      *Harness
	name   store.Name
	policy wire.Policy
	print  []byte // fingerprint that callers send
}

func newKey(t *testing.T, h *Harness) *key {
	k := &key{T: t, h: h, policy: wire.Policy{
		Generation: "g1", TTLMS: time.Hour.Milliseconds(), LeaseMS: time.Minute.Milliseconds(),
		MaxAttempts: 3, Recovery: wire.Hold, Replicas: h.Replicas,
	}}
	rand.Read(k.name[:])
	k.print = fingerprint('a')
	return k
}

// fingerprint is one of full size, four parts, unlike any of another letter.
func fingerprint(letter byte) []byte {
	fp := []byte{wire.FingerprintVersion}
	var digest [wire.DigestBytes]byte
	for id := wire.PartMethod; id <= wire.PartHeaders; id++ {
		digest[31], digest[0] = letter, byte(id)
		fp = wire.AppendPart(fp, id, wire.AlgorithmConfigured, digest)
	}
	return fp
}

func owner() []byte {
	o := make([]byte, wire.OwnerBytes)
	rand.Read(o)
	return o
}

// short makes leases that end within the test.
func (k *key) short(r wire.Recovery) {
	k.policy.LeaseMS, k.policy.Recovery = k.h.Short.Milliseconds(), r
}

// over lets a short lease end.
func (k *key) over() { k.h.Pass(k.h.Short) }

func (k *key) operation(kind wire.Kind, o []byte, fence uint64) store.Operation {
	p := k.policy
	return store.Operation{
		Kind: kind, Name: k.name, Owner: o, Fence: fence, Policy: &p,
		Deadline: time.Now().Add(10 * time.Second),
	}
}

func (k *key) do(op store.Operation) store.Reply {
	k.Helper()
	r := k.h.Store.Do(k.Context(), []store.Operation{op})[0]
	if r.Err != nil {
		k.Fatalf("operation %d: %v", op.Kind, r.Err)
	}
	return r
}

func (k *key) claim(o []byte) store.Reply {
	k.Helper()
	op := k.operation(wire.Claim, o, 0)
	op.Fingerprint = k.print
	return k.do(op)
}

func (k *key) executed(o []byte, fence uint64, status uint16) store.Reply {
	k.Helper()
	op := k.operation(wire.Executed, o, fence)
	op.Status, op.Fingerprint = status, k.print
	return k.do(op)
}

func (k *key) noResult(o []byte, fence uint64, status uint16) store.Reply {
	k.Helper()
	op := k.operation(wire.Executed, o, fence)
	op.Status, op.Fingerprint, op.NoResult = status, k.print, true
	return k.do(op)
}

func (k *key) complete(o []byte, fence uint64, status uint16, result string) store.Reply {
	k.Helper()
	op := k.operation(wire.Complete, o, fence)
	op.Status, op.Fingerprint, op.Result = status, k.print, []byte(result)
	return k.do(op)
}

func (k *key) unknown(o []byte, fence uint64) store.Reply {
	k.Helper()
	op := k.operation(wire.Unknown, o, fence)
	op.Fingerprint = k.print
	return k.do(op)
}

func (k *key) release(o []byte, fence uint64) store.Reply {
	k.Helper()
	return k.do(k.operation(wire.Release, o, fence))
}

func (k *key) renew(o []byte, fence uint64) store.Reply {
	k.Helper()
	return k.do(k.operation(wire.Renew, o, fence))
}

func (k *key) issue(life time.Duration) store.Reply {
	k.Helper()
	k.policy.Issued = true
	op := k.operation(wire.Issue, nil, 0)
	op.Life = life
	return k.do(op)
}

// want fails unless r has the code, and returns it.
func (k *key) want(r store.Reply, code wire.Code) store.Reply {
	k.Helper()
	if r.Code != code {
		k.Fatalf("code %d, want %d: %+v", r.Code, code, r)
	}
	return r
}

// granted claims for a new owner, who must get it.
func (k *key) granted() (o []byte, fence uint64) {
	k.Helper()
	o = owner()
	return o, k.want(k.claim(o), wire.Created).Fence
}

// indexed fails unless the index is as the state wants it.
func (k *key) indexed(want bool) {
	k.Helper()
	if _, got := k.h.Indexed(k.name); got != want {
		k.Fatalf("in the index: %v, want %v", got, want)
	}
}

// due is the moment for which the record is indexed, in microseconds.
func (k *key) due() int64 {
	k.Helper()
	k.indexed(true)
	us, _ := k.h.Indexed(k.name)
	return us
}

// restored fails unless r says whether a lost record was made again.
func (k *key) restored(r store.Reply, want bool) {
	k.Helper()
	k.want(r, wire.OK)
	if r.Restored != want && !k.h.Repeats {
		k.Fatalf("restored %v, want %v", r.Restored, want)
	}
}

// replays fails unless a stranger's claim is answered with the result.
func (k *key) replays(status uint16, result string) {
	k.Helper()
	r := k.want(k.claim(owner()), wire.Replayed)
	if r.Status != status || string(r.Result) != result {
		k.Fatalf("replayed %d %q, want %d %q", r.Status, r.Result, status, result)
	}
}

// notKept fails unless a stranger's claim is told the status alone.
func (k *key) notKept(status uint16) {
	k.Helper()
	if r := k.want(k.claim(owner()), wire.ResponseNotKept); r.Status != status || len(r.Result) != 0 {
		k.Fatalf("not kept %d %q, want %d alone", r.Status, r.Result, status)
	}
}
