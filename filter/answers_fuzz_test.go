package filter

import (
	"math"
	"testing"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// FuzzAnswers gives a worker two answers of any bytes while a claim, a last word
// and a long poll are under way. Whatever they are, each request is answered once
// or forwarded once, and forwarded only on a grant that can be one; and the bridge's
// later, right answers end everything.
func FuzzAnswers(f *testing.F) {
	for name, r := range nonsense {
		b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 1000 {
			f.Add(b, []byte(name))
			f.Add(b, b)
		}
	}
	good, _ := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{{Code: wire.Created, Fence: 7, Attempt: 1, LeaseMS: math.MaxInt64}}})
	f.Add(good, good[:len(good)-1])
	f.Add([]byte{}, []byte{wire.Version})
	cfg := parseConfig(f, true)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		g := rigWith(t, cfg)
		settling := g.open("POST", "/orders", "settling", true)
		g.answerAll()
		g.respond(settling, upstream(201), true)
		waiting := g.open("POST", "/wait", "waiting", true)
		g.records[recordKey(waiting.core)] = &record{state: "P", owner: "another", fp: waiting.core.fingerprint}
		claiming := g.open("POST", "/after", "claiming", true)
		for _, body := range [][]byte{one, two, one} {
			for n := len(g.flights); n > 0; n-- {
				flight := g.flights[0]
				g.flights = g.flights[1:]
				grantable := map[string]bool{}
				var a wire.Answer
				if wire.DecodeAnswer(append([]byte(nil), body...), &a) == nil && len(a.Results) == len(flight.batch.Ops) {
					for i, r := range a.Results {
						if op := &flight.batch.Ops[i]; op.Kind == wire.Claim && r.Code == wire.Created && r.Fence > 0 && r.Attempt > 0 && r.LeaseMS > 0 {
							id := op.Scope + "\x00" + op.Principal + "\x00" + op.Key
							grantable[id] = true
							// The rig forwards under live claims alone.
							g.records[id] = &record{state: "P", owner: string(op.Owner), fence: r.Fence, fp: op.Fingerprint}
						}
					}
				}
				before := waiting.resumed + claiming.resumed
				g.w.CallAnswered(g.now, flight.id, append([]byte(nil), body...))
				g.perform()
				if waiting.resumed+claiming.resumed > before && len(grantable) == 0 {
					t.Fatal("forwarded without a grant")
				}
			}
			g.pass(120 * time.Millisecond)
			g.within()
		}
		for _, s := range []*seen{waiting, claiming} {
			for range 5 {
				g.settleDown()
			}
			if s.pausedReq {
				t.Fatalf("a request hangs in state %d", s.core.state)
			}
			if s.resumed > 0 {
				g.respond(s, upstream(201), true)
			}
		}
		for range 12 {
			g.settleDown()
		}
		for _, s := range []*seen{settling, waiting, claiming} {
			if s.pausedResp {
				t.Fatal("a response hangs")
			}
			g.finish(s, Trail{Attempts: s.resumed})
		}
		for range 12 {
			g.settleDown()
		}
		if h := g.within(); h.Pending != 0 || h.Bodies != 0 || h.Waiting != 0 {
			t.Fatalf("left behind: %+v", h)
		}
	})
}
