package filter

import (
	"strings"
	"time"
)

// Decision is what became of a covered request, told once for each. It holds no
// key, no header and no body.
type Decision struct {
	Rule   string // the rule's name; "issue" for requests that ask for a key or about one
	Code   Code
	Status uint32 // of the answer made here; 0: the request was forwarded
	// Observed says that the rule only observed the request: Code is what an
	// enforcing rule would have done, behind "would-".
	Observed bool
}

// Refused reports whether the request was answered here with a refusal.
func (d *Decision) Refused() bool { return d.Status >= 400 && d.Code != CodeReplayed }

// Decisions that no answer carries.
const (
	// CodeNoKey: a request without a key, where the rule requires none, passes.
	CodeNoKey Code = "no-key"
	// CodeLoop: the request has come back to a gateway of its namespace, which holds
	// its claim, and passes.
	CodeLoop Code = "loop"
	// CodeGone: the stream ended before it had an answer.
	CodeGone Code = "gone"
)

// detailsPrefix begins the response code details of every answer made here.
const detailsPrefix = "oncewall_"

// answeredHere tells of an answer made here.
func (s *Stream) answeredHere(r *LocalReply) {
	s.tell(Decision{Code: Code(strings.TrimPrefix(r.Details, detailsPrefix)), Status: r.Status})
}

// passes lets a request without a key go, where the rule requires none.
func (s *Stream) passes() {
	s.state = statePassing
	s.tell(Decision{Code: CodeNoKey})
}

// mark tells the client and the logs what became of a request that upstream
// answered, or might have.
func (s *Stream) mark() {
	s.emit(SetResponseHeader, HeaderStatus, string(s.response.code))
	s.tell(Decision{Code: s.response.code})
}

// gone tells of a stream that ended before it had an answer.
func (s *Stream) gone() {
	s.w.emit(Effect{Kind: Decide, Decision: Decision{Rule: s.ruleName(), Code: CodeGone}})
}

func (s *Stream) tell(d Decision) {
	d.Rule = s.ruleName()
	s.w.emit(Effect{Kind: Decide, Stream: s, Decision: d})
}

func (s *Stream) ruleName() string {
	if s.rule == nil {
		return "issue"
	}
	return s.rule.Name
}

// maxLines bounds the refusals that a worker logs in one second. A storm of
// retries must not become a storm of lines.
const maxLines = 50

// Lines bounds what a worker logs.
type Lines struct {
	second     int64
	n          int
	suppressed uint64
}

// Take reports whether a line may be written now, and how many were not since
// the last one that was.
func (l *Lines) Take(now int64) (ok bool, suppressed uint64) {
	if second := now / int64(time.Second); second != l.second {
		l.second, l.n = second, 0
	}
	if l.n == maxLines {
		l.suppressed++
		return false, 0
	}
	l.n++
	suppressed, l.suppressed = l.suppressed, 0
	return true, suppressed
}
