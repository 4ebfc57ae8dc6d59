package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

// town is a backend with a memory, as the tests on a real cluster need it: of each
// key whether it ran, which fences it refuses, and who was compensated.
type town struct {
	mu          sync.Mutex
	ran         map[string]bool
	refused     map[string]uint64
	compensated map[string]int
	asked       atomic.Int64
}

func (b *town) RoundTrip(r *http.Request) (*http.Response, error) {
	b.asked.Add(1)
	b.mu.Lock()
	defer b.mu.Unlock()
	q := r.URL.Query()
	key := q.Get("key")
	var fence uint64
	fmt.Sscan(q.Get("fence"), &fence)
	body := ""
	switch {
	case r.Method == http.MethodPost:
		b.compensated[key]++
	case b.ran[key]:
		body = `{"outcome":"final","status":201,"headers":[],"body":"` + key + `"}`
	default:
		b.refused[key] = max(b.refused[key], fence)
		body = fmt.Sprintf(`{"outcome":"not-executed","refused_up_to":%d}`, fence)
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
}

// mortal is a store as a bridge sees it that is killed after some calls: the last
// one takes effect or not, and nobody hears of it. It has every share, so that
// two of them work on the same records at once.
type mortal struct {
	store.Recoverer
	calls  atomic.Int64 // Reconcile, left
	effect bool         // of the last call
	dead   context.CancelFunc
}

func (m *mortal) Hold(context.Context, int, string, time.Duration) (store.Lease, error) {
	return store.LeaseHeld, nil
}

func (m *mortal) Reconcile(ctx context.Context, f store.Finding) (store.Verdict, error) {
	switch left := m.calls.Add(-1); {
	case left < 0:
		return 0, store.ErrUnavailable
	case left == 0:
		if m.effect {
			m.Recoverer.Reconcile(ctx, f)
		}
		m.dead()
		return 0, store.ErrUnavailable
	}
	return m.Recoverer.Reconcile(ctx, f)
}

// cluster is a real cluster with a store over it.
func cluster(t *testing.T) *redis.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := rediscluster.Start(ctx, rediscluster.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := redis.Open(ctx, redis.Config{Addresses: c.Addresses()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Two reconcilers on the same records at once, one of them killed again and again
// at every step, and started anew: every record ends as its backend says, once;
// nothing is freed that was not compensated first.
func TestTwoAtOnceAndOneKilled(t *testing.T) {
	s := cluster(t)
	const records = 300
	b := &town{ran: map[string]bool{}, refused: map[string]uint64{}, compensated: map[string]int{}}
	sealer, err := seal.New(seal.Secret{ID: "s", Bytes: bytes.Repeat([]byte{1}, seal.MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	policy := wire.Policy{Generation: "g", TTLMS: 3_600_000, LeaseMS: 1000, Recovery: wire.Probe}
	op := func(kind wire.Kind, i int, owner string) store.Operation {
		name := store.Name{byte(i), byte(i * 7), byte(i >> 8)}
		key := fmt.Sprint("key-", i)
		identity, err := sealer.SealSubject(name, seal.Subject{Scope: "payments", Key: key, Principal: wire.EncodePrincipal(1, "x", "ann")})
		if err != nil {
			t.Fatal(err)
		}
		p := policy
		return store.Operation{
			Kind: kind, Name: name, Owner: []byte(owner + strings.Repeat("-", wire.OwnerBytes-len(owner))), Policy: &p, Identity: identity,
			Deadline: time.Now().Add(20 * time.Second),
		}
	}
	var claims []store.Operation
	for i := range records {
		claims = append(claims, op(wire.Claim, i, "first"))
		b.ran[fmt.Sprint("key-", i)] = i%3 != 0
	}
	fences := make([]uint64, records)
	for i, r := range s.Do(t.Context(), claims) {
		if r.Code != wire.Created {
			t.Fatalf("claim %d: %+v", i, r)
		}
		fences[i] = r.Fence
	}

	url := func(text string) *Template {
		u, err := ParseURL(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	start := func(st store.Recoverer) (stop func(), ended chan struct{}) {
		r, err := New(Config{
			Store: st, Sealer: sealer, Transport: b, Interval: 50 * time.Millisecond,
			Scopes: []Scope{{
				Scope:        "payments",
				Probe:        Probe{Request: Request{URL: url("http://b/?key={key}&fence={fence}")}, After: time.Millisecond, Concurrency: 8, Rate: 10_000, Retry: 50 * time.Millisecond, RetryMax: time.Second},
				Compensation: &Compensation{Request{URL: url("http://b/?key={key}&fence={fence}"), Timeout: 50 * time.Millisecond}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan struct{})
		go func() { defer close(ended); r.Run(ctx, 0) }()
		return cancel, ended
	}
	// One is killed after 1, 2, 3 ... writes, with and without the last one's effect,
	// and a new one comes in its place.
	stopKilled := make(chan struct{})
	killed := make(chan struct{})
	var lives atomic.Int64
	go func() {
		defer close(killed)
		for ; ; lives.Add(1) {
			lives := lives.Load()
			m := &mortal{Recoverer: s, effect: lives%2 == 0}
			m.calls.Store(1 + lives/2%9)
			dead := make(chan struct{})
			m.dead = sync.OnceFunc(func() { close(dead) })
			stop, ended := start(m)
			select {
			case <-dead:
			case <-stopKilled:
			}
			stop()
			<-ended
			select {
			case <-stopKilled:
				return
			default:
			}
		}
	}()
	for deadline := time.Now().Add(time.Minute); lives.Load() < 12; <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("12 lives took more than a minute")
		}
	}
	steady := &mortal{Recoverer: s}
	steady.calls.Store(1 << 40)
	stop, ended := start(steady)

	names := make([]store.Name, records)
	for i := range names {
		names[i] = claims[i].Name
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		open := 0
		list, err := s.Look(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if list[i].State.Unresolved() {
				open++
			}
		}
		if open == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d records are still open", open, records)
		}
		<-time.After(100 * time.Millisecond)
	}
	close(stopKilled)
	<-killed
	stop()
	<-ended
	t.Logf("%d lives, %d questions and calls about %d records", lives.Load(), b.asked.Load(), records)

	var again []store.Operation
	for i := range records {
		again = append(again, op(wire.Claim, i, "second"))
	}
	for i, r := range s.Do(t.Context(), again) {
		key := fmt.Sprint("key-", i)
		if b.ran[key] {
			if r.Code != wire.Replayed || b.compensated[key] != 0 {
				t.Fatalf("%s ran: %+v, compensated %d times", key, r, b.compensated[key])
			}
			opened, err := sealer.Open(seal.Result, again[i].Name, r.Result)
			var response wire.Response
			if err != nil || wire.DecodeResponse(opened, &response) != nil || string(response.Body) != key {
				t.Fatalf("%s: %q, %v", key, response.Body, err)
			}
			continue
		}
		if r.Code != wire.Created || r.Fence <= b.refused[key] || b.refused[key] != fences[i] || b.compensated[key] == 0 {
			t.Fatalf("%s did not run: %+v, refused up to %d, compensated %d times", key, r, b.refused[key], b.compensated[key])
		}
	}
}
