package filter

import (
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// A fault of the filter takes a stream away from it: the claim of what was forwarded
// does not wait for its lease.
func TestAbort(t *testing.T) {
	for _, c := range []struct {
		name, path string
		headers    bool // of the answer have come
		acked      bool // and what was told of them is acknowledged
		want       string
		noResult   bool
	}{
		{"forwarded", "/orders", false, false, "U", false},
		{"captured", "/orders", true, false, "U", false},
		{"streamed", "/after", true, false, "E", true},
		{"streamed, told", "/after", true, true, "E", true},
		{"observed", "/seen", false, false, "U", false},
		{"observed, captured", "/seen", true, false, "E", true},
		{"observed, told", "/seen", true, true, "E", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, true)
			if c.path == "/seen" {
				g = observeRig(t, true)
			}
			s := g.open("POST", c.path, "k", true)
			g.answerAll()
			if c.headers {
				g.respond(s, upstream(201), false)
				g.respondBody(s, "x", false)
			}
			if c.acked {
				g.answerAll()
			}
			s.core.Abort(g.now)
			s.done = true
			g.perform()
			var last wire.Operation
			for len(g.flights) > 0 {
				last = g.flights[0].batch.Ops[0]
				g.answer(0, false)
			}
			if r := g.records[recordKey(s.core)]; r.state != c.want || last.NoResult != c.noResult || len(last.Owner) == 0 {
				t.Errorf("%+v, told last: %+v", r, last)
			}
			if h := g.w.Held(); h.Bodies != 0 || h.Pending != 0 {
				t.Errorf("left behind: %+v", h)
			}
		})
	}
}
