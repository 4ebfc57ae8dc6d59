package filter

import (
	"strconv"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/wire"
)

// maxIssueBody bounds the body of a request for a key.
const maxIssueBody = 4 << 10

// candidate is a rule for which the caller may be given a key.
type candidate struct {
	rule      *Rule
	principal string
	known     bool
}

// issueHeaders takes the headers of a request for a key. Which rule names the
// caller is known only from the body, so every rule that takes issued keys
// looks at the headers now.
func (s *Stream) issueHeaders(now int64, r Request, end bool) Action {
	if s.w.cfg.IsDiscovery(s.method, s.path) {
		return s.discover(r)
	}
	if s.method != "POST" {
		return s.lookupHeaders(now, r)
	}
	for _, cr := range s.w.cfg.Rules {
		if !cr.Key.Issued {
			continue
		}
		rule := s.w.rules[cr]
		p, ok := principalOf(rule, r)
		s.candidates = append(s.candidates, candidate{rule, p, ok})
	}
	if _, query, _ := strings.Cut(s.path, "?"); query != "" {
		if scope, found, err := canon.LookupForm([]byte(query), "scope"); found || err != nil {
			return s.issueFor(now, Pause, scope, err == nil)
		}
	}
	if !s.readsBody() {
		s.reply(problemScopeUnknown, extra{reason: "Here it is named in the query: ?scope=NAME."})
		return Pause
	}
	if n, ok := contentLength(r); ok && n > maxIssueBody {
		s.reply(problemTooLarge, extra{})
		return Pause
	}
	if end {
		return s.issueComplete(now, Pause)
	}
	s.state = stateReading
	return Pause
}

// issueComplete takes the body, which names the scope where the query does not.
func (s *Stream) issueComplete(now int64, paused Action) Action {
	scope, found, err := canon.Lookup(s.body, "/scope")
	s.dropBody()
	return s.issueFor(now, paused, scope, found && err == nil)
}

// issueFor asks for a key of a scope; ok: it is named as it should be.
func (s *Stream) issueFor(now int64, paused Action, scope string, ok bool) Action {
	if !ok {
		s.reply(problemScopeUnknown, extra{})
		return discardOf(paused)
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		if !c.rule.OwnsScope(scope) {
			continue
		}
		if !c.known {
			s.reply(problemPrincipalMissing, extra{})
			return discardOf(paused)
		}
		s.state = stateClaiming
		t := &task{rule: c.rule, stream: s, deadline: now + int64(s.w.cfg.Bridge.Timeout),
			op: wire.Operation{Kind: wire.Issue, Scope: c.rule.Scope, Principal: c.principal, Trace: s.trace}}
		t.measure()
		s.w.enqueue(now, t)
		s.w.pump(now)
		s.w.schedule()
		return paused
	}
	s.reply(problemScopeUnknown, extra{})
	return discardOf(paused)
}

// refused takes an answer by which the bridge carried out nothing. A code that
// this filter does not know is one.
func (s *Stream) refused(r *wire.Result) {
	if r.Code == wire.OverQuota {
		s.reply(problemOverQuota, extra{retryAfterMS: max(r.RetryAfterMS, 1)})
		return
	}
	s.reply(problemMisconfigured, extra{})
}

// issueAnswered hands the key to the caller.
func (s *Stream) issueAnswered(r *wire.Result) {
	if s.state != stateClaiming {
		return
	}
	if r.Code != wire.Issued {
		s.refused(r)
		return
	}
	b := make([]byte, 0, 128+len(r.Key))
	b = append(b, `{"key":`...)
	b = strconv.AppendQuote(b, r.Key)
	b = append(b, `,"expires_at":"`...)
	b = time.UnixMilli(r.ExpiresAtMS).UTC().AppendFormat(b, time.RFC3339)
	b = append(b, '"', '}', '\n')
	s.w.count(MetricIssued)
	s.send(&LocalReply{Status: 201, Details: "oncewall_issued", Body: b, GRPC: -1, Headers: [][2]string{
		{"content-type", "application/json"}, {"cache-control", "no-store"}, {HeaderStatus, string(CodeIssued)}}})
}
