package reconcile

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
)

// A bridge that stood still after it had marked a compensation does not call it: by
// now another bridge may.
func TestStoodStillBeforeTheCompensation(t *testing.T) {
	for stood, want := range map[time.Duration]string{0: "", storeTimeout: "", storeTimeout + 1: whyCompensate} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, func(int, *http.Request) (int, string, error) { return 204, "", nil })
			g.compensated()
			n := g.add(1, nil)
			r, err := New(g.config)
			if err != nil {
				t.Fatal(err)
			}
			g.store.verdict = func(f store.Finding) (store.Verdict, error) {
				if f.Outcome == store.Compensating {
					<-time.After(stood) // the bubble's clock
				}
				return store.Done, nil
			}
			why := r.free(t.Context(), r.scopes[0], &task{name: n, record: g.record(n).Record, about: &About{Key: "k", Fence: "1"}})
			if calls := g.backend.count(); why != want || (calls == 1) != (want == "") {
				t.Errorf("after %s: %q, %d calls", stood, why, calls)
			}
		})
	}
}
