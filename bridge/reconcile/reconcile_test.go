package reconcile

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

const promise = `{"outcome":"not-executed","refused_up_to":1796000000000001}`

// after lets d pass and everything settle.
func after(d time.Duration) {
	<-time.After(d) // the bubble's clock
	synctest.Wait()
}

func TestFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(`{"outcome":"final","status":201,"headers":[["content-type","a/b"]],"body":"done"}`))
		n := g.add(2, nil)
		g.start()
		after(5 * time.Second)
		g.stop()
		if got, want := strings.Join(g.backend.calls, ";"), "GET http://shop/outcome/key%202?fence=1796000000000001&user=ann"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
		r := g.record(n)
		if r.State != store.Completed || r.Status != 201 {
			t.Fatalf("%+v", r.Record)
		}
		if a := g.opened(n); string(a.Body) != "done" || a.Status != 201 || len(a.Headers) != 1 {
			t.Errorf("%+v", a)
		}
		if strings.Contains(string(r.Result), "done") {
			t.Error("the result is stored in clear")
		}
		f := g.store.findings
		if len(f) != 1 || string(f[0].Owner) != "owner" || f[0].Fence != fence || f[0].Outcome != store.FoundResult || f[0].Deadline.IsZero() {
			t.Errorf("%+v", f)
		}
		if got := g.metric("oncewall_bridge_probes_total", "payments", "final"); got != 1 {
			t.Errorf("%v probes", got)
		}
		if got := g.metric("oncewall_bridge_overdue_records"); got != 0 {
			t.Errorf("%v overdue", got)
		}
	})
}

func TestExecutedWithoutResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(`{"outcome":"final","status":204}`))
		g.add(1, nil)
		g.start()
		after(5 * time.Second)
		g.stop()
		if f := g.store.findings; len(f) != 1 || f[0].Outcome != store.FoundExecuted || f[0].Status != 204 {
			t.Errorf("%+v", f)
		}
	})
}

// Not before the lease is over by as much as the scope says.
func TestAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(promise))
		g.config.Scopes[0].Probe.After = 20 * time.Second
		g.add(1, nil)
		g.start()
		after(19 * time.Second)
		if n := g.backend.count(); n != 0 {
			t.Errorf("asked %d times", n)
		}
		after(4 * time.Second)
		g.stop()
		if n := g.backend.count(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// Record.md's rule 4: a snapshot frees nothing, unless the scope takes the risk.
func TestNotExecuted(t *testing.T) {
	for _, tc := range []struct {
		what, answer string
		accept       bool
		released     bool
		why          string
	}{
		{"a promise", promise, false, true, ""},
		{"a promise for later fences", strings.Replace(promise, "1796000000000001", "1800000000000000", 1), false, true, ""},
		{"a promise for lower fences alone", strings.Replace(promise, "0001", "0000", 1), false, false, whyUnpromised},
		{"a snapshot", `{"outcome":"not-executed"}`, false, false, whyUnpromised},
		{"a snapshot, accepted", `{"outcome":"not-executed"}`, true, true, ""},
		{"running, accepted", `{"outcome":"running"}`, true, false, whyRunning},
		{"unknown, accepted", `{"outcome":"unknown"}`, true, false, whyUnknown},
	} {
		t.Run(tc.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, say(tc.answer))
				g.config.Scopes[0].Probe.AcceptSnapshot = tc.accept
				n := g.add(1, nil)
				g.start()
				after(30 * time.Second)
				g.stop()
				if got := g.record(n).State == store.Released; got != tc.released {
					t.Errorf("released %v, want %v", got, tc.released)
				}
				if tc.why == "" {
					return
				}
				if len(g.store.findings) != 0 {
					t.Errorf("wrote %+v", g.store.findings)
				}
				if got := g.metric("oncewall_bridge_overdue_records", tc.why); got != 1 {
					t.Errorf("%v overdue as %s", got, tc.why)
				}
				if g.backend.count() < 3 {
					t.Errorf("asked %d times", g.backend.count())
				}
			})
		})
	}
}

// A backend that is down, slow or lying is asked again with growing pauses, never
// more often than that, and said to fail once.
func TestFailing(t *testing.T) {
	answer := func(status int, body string, err error) func(int, *http.Request) (int, string, error) {
		return func(int, *http.Request) (int, string, error) { return status, body, err }
	}
	for what, play := range map[string]func(int, *http.Request) (int, string, error){
		"refused":   answer(0, "", errBroken),
		"hangs":     hang,
		"5xx":       answer(503, `{"outcome":"final","status":200}`, nil),
		"404":       answer(404, `{"outcome":"not-executed","refused_up_to":1796000000000001}`, nil),
		"redirects": answer(302, promise, nil),
		"not JSON":  answer(200, "<html>", nil),
		"huge":      answer(200, `{"outcome":"final","status":200,"body":"`+strings.Repeat("x", DefaultMaxAnswer)+`"}`, nil),
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, play)
				n := g.add(1, nil)
				g.start()
				after(time.Hour)
				g.stop()
				if r := g.record(n); r.State != store.Unknown || len(g.store.findings) != 0 {
					t.Errorf("state %d, wrote %+v", r.State, g.store.findings)
				}
				// 10 doublings to the longest pause of 5 minutes, of which at least half is waited.
				if c := g.backend.count(); c < 12 || c > 40 {
					t.Errorf("asked %d times in an hour", c)
				}
				for i := 14; i < len(g.backend.at); i++ {
					if d := g.backend.at[i].Sub(g.backend.at[i-1]); d < DefaultRetryMax/2 || d > DefaultRetryMax+10*time.Second {
						t.Errorf("pause %d: %s", i, d)
					}
				}
				if c := strings.Count(g.log.String(), "a probe fails"); c != 1 {
					t.Errorf("said %d times: %s", c, g.log.String())
				}
				if s := g.log.String(); strings.Contains(s, "key 1") || strings.Contains(s, "ann") {
					t.Errorf("the log holds whose it is: %s", s)
				}
			})
		})
	}
}

// What comes back is asked at once, and said.
func TestBackAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(n int, _ *http.Request) (int, string, error) {
			if n <= 3 {
				return 500, "", nil
			}
			return 200, promise, nil
		})
		n := g.add(1, nil)
		g.start()
		after(time.Minute)
		g.stop()
		if g.record(n).State != store.Released || strings.Count(g.log.String(), "answered again") != 1 {
			t.Errorf("%+v\n%s", g.record(n).Record, g.log.String())
		}
	})
}

// Concurrency and rate bound what a backend is asked, however much is overdue.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(int, *http.Request) (int, string, error) {
			<-time.After(400 * time.Millisecond) // of the bubble
			return 200, promise, nil
		})
		p := &g.config.Scopes[0].Probe
		p.Concurrency, p.Rate = 3, 5
		for n := range 200 {
			g.add(byte(n), nil)
		}
		g.start()
		after(22 * time.Second)
		if c := g.backend.count(); c < 90 || c > 105 {
			t.Errorf("asked %d times in some 20s at 5 a second", c)
		}
		after(30 * time.Second)
		g.stop()
		if g.backend.most > 3 {
			t.Errorf("%d at one time", g.backend.most)
		}
		if c := g.backend.count(); c != 200 {
			t.Errorf("asked %d times about 200 records", c)
		}
	})
}

// Records that no probe ends are not asked about, and told apart.
func TestWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(promise))
		g.config.StuckAfter = 10 * time.Minute
		rules := map[string]func(*store.Record){
			whyHold:       func(r *store.Record) { r.Policy.Recovery = wire.Hold },
			whyReacquire:  func(r *store.Record) { r.Policy.Recovery = wire.Reacquire },
			whyNoIdentity: func(r *store.Record) { r.Identity = nil },
		}
		n := byte(10)
		for _, change := range rules {
			g.add(n, change)
			n++
		}
		g.add(20, func(r *store.Record) {
			r.Policy.Recovery, r.Policy.MaxAttempts, r.Attempts = wire.Reacquire, 3, 3
		})
		g.add(21, func(r *store.Record) { r.Identity[len(r.Identity)-1] ^= 1 })
		held := g.add(22, func(r *store.Record) { r.Held = true })
		g.start()
		after(5 * time.Minute)
		for why, want := range map[string]float64{whyHold: 1, whyReacquire: 1, whyNoIdentity: 2, whyHeld: 2} {
			if got := g.metric("oncewall_bridge_overdue_records", why); got != want {
				t.Errorf("%s: %v overdue, want %v", why, got, want)
			}
		}
		if got := g.metric("oncewall_bridge_stuck_records"); got != 0 {
			t.Errorf("%v stuck", got)
		}
		after(time.Hour)
		g.stop()
		// A claim that nobody repeats is nobody's fault.
		if got := g.metric("oncewall_bridge_stuck_records"); got != 5 {
			t.Errorf("%v stuck, want 5", got)
		}
		if got := g.metric("oncewall_bridge_oldest_overdue_seconds"); got < 3600 || got > 4000 {
			t.Errorf("oldest %v", got)
		}
		if c := strings.Count(g.log.String(), "record stuck"); c != 5 {
			t.Errorf("said %d times:\n%s", c, g.log.String())
		}
		if g.record(held).State != store.Unknown {
			t.Error("a held record was freed")
		}
		for _, f := range g.store.findings {
			if f.Name != held {
				t.Errorf("wrote %+v", f)
			}
		}
	})
}

func TestCompensation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 2
		g := newRig(t, func(_ int, r *http.Request) (int, string, error) {
			if r.Method == http.MethodGet {
				return 200, promise, nil
			}
			if fails--; fails >= 0 {
				return 500, "", nil
			}
			return 204, "", nil
		})
		g.compensated()
		n := g.add(1, nil)
		noted := g.add(3, func(r *store.Record) { r.Noted = true })
		held := g.add(5, func(r *store.Record) { r.Held = true })
		g.start()
		after(3 * time.Minute)
		g.stop()
		if g.record(n).State != store.Released || g.record(noted).State != store.Executed || g.record(held).State != store.Unknown {
			t.Errorf("%v %v %v", g.record(n).State, g.record(noted).State, g.record(held).State)
		}
		var at []time.Time
		for i, c := range g.backend.calls {
			if strings.HasPrefix(c, "POST") {
				at = append(at, g.backend.at[i])
				if c != "POST http://shop/void/key%201/1796000000000001" {
					t.Errorf("called %s", c)
				}
			}
		}
		if len(at) != 3 {
			t.Fatalf("called %d times", len(at))
		}
		for i := range at[1:] {
			if d := at[i+1].Sub(at[i]); d < DefaultTimeout+storeTimeout {
				t.Errorf("called again after %s: the first call may have been under way", d)
			}
		}
		if got := g.metric("oncewall_bridge_compensations_total", "failed"); got != 2 {
			t.Errorf("%v failed", got)
		}
	})
}

// A record that changed between question and answer is left alone.
func TestChangedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *rig
		g = newRig(t, func(int, *http.Request) (int, string, error) {
			g.store.mu.Lock()
			g.store.records[store.Name{1}].Fence++
			g.store.mu.Unlock()
			return 200, strings.Replace(promise, "0001", "0009", 1), nil
		})
		n := g.add(1, nil)
		g.store.records[n].Owner = []byte("owner")
		g.start()
		after(2500 * time.Millisecond)
		g.stop()
		if r := g.record(n); r.State != store.Unknown || len(g.store.findings) != 1 || g.store.findings[0].Fence != fence {
			t.Errorf("%+v, %+v", r.Record, g.store.findings)
		}
		if got := g.metric("oncewall_bridge_recovered_total", "conflict"); got != 1 {
			t.Errorf("%v conflicts", got)
		}
	})
}

// A store that does not take the answer is told again.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(promise))
		n := g.add(1, nil)
		tries := 0
		g.store.verdict = func(store.Finding) (store.Verdict, error) {
			if tries++; tries < 4 {
				return 0, fmt.Errorf("%w: gone", store.ErrUnavailable)
			}
			g.store.records[n].State = store.Released
			return store.Done, nil
		}
		g.start()
		after(time.Minute)
		g.stop()
		if tries != 4 {
			t.Errorf("%d tries", tries)
		}
	})
}

// What an operator is told of a record is what this bridge knows of it.
func TestTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(`{"outcome":"not-executed"}`))
		n := g.add(2, nil)
		r, err := New(g.config)
		if err != nil {
			t.Fatal(err)
		}
		record := func() *store.Record {
			list, _ := g.store.Look(t.Context(), []store.Name{n})
			return &list[0]
		}
		if why := r.Why(n, record()); why != "probe" {
			t.Errorf("before anybody was asked: %q", why)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); r.Run(ctx, time.Minute) }()
		after(10 * time.Second)
		if why := r.Why(n, record()); why != whyUnpromised {
			t.Errorf("after a snapshot: %q", why)
		}
		other := *record()
		other.Fence++
		if why := r.Why(n, &other); why != "probe" {
			t.Errorf("of another fence: %q", why)
		}
		other.Policy.Recovery = wire.Hold
		if why := r.Why(n, &other); why != whyHold {
			t.Errorf("of one that holds: %q", why)
		}
		other.LeaseOver = false
		if why := r.Why(n, &other); why != "" {
			t.Errorf("of one that is not overdue: %q", why)
		}
		cancel()
		<-ended
	})
}

func TestBackoff(t *testing.T) {
	for tries := range 100 {
		d := backoff(tries, time.Second, 5*time.Minute)
		most := 5 * time.Minute
		if tries < 9 {
			most = time.Second << tries
		}
		if d < most/2 || d > most {
			t.Errorf("%d: %s, want %s to %s", tries, d, most/2, most)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("no store")
	}
	if _, err := New(Config{Store: &fakeStore{}, Scopes: make([]Scope, 1)}); err == nil {
		t.Error("no sealer")
	}
}
