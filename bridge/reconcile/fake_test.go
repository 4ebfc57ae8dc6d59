package reconcile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// fakeStore is a store of two shares whose every step is played by the test. Time
// is the test's bubble's.
type fakeStore struct {
	mu       sync.Mutex
	records  map[store.Name]*fakeRecord
	holders  [2]string
	away     bool
	findings []store.Finding
	verdict  func(store.Finding) (store.Verdict, error) // nil: what a store does
	tidied   int
	scanned  int
	incarnat string
	yielded  int
}

type fakeRecord struct {
	store.Record
	ends        time.Time // of the lease
	compensated time.Time
}

func (f *fakeStore) Shares() int { return 2 }

func (f *fakeStore) Hold(_ context.Context, share int, holder string, _ time.Duration) (store.Lease, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.holders[share] {
	case "", holder:
		f.holders[share] = holder
		return store.LeaseHeld, nil
	case "dead":
		f.holders[share] = holder
		return store.LeaseTaken, nil
	}
	return store.LeaseOthers, nil
}

func (f *fakeStore) Yield(_ context.Context, share int, holder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holders[share] == holder {
		f.holders[share] = ""
		f.yielded++
	}
	return nil
}

func (f *fakeStore) Due(_ context.Context, share, limit int) (list []store.Due, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return nil, store.ErrUnavailable
	}
	for n, r := range f.records {
		if int(n[0])%2 == share && r.State.Unresolved() && !time.Now().Before(r.ends) && len(list) < limit {
			list = append(list, store.Due{Name: n, Overdue: time.Since(r.ends)})
		}
	}
	return list, nil
}

func (f *fakeStore) Look(_ context.Context, names []store.Name) ([]store.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]store.Record, len(names))
	for i, n := range names {
		if r := f.records[n]; r != nil {
			list[i] = r.Record
			list[i].Lease = time.Until(r.ends)
			list[i].LeaseOver = list[i].Lease <= 0
		}
	}
	return list, nil
}

func (f *fakeStore) Reconcile(_ context.Context, x store.Finding) (store.Verdict, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.findings = append(f.findings, x)
	if f.verdict != nil {
		return f.verdict(x)
	}
	r := f.records[x.Name]
	if r == nil || !r.State.Unresolved() || !bytes.Equal(r.Owner, x.Owner) || r.Fence != x.Fence {
		return store.Conflict, nil
	}
	switch x.Outcome {
	case store.FoundResult, store.FoundExecuted:
		r.State, r.Status, r.Result = store.Completed, x.Status, x.Result
		return store.Done, nil
	case store.Compensating:
		if time.Since(r.compensated) < x.Quiet {
			return store.Busy, nil
		}
		r.compensated = time.Now()
		return store.Done, nil
	}
	switch {
	case r.Held:
		return store.Withheld, nil
	case r.Noted:
		r.State = store.Executed
		return store.Noted, nil
	}
	r.State = store.Released
	return store.Done, nil
}

func (f *fakeStore) Tidy(context.Context, int) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tidied++
	return 0, nil
}

func (f *fakeStore) Reindex(context.Context, time.Duration) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scanned++
	return 0, nil
}

func (f *fakeStore) Incarnation(context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.incarnat, nil
}

// backend answers questions; it is a transport.
type backend struct {
	mu    sync.Mutex
	calls []string // method and URL
	at    []time.Time
	busy  int
	most  int // calls at one time
	play  func(n int, r *http.Request) (int, string, error)
}

func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	b.calls, b.at = append(b.calls, r.Method+" "+r.URL.String()), append(b.at, time.Now())
	n := len(b.calls)
	b.busy++
	b.most = max(b.most, b.busy)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.busy--
		b.mu.Unlock()
	}()
	status, body, err := b.play(n, r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
}

func (b *backend) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls)
}

// rig is a reconciler with a fake store and backend.
type rig struct {
	*testing.T
	store   *fakeStore
	backend *backend
	sealer  *seal.Sealer
	log     bytes.Buffer
	reg     *prometheus.Registry
	config  Config
	stop    func()

	reconciler *Reconciler // since start
}

const fence = 1796000000000001

func newRig(t *testing.T, play func(n int, r *http.Request) (int, string, error)) *rig {
	sealer, err := seal.New(seal.Secret{ID: "s", Bytes: bytes.Repeat([]byte{1}, seal.MinSecretBytes)})
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{T: t, sealer: sealer, store: &fakeStore{records: map[store.Name]*fakeRecord{}, incarnat: "1"}, backend: &backend{play: play}, reg: prometheus.NewRegistry()}
	probe, err := ParseURL("http://shop/outcome/{key}?fence={fence}&user={principal}")
	if err != nil {
		t.Fatal(err)
	}
	g.config = Config{
		Store: g.store, Sealer: sealer, Transport: g.backend, Registry: g.reg,
		Log:    slog.New(slog.NewTextHandler(&g.log, nil)),
		Scopes: []Scope{{Scope: "payments", Probe: Probe{Request: Request{URL: probe}}}},
	}
	return g
}

// compensated adds a compensation.
func (g *rig) compensated() {
	u, err := ParseURL("http://shop/void/{key}/{fence}")
	if err != nil {
		g.Fatal(err)
	}
	g.config.Scopes[0].Compensation = &Compensation{Request{URL: u}}
}

// add makes a record that is overdue by a millisecond.
func (g *rig) add(n byte, change func(*store.Record)) store.Name {
	name := store.Name{n}
	identity, err := g.sealer.SealSubject(name, seal.Subject{
		Namespace: "shop", Scope: "payments", Key: "key " + strconv.Itoa(int(n)), Principal: wire.EncodePrincipal(1, "x-user", "ann"),
	})
	if err != nil {
		g.Fatal(err)
	}
	r := &fakeRecord{ends: time.Now().Add(-time.Millisecond), Record: store.Record{
		State: store.Unknown, Fence: fence, Owner: []byte("owner"), Identity: identity, Policy: wire.Policy{Recovery: wire.Probe},
	}}
	if change != nil {
		change(&r.Record)
	}
	g.store.mu.Lock()
	g.store.records[name] = r
	g.store.mu.Unlock()
	return name
}

func (g *rig) record(n store.Name) fakeRecord {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return *g.store.records[n]
}

// start runs the reconciler until stop.
func (g *rig) start() {
	r, err := New(g.config)
	if err != nil {
		g.Fatal(err)
	}
	g.reconciler = r
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx, time.Minute) }()
	g.stop = func() { cancel(); <-ended }
}

func (g *rig) metric(name string, labels ...string) float64 {
	g.Helper()
	families, err := g.reg.Gather()
	if err != nil {
		g.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		sum := 0.0
		for _, m := range f.GetMetric() {
			match := 0
			for _, l := range m.GetLabel() {
				for _, want := range labels {
					if l.GetValue() == want {
						match++
					}
				}
			}
			if match == len(labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return sum
	}
	g.Fatalf("no metric %s", name)
	return 0
}

// wantOpen opens a stored result.
func (g *rig) opened(n store.Name) wire.Response {
	g.Helper()
	b, err := g.sealer.Open(seal.Result, n, g.record(n).Result)
	if err != nil {
		g.Fatal(err)
	}
	var r wire.Response
	if err := wire.DecodeResponse(b, &r); err != nil {
		g.Fatal(err)
	}
	return r
}

var errBroken = errors.New("broken")

func say(body string) func(int, *http.Request) (int, string, error) {
	return func(int, *http.Request) (int, string, error) { return 200, body, nil }
}

// hang waits for the caller to give up.
func hang(_ int, r *http.Request) (int, string, error) {
	<-r.Context().Done()
	return 0, "", r.Context().Err()
}
