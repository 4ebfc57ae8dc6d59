package e2e

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestTrapObserved makes the filter panic in each callback of a request that is
// only observed: the fault is counted, and the request goes its way as if there
// were no filter. Over HTTP/2 the chunk at hand is the last one, and an answer
// without a body has nothing behind its headers, so that nothing else would move
// what a callback has held.
func TestTrapObserved(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.json")
	write(t, rules, observedRules(t))
	s := start(t, stack.Options{Rules: rules, Debug: true})
	for _, p := range []story.Protocol{story.HTTP1, story.HTTP2} {
		c := client(t, s.Gateway(0), p)
		for _, where := range []string{"trap-rule", "trap-request-body", "trap-answer", "trap-response-headers", "trap-response-body", "trap-log", "trap-tick"} {
			for _, status := range []string{"201", "204"} {
				if where == "trap-response-body" && status == "204" {
					continue // there is none
				}
				t.Run(fmt.Sprintf("%v %s %s", p, where, status), func(t *testing.T) {
					before := counter(t, s, "panic")
					key := fmt.Sprint(p, where, status)
					seen := story.Post("/orders", key).With("x-observed", "yes").With("x-shop-status", status)
					wantKind(t, "the request", c.Send(t.Context(), seen.With(debugHeader, where)), status+" unmarked")
					wantRuns(t, s, key, 1)
					eventually(t, "the panic is counted", 20*time.Second, func() bool { return counter(t, s, "panic") == before+1 })
					wantKind(t, "the next one", c.Send(t.Context(), seen.Key(key+"-next")), status+" unmarked")
				})
			}
		}
	}
	wantIdle(t, s)
}
