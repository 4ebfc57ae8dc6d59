package filter

import "testing"

// A request that Envoy answers while it waits is out of its group at once, not
// when its stream has ended: whatever the group is told then is not for it.
func TestWaiterAnsweredByEnvoy(t *testing.T) {
	timeout := headers{status: 504, trail: Trail{Flags: 0x4}}
	t.Run("told of the end", func(t *testing.T) {
		g, first, waits := waiters(t, 2)
		g.respond(waits[0], timeout, true)
		if n := g.w.Held().Waiting; n != 1 {
			t.Errorf("%d wait", n)
		}
		g.ends(first)
		g.answerAll()
		if n := len(waits[0].replies); n != 0 {
			t.Errorf("%d replies to a request that Envoy has answered", n)
		}
		wantAll(t, waits[1:], CodeReplayed)
		g.finish(waits[0], Trail{})
		g.settleDown()
	})
	t.Run("its time is over", func(t *testing.T) {
		g, first, waits := waiters(t, 1)
		g.respond(waits[0], timeout, true)
		for range 100 {
			g.pass(waits[0].core.patience / 50)
		}
		if n := len(waits[0].replies); n != 0 {
			t.Errorf("%d replies to a request that Envoy has answered", n)
		}
		g.finish(waits[0], Trail{})
		g.ends(first)
		g.settleDown()
		if n := g.w.Held().Waiting; n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}
