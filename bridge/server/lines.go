package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// DefaultLogPerSecond is how many lines about replays, and about refusals of each
// code, are logged in a second.
const DefaultLogPerSecond = 10

// sampleRest is of how many operations beyond that one still gets a line.
const sampleRest = 1000

// sampler says which of many equal events get a line: the first of each second,
// and one in sampleRest of those after them. Each line says how many came before
// it without one, so that counts can be had from the log all the same.
type sampler struct {
	mu     sync.Mutex
	second int64
	seen   int
	held   int64 // events without a line since the last line
}

// pass reports whether an event at now gets a line, and how many before it got
// none. most is how many lines a second are let through first.
func (s *sampler) pass(now time.Time, most int) (held int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if second := now.Unix(); second != s.second {
		s.second, s.seen = second, 0
	}
	s.seen++
	if over := s.seen - most; over > 0 && over%sampleRest != 0 {
		s.held++
		return 0, false
	}
	held, s.held = s.held, 0
	return held, true
}

// worthALine reports answers that are a replay or a refusal. What was granted or
// done is not, nor is what a look-up found, nor a wait that is asked for again.
func worthALine(kind wire.Kind, code wire.Code) bool {
	switch code {
	case wire.InFlight:
		return kind != wire.Wait
	case wire.OK, wire.Created, wire.Issued, wire.Free, wire.Found, wire.NotFound:
		return false
	}
	return true
}

// classOf says what a claim or a wait looks like; 0: it is no repeat. Whoever waited
// came while the first request was in flight, however long ago that began.
func classOf(op *wire.Operation, r *wire.Result) wire.Class {
	if op.Kind != wire.Claim && op.Kind != wire.Wait {
		return 0
	}
	if op.Kind == wire.Wait {
		return wire.ClassOf(r.Code, op.Retried, 0)
	}
	return wire.ClassOf(r.Code, op.Retried, r.AgeMS)
}

// line logs a replay or a refusal, if it is its turn. It holds names of the
// configuration, codes, numbers, trace IDs and the beginning of a record's name:
// no key, principal, header value or body.
func (s *Server) line(now time.Time, j *job, op *wire.Operation, r *wire.Result, name *store.Name, traced, first string) {
	code := int(r.Code)
	if code >= len(s.samplers) {
		code = 0
	}
	held, ok := s.samplers[code].pass(now, s.cfg.LogPerSecond)
	if !ok {
		return
	}
	message := "refused"
	if r.Code == wire.Replayed {
		message = "replayed"
	}
	a := make([]slog.Attr, 0, 11)
	a = append(a, slog.String("namespace", cut(j.batch.Namespace)), slog.String("scope", cut(op.Scope)),
		slog.String("operation", operationName(op.Kind)), slog.String("code", outcomeName(r.Code)))
	if class := classOf(op, r); class != 0 {
		a = append(a, slog.String("class", class.String()), slog.Int64("age_ms", r.AgeMS))
	}
	if r.Text != "" {
		a = append(a, slog.String("fault", r.Text))
	}
	if name != nil {
		a = append(a, slog.String("record", recordHint(name)))
	}
	if traced != "" {
		a = append(a, slog.String("trace_id", traceID(traced)))
	}
	if first != "" {
		a = append(a, slog.String("first_trace_id", traceID(first)))
	}
	if held > 0 {
		a = append(a, slog.Int64("suppressed", held))
	}
	s.cfg.Log.LogAttrs(context.Background(), slog.LevelInfo, message, a...)
}

// cut bounds a name that was refused for its length.
func cut(name string) string { return name[:min(len(name), wire.MaxScopeBytes)] }
