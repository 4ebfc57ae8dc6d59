package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

var (
	renameSeed = flag.Uint64("rename.seed", 0, "run this schedule alone")
	renameRuns = flag.Uint64("rename.runs", 150, "how many schedules of renames to run")
)

// turns lets one client at a time into the store, chosen at random among those
// that want to, so that walks over several names are interleaved at every step and
// a seed repeats a schedule.
type turns struct {
	want  chan int // a client wants to go on
	ended chan struct{}
	open  []chan struct{} // by client
	now   int             // the client whose turn it is
}

// pass is called by a client before each of its steps on the store.
func (t *turns) pass() { t.passAs(t.now) }

func (t *turns) passAs(client int) {
	t.want <- client
	<-t.open[client]
}

// run plays the clients to their ends.
func (t *turns) run(rnd *rand.Rand, clients []func()) {
	running := len(clients)
	waits := make([]bool, len(clients))
	for range clients {
		t.open = append(t.open, make(chan struct{}))
	}
	for i, c := range clients {
		go func() {
			t.passAs(i)
			c()
			t.ended <- struct{}{}
		}()
	}
	for waiting := 0; running > 0; {
		for waiting < running {
			select {
			case i := <-t.want:
				waits[i] = true
				waiting++
			case <-t.ended:
				running--
			}
		}
		if running == 0 {
			return
		}
		for t.now = rnd.IntN(len(clients)); !waits[t.now]; {
			t.now = (t.now + 1) % len(clients)
		}
		waits[t.now] = false
		waiting--
		t.open[t.now] <- struct{}{}
	}
}

// faulty is a store behind turns that loses answers, and steps whole.
type faulty struct {
	store.Store
	turns *turns
	lose  func() (before, after bool)
}

func (f *faulty) Do(ctx context.Context, ops []store.Operation) []store.Reply {
	f.turns.pass()
	before, after := f.lose()
	replies := make([]store.Reply, len(ops))
	if !before {
		replies = f.Store.Do(ctx, ops)
	}
	if before || after {
		for i := range replies {
			replies[i] = store.Reply{Err: store.ErrUnavailable}
		}
	}
	return replies
}

// renameWorld is one schedule: bridges and filters of several configurations over
// one store, clients that repeat a few keys, and how often each key has run.
type renameWorld struct {
	t       *testing.T
	rnd     *rand.Rand
	bridges []*Server
	// scopes are configurations of a rule that was renamed: scope, previous scopes.
	scopes [][2]string
	keys   []string
	runs   map[string]int
	result map[string][]byte
	owner  uint64
	said   map[wire.Code]int
}

func renameRing(t *testing.T, turned bool, fills ...byte) *naming.Ring {
	var secrets []naming.Secret
	for _, f := range fills {
		secrets = append(secrets, naming.Secret{ID: string('a' + rune(f)), Bytes: bytes.Repeat([]byte{f}, naming.MinSecretBytes)})
	}
	if turned {
		secrets[0].NameFrom = time.Unix(1, 0)
	}
	r, err := naming.NewRing(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRenames: bridges before, in and after a change of the naming secret, and
// filters before, in and after renames of a rule, there and back, over one store
// that loses steps and answers. However their steps fall between each other, no key
// is granted to a second owner once it may have run, and whoever is answered gets
// the result of that run.
func TestRenames(t *testing.T) {
	st := embedded(t)
	from, to := uint64(1), *renameRuns
	if *renameSeed != 0 {
		from, to = *renameSeed, *renameSeed
	}
	said := map[wire.Code]int{}
	for seed := from; seed <= to && !t.Failed(); seed++ {
		playRenames(t, st, seed, said)
	}
	for _, code := range []wire.Code{wire.Created, wire.Replayed, wire.InFlight, wire.Unavailable, wire.OutcomeUnknown} {
		if *renameSeed == 0 && said[code] == 0 {
			t.Errorf("no claim was answered with code %d: the schedules show too little", code)
		}
	}
}

func playRenames(t *testing.T, st store.Store, seed uint64, said map[wire.Code]int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	w := &renameWorld{t: t, rnd: rnd, runs: map[string]int{}, result: map[string][]byte{}, said: said,
		scopes: [][2]string{{"pay", ""}, {"payments", "pay"}, {"pay", "payments"}, {"buy", "payments,pay"}, {"buy", "pay,payments"}}}
	for i := range 3 {
		w.keys = append(w.keys, fmt.Sprintf("key %d of %d", i, seed))
	}
	door := &turns{want: make(chan int), ended: make(chan struct{})}
	chaos := &faulty{Store: st, turns: door, lose: func() (bool, bool) {
		n := w.rnd.IntN(40)
		return n == 0, n == 1
	}}
	for _, ring := range []*naming.Ring{
		renameRing(t, false, 1), renameRing(t, false, 2, 1), renameRing(t, true, 2, 1), renameRing(t, true, 2, 1),
	} {
		s, err := New(Config{Store: chaos, Keys: ring})
		if err != nil {
			t.Fatal(err)
		}
		w.bridges = append(w.bridges, s)
	}
	var clients []func()
	for range 7 {
		clients = append(clients, w.client)
	}
	door.run(rnd, clients)
	for key, n := range w.runs {
		if n > 1 {
			t.Errorf("%s ran %d times; repeat with -rename.seed=%d", key, n, seed)
		}
	}
}

// client sends one request of one key through one filter and any bridge. Only one
// client runs at a time, up to its next step on the store.
func (w *renameWorld) client() {
	key, scope := w.keys[w.rnd.IntN(len(w.keys))], w.scopes[w.rnd.IntN(len(w.scopes))]
	w.owner++
	op := wire.Operation{Kind: wire.Claim, Scope: scope[0], Principal: "p", Key: key, Owner: make([]byte, wire.OwnerBytes),
		Fingerprint: wire.AppendPart([]byte{wire.FingerprintVersion}, wire.PartBody, wire.AlgorithmFixed, [wire.DigestBytes]byte{9})}
	binary.BigEndian.PutUint64(op.Owner, w.owner)
	do := func(op wire.Operation) wire.Result {
		op.BudgetMS = 60000
		return w.bridges[w.rnd.IntN(len(w.bridges))].Execute(context.Background(), &wire.Batch{
			Namespace: "n", Ops: []wire.Operation{op}, Policies: []wire.Policy{{
				Generation: "g", TTLMS: 3600000, LeaseMS: 600000, MaxAttempts: 1, Recovery: wire.Hold, PreviousScopes: scope[1]}}})[0]
	}
	settle := func(op wire.Operation) {
		for range 6 {
			if r := do(op); r.Code != wire.Unavailable {
				return
			}
		}
	}
	r := do(op)
	if r.Code == wire.Unavailable {
		r = do(op)
	}
	w.said[r.Code]++
	switch r.Code {
	case wire.Created:
	case wire.Replayed:
		var response wire.Response
		if err := wire.DecodeResponse(r.Result, &response); err != nil || !bytes.Equal(response.Body, w.result[key]) {
			w.t.Errorf("%s: replayed %q, its run answered %q", key, response.Body, w.result[key])
		}
		return
	case wire.Unavailable:
		op.Kind = wire.Release
		settle(op)
		return
	case wire.InFlight, wire.OutcomeUnknown, wire.ResponseNotKept:
		return
	default:
		w.t.Errorf("%s: a claim was answered with code %d", key, r.Code)
		return
	}
	op.Fence = r.Fence
	if w.rnd.IntN(4) == 0 {
		op.Kind = wire.Release
		settle(op)
		return
	}
	w.runs[key]++
	body := fmt.Appendf(nil, "%s by %d", key, w.owner)
	w.result[key] = body
	switch w.rnd.IntN(5) {
	case 0: // killed
	case 1:
		op.Kind = wire.Unknown
		settle(op)
	default:
		op.Kind, op.Status = wire.Complete, 201
		op.Result, _ = wire.AppendResponse(nil, &wire.Response{Status: 201, Body: body})
		settle(op)
	}
}
