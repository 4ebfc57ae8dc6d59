package filter

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/key"
	"github.com/oncewall/oncewall/filter/wire"
)

// lookupHeaders takes the headers of a request about a key: GET or HEAD of the
// lookup path with the key behind it or in the query ([lookupKey]). The query's
// scope names the rule; it may be left out where all rules have one. The caller is
// named as the rule names it, so nobody learns of another's keys. It never claims
// anything.
func (s *Stream) lookupHeaders(now int64, r Request) Action {
	path, query, _ := strings.Cut(s.path, "?")
	rule, problem := s.lookupRule(query)
	if problem != nil {
		s.reply(problem, extra{})
		return Pause
	}
	asked, refused := lookupKey(path[len(s.w.cfg.Lookup):], query)
	if refused == nil {
		asked, refused = s.lookupSpelling(rule, asked)
	}
	if refused != nil {
		s.reply(refused.problem, refused.extra)
		return Pause
	}
	principal, ok := principalOf(rule, r)
	if !ok {
		s.reply(problemPrincipalMissing, extra{})
		return Pause
	}
	s.state = stateClaiming
	s.lookup = rule
	t := &task{rule: rule, stream: s, deadline: now + int64(s.w.cfg.Bridge.Timeout),
		op: wire.Operation{Kind: wire.Get, Scope: rule.Scope, Principal: principal, Key: asked, Fetch: true}}
	t.measure()
	s.w.enqueue(now, t)
	s.w.pump(now)
	s.w.schedule()
	return Pause
}

// What a request about a key is told of where its key stands.
const (
	lookupPathKey  = "A key with a slash or backslash, or that is a dot segment, goes into the query: ?key=KEY."
	lookupTwoKeys  = "The key goes into the path or into the query, not into both."
	lookupQueryKey = "The query that holds the key can be read in more than one way."
)

// lookupKey takes the key from behind the lookup path, percent-encoded, or from
// the query's field "key". In the path it has nothing that a proxy may read as more
// than one segment, or as none: the answer would then be about another key.
func lookupKey(rest, query string) (text string, _ *refusal) {
	invalid := func(reason string) (string, *refusal) {
		return "", &refusal{problemKeyInvalid, extra{reason: reason}}
	}
	text, inQuery, err := canon.LookupForm([]byte(query), "key")
	switch rest = strings.TrimPrefix(rest, "/"); {
	case err != nil:
		return invalid(lookupQueryKey)
	case inQuery && rest != "":
		return invalid(lookupTwoKeys)
	case !inQuery:
		var ok bool
		if text, ok = percentDecoded(rest); !ok {
			return invalid("")
		}
		if strings.ContainsAny(text, `/\`) || text == "." || text == ".." {
			return invalid(lookupPathKey)
		}
	}
	if text == "" || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return invalid("")
	}
	return text, nil
}

// lookupSpelling returns the key as the rules of the scope record it, by the first
// that takes it; where none does, what rule says against it.
func (s *Stream) lookupSpelling(rule *Rule, text string) (string, *refusal) {
	k, err := rule.recordedKey(text)
	if err == nil {
		return k, nil
	}
	for _, cr := range s.w.cfg.Rules {
		if other := s.w.rules[cr]; other != nil && other.Scope == rule.Scope {
			if k, otherErr := other.recordedKey(text); otherErr == nil {
				return k, nil
			}
		}
	}
	return "", invalidKey(err)
}

// recordedKey is the key as the rule names records by it.
func (r *Rule) recordedKey(text string) (string, error) {
	if len(text) > r.Key.MaxLength {
		return "", key.ErrTooLong
	}
	return r.Key.Grammar.Check(text)
}

// lookupRule finds the rule whose keys are asked about. A scope that one of its
// rules keeps from being looked up is as unknown as one that nobody has: the path
// lies outside of what protects a rule's own, and a constant names everybody.
func (s *Stream) lookupRule(query string) (*Rule, *problem) {
	scope, named, err := canon.LookupForm([]byte(query), "scope")
	if err != nil {
		return nil, problemLookupScope
	}
	var found *Rule
	for _, cr := range s.w.cfg.Rules {
		rule := s.w.rules[cr]
		switch {
		case rule == nil || !rule.Lookup || named && !rule.OwnsScope(scope):
		case found == nil:
			found = rule
		case found.Scope != rule.Scope:
			return nil, problemLookupScope
		}
	}
	if found == nil || !s.w.cfg.LooksUp(found.Scope) {
		return nil, problemLookupScope
	}
	return found, nil
}

// percentDecoded decodes a path's segment; false: a "%" that encodes nothing.
func percentDecoded(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		high, low := unhex(s[i+1]), unhex(s[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		b = append(b, byte(high<<4|low))
		i += 2
	}
	return string(b), true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// lookupStates are the states as the answer has them.
var lookupStates = [...]string{
	wire.StateIssued: "issued", wire.StateReleased: "released", wire.StateProcessing: "processing",
	wire.StateUnknown: "unknown", wire.StateExecuted: "executed", wire.StateCompleted: "completed",
}

// lookupExpired stands for a tombstone: a final record past its life, or one that
// has been erased. Which, its caller is not told; an erased one has no status.
const lookupExpired = "expired"

// lookedUp is the answer to a lookup; docs/api.md describes it.
type lookedUp struct {
	State       string        `json:"state"`
	Scope       string        `json:"scope"`
	Status      uint16        `json:"status,omitempty"`
	AgeMS       int64         `json:"age_ms,omitempty"`
	LeaseMS     int64         `json:"lease_ms,omitempty"`
	RemainingMS int64         `json:"remaining_ms,omitempty"`
	ResultKept  bool          `json:"result_kept"`
	Result      *lookedResult `json:"result,omitempty"`
}

type lookedResult struct {
	Status  uint16       `json:"status"`
	Headers []lookedLine `json:"headers,omitempty"`
	Body    string       `json:"body,omitempty"` // base64
}

type lookedLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// lookupAnswered tells the caller what is known of the key.
func (s *Stream) lookupAnswered(r *wire.Result) {
	if s.state != stateClaiming {
		return
	}
	switch {
	case r.Code == wire.NotFound:
		s.reply(problemKeyUnknown, extra{})
		return
	case r.Code != wire.Found || int(r.State) >= len(lookupStates) || lookupStates[r.State] == "":
		s.refused(r)
		return
	}
	state := lookupStates[r.State]
	if (r.State == wire.StateExecuted || r.State == wire.StateCompleted) && r.RemainingMS <= 0 {
		state = lookupExpired
	}
	out := lookedUp{State: state, Scope: s.lookup.Scope, Status: r.Status, AgeMS: r.AgeMS,
		LeaseMS: r.RetryAfterMS, RemainingMS: r.RemainingMS}
	var kept wire.Response
	if len(r.Result) > 0 && !s.lookup.policy.RejectRepeat && wire.DecodeResponse(r.Result, &kept) == nil {
		out.ResultKept = true
		out.Result = &lookedResult{Status: kept.Status, Body: base64.StdEncoding.EncodeToString(kept.Body)}
		for _, h := range kept.Headers {
			if !s.lookup.replays(h.Name) {
				continue
			}
			out.Result.Headers = append(out.Result.Headers, lookedLine{h.Name, h.Value})
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		s.reply(problemMisconfigured, extra{})
		return
	}
	reply := &LocalReply{Status: 200, Details: "oncewall_lookup", Body: append(body, '\n'), GRPC: -1, Headers: [][2]string{
		{"content-type", "application/json"}, {"cache-control", "no-store"}}}
	if r.State == wire.StateProcessing && r.RetryAfterMS > 0 {
		reply.Headers = append(reply.Headers, [2]string{"retry-after", itoa((r.RetryAfterMS + int64(time.Second/time.Millisecond) - 1) / 1000)})
	}
	s.send(reply)
}
