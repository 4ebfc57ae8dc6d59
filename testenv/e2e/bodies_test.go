package e2e

import (
	"bytes"
	"net/http"
	"slices"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// volatile are headers that belong to one exchange or to the gateway.
var volatile = []string{
	"Date", "Content-Length", "Connection", "Transfer-Encoding", "X-Envoy-Upstream-Service-Time",
	"Idempotency-Status", "Idempotent-Replayed", "Idempotency-Age", "Idempotency-Expires-In", "Idempotency-First-Seen",
}

func steady(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range volatile {
		h.Del(name)
	}
	return h
}

// TestReplayIsTheSameAnswer compares replays with first answers: status, header
// lines in their order, and body.
func TestReplayIsTheSameAnswer(t *testing.T) {
	w := world(t)
	for _, c := range []struct {
		name   string
		knobs  [][2]string
		status string
	}{
		{"receipt", nil, "201"},
		{"no content", [][2]string{{"x-shop-status", "204"}}, "204"},
		{"empty body", [][2]string{{"x-shop-body", ""}}, "201"},
		{"binary", [][2]string{{"x-shop-body", "%00%01%FF%FE%0D%0A%00"}}, "201"},
		{"gzip", [][2]string{{"x-shop-encode", "gzip"}}, "201"},
		{"chunked", [][2]string{{"x-shop-chunked", "1"}, {"x-shop-body-bytes", "100000"}}, "201"},
		{"just as large as is kept", [][2]string{{"x-shop-body-bytes", "262144"}}, "201"},
		{"lines of one name", [][2]string{{"x-shop-header", "link: <a>"}, {"x-shop-header", "link: <b>"}, {"x-shop-header", "x-empty:"}}, "201"},
		{"many lines", [][2]string{{"x-shop-header-count", "60"}}, "201"},
		{"redirect", [][2]string{{"x-shop-status", "303"}, {"x-shop-header", "location: /orders/1"}}, "303"},
		{"client error", [][2]string{{"x-shop-status", "404"}}, "404"},
		{"server error", [][2]string{{"x-shop-status", "500"}}, "500"},
		{"final by its own word", [][2]string{{"x-shop-status", "503"}, {"x-shop-header", "idempotency-outcome: final"}}, "503"},
	} {
		for _, p := range []struct {
			name     string
			protocol story.Protocol
		}{{"h1", story.HTTP1}, {"h2c", story.HTTP2}} {
			t.Run(c.name+"/"+p.name, func(t *testing.T) {
				cl := client(t, w.Town.Gateway(0), p.protocol)
				key := w.Key("same")
				r := story.Post("/orders", key)
				for _, k := range c.knobs {
					r = r.With(k[0], k[1])
				}
				first := cl.Send(t.Context(), r)
				wantKind(t, "first", first, c.status+" created")
				again := cl.Send(t.Context(), r)
				wantKind(t, "replay", again, c.status+" replayed")
				if !bytes.Equal(first.Body, again.Body) {
					t.Errorf("bodies differ: %d and %d bytes", len(first.Body), len(again.Body))
				}
				a, b := steady(first.Header), steady(again.Header)
				for name := range a {
					if !slices.Equal(a[name], b[name]) {
						t.Errorf("header %s: %q, replayed as %q", name, a[name], b[name])
					}
				}
				if len(a) != len(b) {
					t.Errorf("the replay has other headers: %v, want %v", b, a)
				}
				wantProto := map[story.Protocol]string{story.HTTP1: "HTTP/1.1", story.HTTP2: "HTTP/2.0"}[p.protocol]
				if again.Proto != wantProto {
					t.Errorf("protocol %s, want %s", again.Proto, wantProto)
				}
				wantRuns(t, w.Town, key, 1)
			})
		}
	}
}

// TestWhatIsNotKeptRunsOnce: answers that no record can hold pass whole, and
// their repeats are refused, never run.
func TestWhatIsNotKeptRunsOnce(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	for _, v := range []struct {
		name  string
		knobs [][2]string
		size  int // 0: not known beforehand
	}{
		{"one byte too large", [][2]string{{"x-shop-body-bytes", "262145"}}, 262145},
		{"large and chunked", [][2]string{{"x-shop-body-bytes", "5000000"}, {"x-shop-chunked", "1"}}, 5000000},
		{"events", [][2]string{{"x-shop-events", "5,20ms"}}, 0},
		{"not to be kept", [][2]string{{"x-shop-header", "idempotency-outcome: no-store"}}, 0},
	} {
		t.Run(v.name, func(t *testing.T) {
			key := w.Key("large")
			r := story.Post("/orders", key)
			for _, k := range v.knobs {
				r = r.With(k[0], k[1])
			}
			first := c.Send(t.Context(), r)
			wantKind(t, "first", first, "201 created")
			if v.size != 0 && len(first.Body) != v.size || len(first.Body) == 0 {
				t.Errorf("%d bytes of body came, want %d", len(first.Body), v.size)
			}
			again := c.Send(t.Context(), r)
			wantKind(t, "repeat", again, "409 response-not-kept")
			if n := again.Problem().OriginalStatus; n != 201 {
				t.Errorf("original_status %d, want 201", n)
			}
			wantRuns(t, w.Town, key, 1)
		})
	}
}

// TestReleasedByItsStatus: the backend says that it did not begin.
func TestReleasedByItsStatus(t *testing.T) {
	w := world(t)
	c := door(t, w.Town)
	for _, knobs := range [][][2]string{
		{{"x-shop-status", "429"}},
		{{"x-shop-status", "500"}, {"x-shop-header", "idempotency-outcome: not-executed"}},
	} {
		key := w.Key("released")
		r := story.Post("/orders", key)
		refused := r
		for _, k := range knobs {
			refused = refused.With(k[0], k[1])
		}
		if a := c.Send(t.Context(), refused); a.Status < 400 || a.Header.Get("Idempotency-Outcome") != "" {
			t.Errorf("first: %s", a)
		}
		wantKind(t, "the retry", c.Send(t.Context(), r), "201 created")
		wantRuns(t, w.Town, key, 2)
	}
}
