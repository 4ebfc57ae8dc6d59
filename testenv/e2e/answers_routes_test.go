package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/story"
)

// redirects: Envoy follows an answer by itself; to the client, and to its key, it
// is one request.
func (a *around) redirects(t *testing.T) {
	c := door(t, a.Stack)
	for _, to := range []string{"/orders/covered", "/elsewhere"} {
		r, key := a.post("/orders/redirecting")
		r = r.With("x-shop-status", "307").With("x-shop-header", a.location(to))
		first := c.Send(t.Context(), r)
		wantKind(t, "first, to "+to, first, "201 created")
		again := c.Send(t.Context(), r)
		wantKind(t, "retry, to "+to, again, "201 replayed")
		if string(first.Body) != string(again.Body) {
			t.Errorf("first %s\nretry %s", first, again)
		}
		// One for each place.
		wantRuns(t, a.Stack, key, 2)
	}
	t.Run("at the same time", func(t *testing.T) {
		r, key := a.post("/orders/redirecting")
		r = r.With("x-shop-status", "307").With("x-shop-header", a.location("/orders/covered")).With("x-shop-delay", "300ms")
		got := story.Count(c.SendAll(t.Context(), 12, r)...)
		if !story.Exactly(1, "201 created").Rest("409 in-flight", "201 replayed").Met(got) {
			t.Errorf("12 at once: %s", got)
		}
		wantRuns(t, a.Stack, key, 2)
	})
	t.Run("too many", func(t *testing.T) {
		// The knobs go with the request, so that it is redirected until Envoy has
		// enough of it and hands the last answer over.
		r, key := a.post("/orders/redirecting")
		r = r.With("x-shop-status", "307").With("x-shop-header", a.location("/orders/redirecting"))
		wantKind(t, "first", c.Send(t.Context(), r), "307 created")
		wantKind(t, "retry", c.Send(t.Context(), r), "307 replayed")
		wantRuns(t, a.Stack, key, 3)
	})
	t.Run("answered on the way", func(t *testing.T) {
		r, key := a.post("/orders/redirecting")
		r = r.With("x-shop-status", "307").With("x-shop-header", a.location("/refusing"))
		// The second answer is Envoy's own, and the first has been acted upon.
		wantKind(t, "first", c.Send(t.Context(), r), "403 outcome-unknown")
		wantKind(t, "retry", c.Send(t.Context(), r), "409 outcome-unknown")
		wantRuns(t, a.Stack, key, 1)
	})
}

// retries: the route retries and hedges, and a key runs once all the same.
func (a *around) retries(t *testing.T) {
	c := door(t, a.Stack)
	for name, knobs := range map[string][2]string{
		"hedged":  {"x-shop-delay", "1s"},
		"failing": {"x-shop-status", "500"},
		"unknown": {"x-shop-fault", "close-after"},
	} {
		r, key := a.post("/orders/hedged")
		first := c.Send(t.Context(), r.With(knobs[0], knobs[1]).With("x-envoy-max-retries", "5").With("x-envoy-hedge-on-per-try-timeout", "true"))
		if first.Err != nil {
			t.Errorf("%s: %s", name, first)
		}
		wantRuns(t, a.Stack, key, 1)
	}
	// A mirror runs it a second time, by the operator's will, and is told whose
	// request it is.
	r, key := a.post("/orders/mirrored")
	wantKind(t, "mirrored", c.Send(t.Context(), r), "201 created")
	eventually(t, "the mirror", 10*time.Second, func() bool {
		x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
		return err == nil && x.Count == 2 && len(x.Requests[1].Headers["idempotency-fence"]) == 1 &&
			x.Requests[0].Headers["idempotency-fence"][0] == x.Requests[1].Headers["idempotency-fence"][0]
	})
	wantKind(t, "retry", c.Send(t.Context(), r), "201 replayed")
}

// madeByEnvoy: what Envoy answers in upstream's place is never a result.
func (a *around) madeByEnvoy(t *testing.T) {
	c := door(t, a.Stack)
	for _, v := range []struct {
		name, path string
		knob       [2]string
		kind       string
		runs       int
		retry      string // of the same request, without the knob
	}{
		{"no endpoint", "/orders/nowhere", [2]string{}, "503 released", 0, "503 released"},
		{"a redirect of the route", "/orders/moved", [2]string{}, "301 released", 0, "301 released"},
		{"connection closed before an answer", "/orders", [2]string{"x-shop-fault", "close-after"}, "503 outcome-unknown", 1, "409 outcome-unknown"},
		{"connection reset", "/orders", [2]string{"x-shop-fault", "rst"}, "503 outcome-unknown", 1, "409 outcome-unknown"},
	} {
		r, key := a.post(v.path)
		first := r
		if v.knob[0] != "" {
			first = r.With(v.knob[0], v.knob[1])
		}
		wantKind(t, v.name, c.Send(t.Context(), first), v.kind)
		wantKind(t, v.name+", retry", c.Send(t.Context(), r), v.retry)
		wantRuns(t, a.Stack, key, v.runs)
	}
	// An HTTP/2 upstream says that it has not begun.
	h2 := client(t, a.Gateway(0), story.HTTP2)
	r, key := a.post("/orders")
	wantKind(t, "refused stream", h2.Send(t.Context(), r.With("x-shop-fault", "refused")), "503 released")
	wantKind(t, "refused stream, retry", h2.Send(t.Context(), r), "201 created")
	wantRuns(t, a.Stack, key, 1)
}

// gateways: another gateway behind this one, and this one again.
func (a *around) gateways(t *testing.T) {
	c := door(t, a.Stack)
	t.Run("chain", func(t *testing.T) {
		r, key := a.post("/orders/chain")
		wantKind(t, "first", c.Send(t.Context(), r), "201 created")
		wantKind(t, "retry", c.Send(t.Context(), r), "201 replayed")
		wantRuns(t, a.Stack, key, 1)
		x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
		if err != nil || x.Requests[0].Headers["idempotency-gateway"][0] != "inner" {
			t.Errorf("the backend saw %v (%v)", x.Requests[0].Headers, err)
		}
	})
	t.Run("refused behind", func(t *testing.T) {
		// The inner gateway knows the key for another request, of which the outer
		// one knows nothing.
		r, key := a.post("/orders/chain")
		inner := client(t, a.inner, story.HTTP1)
		wantKind(t, "another request", inner.Send(t.Context(), r.Body(`{"other":1}`)), "201 created")
		for range 2 {
			got := c.Send(t.Context(), r)
			wantKind(t, "refused, not recorded", got, "422 key-reused")
			if p := got.Problem(); p.Code != "key-reused" || len(p.Parts) != 1 {
				t.Errorf("%s", got)
			}
		}
		wantRuns(t, a.Stack, key, 1)
	})
	t.Run("in flight behind", func(t *testing.T) {
		r, key := a.post("/orders/chain")
		inner := client(t, a.inner, story.HTTP1)
		slow := make(chan story.Answer, 1)
		go func() { slow <- inner.Send(t.Context(), r.With("x-shop-delay", "1500ms")) }()
		eventually(t, "the first to run", 10*time.Second, func() bool {
			x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
			return err == nil && x.Count == 1
		})
		wantKind(t, "meanwhile", c.Send(t.Context(), r), "409 in-flight")
		wantKind(t, "the first", <-slow, "201 created")
		wantKind(t, "then", c.Send(t.Context(), r), "201 created") // the inner one's replay is the outer one's first result
		wantKind(t, "and again", c.Send(t.Context(), r), "201 replayed")
		wantRuns(t, a.Stack, key, 1)
	})
	t.Run("loop", func(t *testing.T) {
		r, key := a.post("/orders/loop")
		first := c.Send(t.Context(), r)
		wantKind(t, "first", first, "201 created")
		if first.Took > 3*time.Second {
			t.Errorf("it waited for itself: %s", first.Took)
		}
		wantKind(t, "retry", c.Send(t.Context(), r), "201 replayed")
		wantRuns(t, a.Stack, key, 1)
		x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
		if err != nil || len(x.Requests[0].Headers["idempotency-fence"]) != 1 || x.Requests[0].Headers["idempotency-gateway"][0] != "edge" {
			t.Errorf("the backend saw %v (%v)", x.Requests[0].Headers, err)
		}
		got := story.Count(c.SendAll(t.Context(), 8, func() story.Request { r, _ := a.post("/orders/loop"); return r.With("x-shop-delay", "200ms") }())...)
		if !story.Exactly(1, "201 created").Rest("201 replayed").Met(got) {
			t.Errorf("8 at once: %s", got)
		}
	})
	t.Run("forged", func(t *testing.T) {
		// Whoever writes the headers himself is a client like any other.
		r, key := a.post("/orders")
		r = r.With("idempotency-gateway", "edge").With("idempotency-fence", "1").With("idempotency-attempt", "1").
			With("idempotency-gateway-proof", strings.Repeat("0", 32))
		wantKind(t, "first", c.Send(t.Context(), r), "201 created")
		wantKind(t, "retry", c.Send(t.Context(), r), "201 replayed")
		wantRuns(t, a.Stack, key, 1)
		x, err := story.Shop{Addr: a.Shop()}.Executions(t.Context(), key)
		if err != nil || x.Requests[0].Headers["idempotency-fence"][0] == "1" {
			t.Errorf("the backend saw %v (%v)", x.Requests[0].Headers, err)
		}
	})
}
