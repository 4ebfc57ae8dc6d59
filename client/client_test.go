package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/testenv/apitest"
)

// lossy loses answers after the bridge has acted: of each request the first lose.
type lossy struct {
	lose int
	mu   sync.Mutex
	seen map[string]int
}

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[r.URL.Path]++
	if err == nil && l.seen[r.URL.Path] <= l.lose {
		resp.Body.Close()
		return nil, errors.New("the answer was lost")
	}
	return resp, err
}

func config(b *apitest.Bridge) client.Config {
	return client.Config{
		URL: b.Data, Secret: apitest.Consumer, Namespace: "jobs", Scope: "invoices", Principal: "billing",
		Timeout: 500 * time.Millisecond, Pause: time.Millisecond,
		Policy: client.Policy{TTL: time.Hour, Lease: 1500 * time.Millisecond, Recovery: client.Reacquire},
	}
}

func newClient(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func problem(t *testing.T, err error, code string) *client.ProblemError {
	t.Helper()
	var p *client.ProblemError
	if !errors.As(err, &p) || p.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
	return p
}

func TestDoRunsOnce(t *testing.T) {
	b := apitest.Start(t)
	c := newClient(t, config(b))
	runs := 0
	work := func(_ context.Context, fence uint64) (client.Result, error) {
		runs++
		if fence == 0 {
			t.Error("no fence")
		}
		return client.Result{Status: 201, Body: []byte("receipt")}, nil
	}
	for range 3 {
		r, err := c.Do(t.Context(), "k", work)
		if err != nil || r.Status != 201 || string(r.Body) != "receipt" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if runs != 1 {
		t.Errorf("%d runs", runs)
	}
	if r, err := c.Get(t.Context(), "k"); err != nil || r.State != "completed" || string(r.Result.Body) != "receipt" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLostAnswers: each operation takes effect, its answer does not arrive, and
// the repetition changes nothing.
func TestLostAnswers(t *testing.T) {
	b := apitest.Start(t)
	cfg := config(b)
	l := &lossy{lose: 2, seen: map[string]int{}}
	cfg.HTTP = &http.Client{Transport: l}
	runs := 0
	_, err := newClient(t, cfg).Do(t.Context(), "k", func(context.Context, uint64) (client.Result, error) {
		runs++
		return client.Result{Status: 200}, nil
	})
	if err != nil || runs != 1 || l.seen[api.PathClaim] != 3 || l.seen[api.PathComplete] != 3 {
		t.Errorf("%v, %d runs, %v", err, runs, l.seen)
	}
}

// TestDoRenews: the work takes longer than the lease, and the claim holds.
func TestDoRenews(t *testing.T) {
	b := apitest.Start(t)
	c := newClient(t, config(b))
	_, err := c.Do(t.Context(), "k", func(ctx context.Context, fence uint64) (client.Result, error) {
		for start := time.Now(); time.Since(start) < 2500*time.Millisecond; {
			_, _, err := c.Claim(ctx, "k", nil)
			problem(t, err, "in-flight")
			time.Sleep(50 * time.Millisecond)
		}
		return client.Result{Status: 200}, ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDoEndsBeforeItsLease: the bridge is gone for good; the work is told while
// the claim still holds.
func TestDoEndsBeforeItsLease(t *testing.T) {
	b := apitest.Start(t)
	cfg := config(b)
	var away atomic.Bool
	cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if away.Load() {
			return nil, errors.New("away")
		}
		return http.DefaultTransport.RoundTrip(r)
	})}
	begin := time.Now()
	_, err := newClient(t, cfg).Do(t.Context(), "k", func(ctx context.Context, _ uint64) (client.Result, error) {
		away.Store(true)
		<-ctx.Done()
		if took := time.Since(begin); took >= 1500*time.Millisecond {
			t.Errorf("told after %s", took)
		}
		away.Store(false)
		return client.Result{}, ctx.Err()
	})
	if !errors.Is(err, client.ErrLeaseLost) {
		t.Errorf("%v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTakenOver: the record is another's; the work is told, and the late word is
// refused.
func TestTakenOver(t *testing.T) {
	b := apitest.Start(t)
	c := newClient(t, config(b))
	_, err := c.Do(t.Context(), "k", func(ctx context.Context, fence uint64) (client.Result, error) {
		b.Store.Advance(2 * time.Second)
		second, _, err := c.Claim(ctx, "k", nil)
		if err != nil || second.Fence <= fence || second.Attempt != 2 {
			t.Fatalf("%+v, %v", second, err)
		}
		<-ctx.Done()
		if err := second.Complete(t.Context(), client.Result{Status: 202}); err != nil {
			t.Error(err)
		}
		return client.Result{Status: 200}, nil
	})
	problem(t, err, "stale")
	if r, err := c.Get(t.Context(), "k"); err != nil || r.Status != 202 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestDoFails(t *testing.T) {
	b := apitest.Start(t)
	c := newClient(t, config(b))
	boom := errors.New("boom")
	for key, tc := range map[string]struct {
		err   error
		state string
	}{"u": {boom, "unknown"}, "r": {errors.Join(client.ErrNotExecuted, boom), "released"}} {
		_, err := c.Do(t.Context(), key, func(context.Context, uint64) (client.Result, error) { return client.Result{}, tc.err })
		if !errors.Is(err, boom) {
			t.Errorf("%v", err)
		}
		if r, err := c.Get(t.Context(), key); err != nil || r.State != tc.state {
			t.Errorf("%s: %+v, %v", key, r, err)
		}
	}
}

// TestClaimGivenUp: whoever gives up before the answer leaves the key free.
func TestClaimGivenUp(t *testing.T) {
	b := apitest.Start(t)
	cfg := config(b)
	ctx, cancel := context.WithCancel(t.Context())
	cfg.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
		if r.URL.Path == api.PathClaim {
			cancel()
			return nil, errors.New("lost")
		}
		return resp, err
	})}
	if _, _, err := newClient(t, cfg).Claim(ctx, "k", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	claim, _, err := newClient(t, config(b)).Claim(t.Context(), "k", nil)
	if err != nil || claim.Attempt != 1 {
		t.Errorf("%+v, %v", claim, err)
	}
}

func TestIssue(t *testing.T) {
	b := apitest.Start(t)
	cfg := config(b)
	cfg.Policy.Issued = true
	c := newClient(t, cfg)
	key, expires, err := c.Issue(t.Context())
	if err != nil || !expires.After(time.Now()) {
		t.Fatalf("%v, %v", expires, err)
	}
	claim, _, err := c.Claim(t.Context(), key, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim.Executed(t.Context(), 204); err != nil {
		t.Error(err)
	}
	_, _, err = c.Claim(t.Context(), "ow1.forged", nil)
	problem(t, err, "key-not-issued")
}

// TestNotABridge: an answer that something else made up is repeated until the
// caller's time is up.
func TestNotABridge(t *testing.T) {
	b := apitest.Start(t)
	cfg := config(b)
	cfg.URL = b.Admin
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := newClient(t, cfg).Get(ctx, "k")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not from a bridge") {
		t.Errorf("%v", err)
	}
	cfg = config(b)
	cfg.Secret = "wrong"
	_, err = newClient(t, cfg).Get(t.Context(), "k")
	problem(t, err, "unauthorized")
}

func TestConfigFaults(t *testing.T) {
	_, err := client.New(client.Config{Policy: client.Policy{Lease: time.Second}, Timeout: time.Hour})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"url", "secret", "namespace, scope and principal", "policy.ttl 0s", "policy.recovery", "timeout 1h", "policy.lease 1s"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

func TestOperator(t *testing.T) {
	b := apitest.Start(t)
	c := newClient(t, config(b))
	o, err := client.NewOperator(b.Admin, apitest.Operator, nil)
	if err != nil {
		t.Fatal(err)
	}
	claim, _, err := c.Claim(t.Context(), "k", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Store.Advance(2 * time.Second)
	page, err := o.Overdue(t.Context(), "", 0)
	if err != nil || len(page.Records) != 1 || page.Records[0].Fence != claim.Fence {
		t.Fatalf("%+v, %v", page, err)
	}
	decision := api.Resolve{Subject: api.Subject{Name: page.Records[0].Name}, Fence: claim.Fence, Action: "executed", Status: 200, Reason: "r"}
	if r, err := o.Resolve(t.Context(), decision); err != nil || r.After.State != "executed" {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = o.Resolve(t.Context(), decision)
	if p := problem(t, err, "conflict"); p.Record == nil || p.Record.State != "executed" {
		t.Errorf("%+v", p)
	}
	if r, err := o.Get(t.Context(), decision.Subject, false); err != nil || len(r.Audit) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
