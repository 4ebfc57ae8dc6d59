package reconcile

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oncewall/oncewall/bridge/health"
	"github.com/oncewall/oncewall/bridge/store"
)

// The part is degraded while the records cannot be read, or a probe fails, and
// well again afterwards. The bridge is ready all the while.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		g := newRig(t, func(int, *http.Request) (int, string, error) {
			if broken.Load() {
				return 0, "", errBroken
			}
			return 200, promise, nil
		})
		g.start()
		defer g.stop()
		want := func(state health.State, detail string) {
			t.Helper()
			sum := health.Check(t.Context(), []health.Part{g.reconciler.Part()})
			if r := sum.Parts["recovery"]; r.State != state || !strings.Contains(r.Detail, detail) || !sum.Ready ||
				len(r.Members) != 1 || r.Members[0].Name != "payments" {
				t.Errorf("%+v", sum)
			}
		}
		after(time.Second)
		want(health.OK, "")

		name := g.add(2, nil)
		after(5 * time.Second)
		want(health.Degraded, "a probe fails")
		broken.Store(false)
		after(time.Minute)
		want(health.OK, "")
		if g.record(name).State != store.Released {
			t.Errorf("%v", g.record(name).State)
		}

		away := func(is bool) {
			g.store.mu.Lock()
			defer g.store.mu.Unlock()
			g.store.away = is
		}
		away(true)
		after(5 * time.Second)
		want(health.Degraded, "2 of 2 shares")
		away(false)
		after(5 * time.Second)
		want(health.OK, "")
	})
}

// A round that does not end is told.
func TestHealthOfAStandstill(t *testing.T) {
	g := newRig(t, say(promise))
	r, err := New(g.config)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if got := r.health(now); got.State != health.OK {
		t.Errorf("before the first round: %+v", got)
	}
	r.round(t.Context())
	now = time.Now()
	if got := r.health(now.Add(roundLimit)); got.State != health.OK {
		t.Errorf("within the limit: %+v", got)
	}
	if got := r.health(now.Add(roundLimit + r.cfg.Interval + time.Second)); got.State != health.Degraded || !strings.Contains(got.Detail, "no look") {
		t.Errorf("past it: %+v", got)
	}
}
