package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/collector"
	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// TestTraces: clients send traceparent through the real Envoy. The bridge's spans
// are children of their requests, and a replay's is linked to the trace of the
// request that it replays. What is not sampled gets none.
func TestTraces(t *testing.T) {
	t.Parallel()
	const (
		first, firstSpan   = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
		second, secondSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	)
	c, err := collector.GRPC()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "tracing: {otlp_endpoint: %q}\n", c.Endpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, stack.Options{BridgeConfig: file, Concurrency: 4})
	send := func(key, trace, want string) {
		t.Helper()
		// Another connection may meet another worker, which does not remember the key.
		r := story.Post("/orders", key).As("margaret")
		if trace != "" {
			r = r.With("traceparent", trace)
		}
		wantKind(t, key, client(t, s.Gateway(0), story.HTTP1).Send(t.Context(), r), want)
	}
	send("order-unsampled", "00-"+first+"-"+firstSpan+"-00", "201 created")
	send("order-untraced", "", "201 created")
	send("order-traced", "00-"+first+"-"+firstSpan+"-01", "201 created")
	claims := func(code string) (found []collector.Span) {
		for _, span := range c.Spans() {
			if span.Name == "oncewall claim" && span.Attributes["oncewall.code"] == code {
				found = append(found, span)
			}
		}
		return found
	}
	// A worker that remembers the key answers without the bridge, hence without a
	// span: another one has to be met.
	end := time.Now().Add(60 * time.Second)
	for len(claims("replayed")) == 0 {
		if time.Now().After(end) {
			t.Fatalf("no span of a replay within 60s: %+v", c.Spans())
		}
		send("order-traced", "00-"+second+"-"+secondSpan+"-01", "201 replayed")
		<-time.After(50 * time.Millisecond)
	}
	created, replayed := claims("created"), claims("replayed")
	if len(created) != 1 || created[0].TraceID != first || created[0].ParentID != firstSpan || len(created[0].Links) != 0 {
		t.Errorf("first request: %+v", created)
	}
	r := replayed[0]
	if r.TraceID != second || r.ParentID != secondSpan || !slices.Equal(r.Links, []collector.Link{{TraceID: first, SpanID: firstSpan}}) {
		t.Errorf("replay: %+v, want it linked to trace %s", r, first)
	}
	for _, span := range c.Spans() {
		if text := fmt.Sprint(span); strings.Contains(text, "order-") || strings.Contains(text, "margaret") {
			t.Errorf("a span tells of a key or a principal: %s", text)
		}
	}
}
