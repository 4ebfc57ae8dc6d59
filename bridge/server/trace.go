package server

import (
	"context"
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// sampled returns the trace of an operation where it is one, so that nothing else
// gets into a record, a log line or a span. A trace that is none is no fault of the
// operation.
func sampled(trace string) string {
	if wire.SampledTrace(trace) {
		return trace
	}
	return ""
}

// span makes the span of one operation that has been answered, as a child of its
// request's. Where the store knows the trace of the first request under the key,
// the span is linked to it: whoever looks at a replay finds what it replays.
//
// There is no span for a batch: its operations belong to as many traces, and a
// span has one parent. What a batch took is in the span of each.
func (s *Server) span(j *job, op *wire.Operation, result *wire.Result, name *store.Name, first string) {
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(j.arrival),
		trace.WithAttributes(
			attribute.String("oncewall.namespace", j.batch.Namespace),
			attribute.String("oncewall.scope", op.Scope),
			attribute.String("oncewall.code", outcomeName(result.Code)),
			attribute.Int("oncewall.batch_size", len(j.results)),
		),
	}
	if first != "" && first != op.Trace {
		options = append(options, trace.WithLinks(trace.Link{
			SpanContext: remote(first),
			Attributes:  []attribute.KeyValue{attribute.String("oncewall.link", "first-request")},
		}))
	}
	ctx := trace.ContextWithRemoteSpanContext(context.Background(), remote(op.Trace))
	_, span := s.cfg.Tracer.Start(ctx, "oncewall "+operationName(op.Kind), options...)
	if span.IsRecording() {
		if name != nil {
			span.SetAttributes(attribute.String("oncewall.record", recordHint(name)))
		}
		switch result.Code {
		case wire.Created:
			span.SetAttributes(attribute.Int("oncewall.attempt", int(result.Attempt)))
		case wire.Unavailable, wire.Invalid:
			span.SetStatus(otelcodes.Error, outcomeName(result.Code))
		}
		if result.AgeMS > 0 {
			span.SetAttributes(attribute.Int64("oncewall.age_ms", result.AgeMS))
		}
	}
	span.End(trace.WithTimestamp(j.arrival.Add(j.took)))
}

// remote reads a traceparent that is one.
func remote(traceparent string) trace.SpanContext {
	id, _ := trace.TraceIDFromHex(traceparent[3:35])
	parent, _ := trace.SpanIDFromHex(traceparent[36:52])
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: parent, TraceFlags: trace.FlagsSampled, Remote: true})
}

// traceID is the part of a traceparent by which a trace is looked up.
func traceID(traceparent string) string { return traceparent[3:35] }

// recordHint is the beginning of a record's name, by which an operator who holds
// the key finds the lines about it (oncewall keys get prints the name). The name
// is an HMAC under the naming secret: these 32 of its 256 bits tell nothing of the
// key, and who guesses a key cannot test the guess.
func recordHint(name *store.Name) string { return hex.EncodeToString(name[:4]) }

// tell logs and traces a batch that has been answered. It costs operations that
// were granted, and whose requests are not traced, nothing. replies are those of
// [Server.do].
func (s *Server) tell(j *job, replies []store.Reply) {
	at := 0 // into j.index, which ascends
	var now time.Time
	for i := range j.results {
		op, result := &j.batch.Ops[i], &j.results[i]
		var name *store.Name
		first := ""
		if at < len(j.index) && j.index[at] == i {
			name = &j.ops[at].Name
			if at < len(replies) {
				first = sampled(replies[at].Trace)
			}
			at++
		}
		traced := sampled(op.Trace)
		if s.cfg.Tracer != nil && traced != "" {
			s.span(j, op, result, name, first)
		}
		if s.cfg.LogPerSecond > 0 && worthALine(op.Kind, result.Code) {
			if now.IsZero() {
				now = time.Now()
			}
			s.line(now, j, op, result, name, traced, first)
		}
	}
}
