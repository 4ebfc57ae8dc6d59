package server

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/bridge/store/redis"
	"github.com/oncewall/oncewall/bridge/tracing"
	"github.com/oncewall/oncewall/filter/wire"
	"github.com/oncewall/oncewall/testenv/collector"
	"github.com/oncewall/oncewall/testenv/rediscluster"
)

const (
	trace1  = "4bf92f3577b34da6a3ce929d0e0e4736"
	trace2  = "0af7651916cd43dd8448eb211c80319c"
	parent1 = "00f067aa0ba902b7"
	parent2 = "b7ad6b7169203331"
)

func traceparent(trace, parent string) string { return "00-" + trace + "-" + parent + "-01" }

// traced starts a server whose spans go to a collector.
func traced(t *testing.T, st store.Store, protocol tracing.Protocol, edit ...func(*tracing.Config)) (*bridge, *collector.Collector) {
	t.Helper()
	started := map[tracing.Protocol]func() (*collector.Collector, error){tracing.GRPC: collector.GRPC, tracing.HTTP: collector.HTTP}
	c, err := started[protocol]()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	config := tracing.Config{Endpoint: c.Endpoint, Protocol: protocol, Ratio: 1, Every: 20 * time.Millisecond}
	for _, f := range edit {
		f(&config)
	}
	e, err := tracing.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(t.Context()) })
	return start(t, st, func(c *Config) { c.Tracer = e.Tracer() }), c
}

// spans polls until n spans have arrived, and returns them by their start.
func spans(t *testing.T, c *collector.Collector, n int) []collector.Span {
	t.Helper()
	poll(t, "spans arrive", func() bool { return len(c.Spans()) >= n })
	list := c.Spans()
	if len(list) != n {
		t.Fatalf("%d spans, want %d: %+v", len(list), n, list)
	}
	slices.SortFunc(list, func(a, b collector.Span) int { return a.Start.Compare(b.Start) })
	return list
}

// TestSpans plays a request, its completion, a concurrent one, a replay and a
// reused key, each of a request with a trace of its own, against both kinds of
// store and over both protocols.
func TestSpans(t *testing.T) {
	t.Run("embedded, grpc", func(t *testing.T) { testSpans(t, embedded(t), tracing.GRPC) })
	t.Run("cluster, http", func(t *testing.T) {
		c, err := rediscluster.Start(t.Context(), rediscluster.Config{Dir: t.TempDir(), Replicas: -1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		st, err := redis.Open(t.Context(), redis.Config{Addresses: c.Addresses(), Mode: redis.Cluster})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(st.Close)
		poll(t, "ready", func() bool { return st.Ready(t.Context()) == nil })
		testSpans(t, st, tracing.HTTP)
	})
}

func testSpans(t *testing.T, st store.Store, protocol tracing.Protocol) {
	b, c := traced(t, st, protocol)
	op := func(kind wire.Kind, owner byte, trace string) wire.Operation {
		o := testOp(kind, owner)
		o.Trace = trace
		return o
	}
	first, second := traceparent(trace1, parent1), traceparent(trace2, parent2)
	b.send(testPolicy(), op(wire.Claim, 1, first))
	b.send(testPolicy(), op(wire.Claim, 2, second))   // in flight
	b.send(testPolicy(), op(wire.Complete, 1, first)) // by the owner
	b.send(testPolicy(), op(wire.Claim, 3, second))   // a replay
	reused := op(wire.Claim, 4, second)
	reused.Fingerprint = testFingerprint(2)
	b.send(testPolicy(), reused)
	b.send(testPolicy(), op(wire.Claim, 5, ""), op(wire.Claim, 6, second[:53]+"00"), op(wire.Claim, 7, "nonsense"))

	list := spans(t, c, 5)
	for i, want := range []struct{ name, code, trace, parent, link string }{
		{"oncewall claim", "created", trace1, parent1, ""},
		{"oncewall claim", "in-flight", trace2, parent2, trace1},
		{"oncewall complete", "ok", trace1, parent1, ""},
		{"oncewall claim", "replayed", trace2, parent2, trace1},
		{"oncewall claim", "key-reused", trace2, parent2, trace1},
	} {
		s := list[i]
		link := ""
		if len(s.Links) == 1 && s.Links[0].SpanID == parent1 {
			link = s.Links[0].TraceID
		}
		if s.Name != want.name || s.Attributes["oncewall.code"] != want.code || s.TraceID != want.trace ||
			s.ParentID != want.parent || link != want.link || len(s.Links) > 1 || s.Failed {
			t.Errorf("span %d: %+v, want %+v", i, s, want)
		}
		if s.Attributes["oncewall.scope"] != "payments" || s.Attributes["oncewall.namespace"] != "edge" ||
			s.Resource["service.name"] != tracing.ServiceName || s.End.Before(s.Start) {
			t.Errorf("span %d: %+v", i, s)
		}
		for _, v := range slices.Concat(slices.Collect(maps.Values(s.Attributes)), []string{s.Name}) {
			if strings.Contains(v, "key-4711") || strings.Contains(v, "user-17") || strings.Contains(v, "ord-1") {
				t.Errorf("span %d carries what a client sent: %q", i, v)
			}
		}
	}
}

// TestSpanOfFailure: a claim without an answer is an error in its trace.
func TestSpanOfFailure(t *testing.T) {
	b, c := traced(t, answering(store.Reply{Err: store.ErrUnavailable}), tracing.GRPC)
	o := testOp(wire.Claim, 1)
	o.Trace = traceparent(trace1, parent1)
	b.send(testPolicy(), o)
	if s := spans(t, c, 1)[0]; !s.Failed || s.Attributes["oncewall.code"] != "unavailable" {
		t.Errorf("%+v", s)
	}
}

// TestForeignTraceOfStore: whoever writes to the store does not write our spans
// and lines.
func TestForeignTraceOfStore(t *testing.T) {
	b, c := traced(t, answering(store.Reply{Code: wire.InFlight, Trace: "00-evil"}), tracing.GRPC)
	o := testOp(wire.Claim, 1)
	o.Trace = traceparent(trace1, parent1)
	b.send(testPolicy(), o)
	if s := spans(t, c, 1)[0]; len(s.Links) != 0 {
		t.Errorf("linked to what is no trace: %+v", s)
	}
	if strings.Contains(b.logs.String(), "evil") {
		t.Error("it is in the log")
	}
}

// TestUnsampledCostsNothing: neither tracing nor lines allocate for a batch whose
// operations are granted and whose requests are not traced.
func TestUnsampledCostsNothing(t *testing.T) {
	b, _ := traced(t, embedded(t), tracing.GRPC)
	j := &job{batch: wire.Batch{Namespace: "edge"}}
	for i := range 64 {
		j.batch.Ops = append(j.batch.Ops, testOp(wire.Claim, byte(i)))
		j.results = append(j.results, wire.Result{Code: wire.Created})
		j.ops, j.index = append(j.ops, store.Operation{}), append(j.index, i)
	}
	replies := make([]store.Reply, 64)
	if n := testing.AllocsPerRun(100, func() { b.tell(j, replies) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTell(b *testing.B) {
	s := start(b, answering(store.Reply{Code: wire.Created}))
	j := &job{batch: wire.Batch{Namespace: "edge"}, results: make([]wire.Result, 64)}
	for i := range j.results {
		j.batch.Ops = append(j.batch.Ops, testOp(wire.Claim, byte(i)))
		j.results[i].Code = wire.Created
	}
	for b.Loop() {
		s.tell(j, nil)
	}
}
