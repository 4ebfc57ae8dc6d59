package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/story"
)

// TestClientGone: the client leaves while its order is with the backend. What
// became of it is not known, and it is not run again.
func TestClientGone(t *testing.T) {
	w := world(t)
	shop := story.Shop{Addr: w.Town.Shop()}
	for _, p := range []struct {
		name     string
		protocol story.Protocol
	}{{"h1", story.HTTP1}, {"h2c", story.HTTP2}} {
		t.Run(p.name, func(t *testing.T) {
			c := client(t, w.Town.Gateway(0), p.protocol)
			key := w.Key("gone")
			upload := story.Post("/uploads", key)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			left := make(chan story.Answer, 1)
			go func() { left <- c.Send(ctx, upload.With("x-shop-delay", "1s")) }()
			eventually(t, "the request's arrival", 10*time.Second, func() bool {
				x, err := shop.Executions(t.Context(), key)
				return err == nil && x.Count == 1
			})
			leave()
			wantKind(t, "the client that left", <-left, story.Lost)
			retry := retryWhile(t, c, upload, "409 in-flight", 5*time.Second)
			wantKind(t, "the retry", retry, "409 outcome-unknown")
			eventually(t, "the effect", 10*time.Second, func() bool {
				x, err := shop.Executions(t.Context(), key)
				return err == nil && x.Effects == 1
			})
			wantKind(t, "and later", c.Send(t.Context(), upload), "409 outcome-unknown")
			wantRuns(t, w.Town, key, 1)
		})
	}
}
