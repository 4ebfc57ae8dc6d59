package reconcile

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// Shares: what another has is left alone until it ends, and given back at the end.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(promise))
		g.store.holders = [2]string{"dead", "alive"}
		mine, others := g.add(2, nil), g.add(1, nil)
		g.start()
		after(20 * time.Second)
		if g.record(mine).State != store.Released || g.record(others).State != store.Unknown {
			t.Errorf("%v %v", g.record(mine).State, g.record(others).State)
		}
		if a, b := g.metric("oncewall_bridge_recovery_shares"), g.metric("oncewall_bridge_recovery_share_takeovers_total"); a != 1 || b != 1 {
			t.Errorf("%v shares, %v taken over", a, b)
		}
		g.store.mu.Lock()
		g.store.holders[1] = ""
		g.store.mu.Unlock()
		after(20 * time.Second)
		if g.record(others).State != store.Released {
			t.Error("a free share was not taken")
		}
		g.stop()
		if g.store.yielded != 2 {
			t.Errorf("%d shares given back", g.store.yielded)
		}
	})
}

// At the end a question that is under way is answered and written down; none is
// begun.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, func(int, *http.Request) (int, string, error) {
			<-time.After(3 * time.Second) // of the bubble
			return 200, promise, nil
		})
		g.config.Scopes[0].Probe.Concurrency = 1
		first, second := g.add(1, nil), g.add(3, nil)
		g.start()
		after(3 * time.Second)
		g.stop()
		a, b := g.record(first).State, g.record(second).State
		if a != store.Released && b != store.Released || a == b || g.backend.count() != 1 {
			t.Errorf("%v %v, asked %d times", a, b, g.backend.count())
		}
	})
}

// The indexes are looked after at the start, daily, and when a server was
// replaced.
func TestTend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, say(promise))
		g.start()
		counts := func() [2]int {
			g.store.mu.Lock()
			defer g.store.mu.Unlock()
			return [2]int{g.store.tidied, g.store.scanned}
		}
		after(time.Hour)
		if got := counts(); got != [2]int{2, 1} {
			t.Errorf("after the start: %v", got)
		}
		after(24 * time.Hour)
		if got := counts(); got != [2]int{4, 2} {
			t.Errorf("a day later: %v", got)
		}
		g.store.mu.Lock()
		g.store.incarnat = "2"
		g.store.mu.Unlock()
		after(time.Minute)
		if got := counts(); got != [2]int{6, 3} {
			t.Errorf("after a failover: %v", got)
		}
		g.stop()
	})
}
