package filter

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// say answers the oldest flight with one result of its own making.
func (g *rig) say(r wire.Result) {
	g.t.Helper()
	f := g.flights[0]
	g.flights = g.flights[1:]
	b, err := wire.AppendAnswer(nil, &wire.Answer{Results: []wire.Result{r}})
	if err != nil {
		g.t.Fatal(err)
	}
	g.w.CallAnswered(g.now, f.id, b)
	g.perform()
}

// TestOverQuota: whatever the rule says of concurrent requests and of a store
// that is away, the request is refused, and nothing is left to release. A code of
// a later bridge's is refused as well.
func TestOverQuota(t *testing.T) {
	for _, path := range []string{"/orders", "/forward", "/wait", "/idempotency-keys"} {
		for _, c := range []struct {
			result wire.Result
			status uint32
			code   Code
			after  string
		}{
			{wire.Result{Code: wire.OverQuota, RetryAfterMS: 1500}, 429, CodeOverQuota, "2"},
			{wire.Result{Code: wire.OverQuota}, 429, CodeOverQuota, "1"},
			{wire.Result{Code: 200}, 500, CodeMisconfigured, ""},
		} {
			g := newRig(t, true)
			key, body := "k", `{"a":1}`
			if path == "/idempotency-keys" {
				key, body = "", `{"scope":"checkout"}`
			}
			s := g.open("POST", path, key, false)
			g.body(s, body, true)
			if len(g.flights) != 1 {
				t.Fatalf("%s: %d flights, replies %+v", path, len(g.flights), s.replies)
			}
			g.say(c.result)
			if len(s.replies) != 1 || s.resumed != 0 {
				t.Fatalf("%s: %d replies, resumed %d", path, len(s.replies), s.resumed)
			}
			r := s.replies[0]
			if r.Status != c.status || r.header(HeaderStatus) != string(c.code) || r.header("retry-after") != c.after ||
				!strings.Contains(string(r.Body), `"code":"`+string(c.code)+`"`) {
				t.Errorf("%s: %+v %s", path, r, r.Body)
			}
			g.finish(s, Trail{})
			if len(g.flights) != 0 {
				t.Errorf("%s: an operation followed: %+v", path, g.flights[0].batch.Ops)
			}
		}
	}
}
