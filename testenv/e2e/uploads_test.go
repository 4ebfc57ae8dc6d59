package e2e

import (
	"strings"
	"testing"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestRequestBodies sends bodies of all sizes up to what a rule can compare, and
// beyond it, on both protocols, with their length told and without: all of it
// is read before the key is claimed, and nothing may stall.
func TestRequestBodies(t *testing.T) {
	w := world(t)
	const limit = 1 << 20
	for _, p := range []struct {
		name     string
		protocol story.Protocol
	}{{"h1", story.HTTP1}, {"h2c", story.HTTP2}} {
		for _, chunked := range []bool{false, true} {
			name := p.name
			if chunked {
				name += "/length not told"
			}
			t.Run(name, func(t *testing.T) {
				c := client(t, w.Town.Gateway(0), p.protocol)
				for _, size := range []int{1, 16 << 10, 64<<10 + 1, 700_000, limit - 1, limit} {
					key := w.Key("body")
					r := story.Post("/uploads", key).Body(strings.Repeat("b", size))
					other := r.Body(strings.Repeat("b", size-1) + "c")
					if chunked {
						r, other = r.Chunked(), other.Chunked()
					}
					wantKind(t, "first", c.Send(t.Context(), r), "201 created")
					wantKind(t, "retry", c.Send(t.Context(), r), "201 replayed")
					wantKind(t, "the last byte differs", c.Send(t.Context(), other), "422 key-reused")
					wantRuns(t, w.Town, key, 1)
				}
				key := w.Key("body")
				large := story.Post("/uploads", key).Body(strings.Repeat("b", limit+1))
				if chunked {
					large = large.Chunked()
				}
				// Refused before it has been read to its end: an HTTP/1.1 client may
				// be cut off while it still sends.
				if a := c.Send(t.Context(), large); a.Kind() != "413 too-large" && (a.Kind() != story.Lost || p.protocol == story.HTTP2) {
					t.Errorf("a byte too many: %s", a)
				}
				wantRuns(t, w.Town, key, 0)
				wantKind(t, "the key was not consumed", c.Send(t.Context(), large.Body("small")), "201 created")
			})
		}
	}
}
