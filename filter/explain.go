package filter

import (
	"encoding/binary"

	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// Verdict is what the core does with a request before any store has answered.
type Verdict uint8

// The verdicts.
const (
	NotCovered    Verdict = iota // no rule, or one with mode off: the request is not touched
	PassesKeyless                // the rule needs no key and there is none: forwarded unprotected
	Refused                      // answered here: Reply
	Claims                       // the bridge is asked: Claim, and Outcomes of its answers
	AsksForKey                   // a request for a key; the bridge is asked to issue one
	AsksAboutKey                 // a request about a key; the bridge is asked what it knows of it
	AsksForRules                 // a request for the discovery document
)

// Explanation is how the core judges one request.
type Explanation struct {
	Verdict Verdict
	Rule    *rules.Rule // nil: none, or a request for a key that names none; of a request about a key the rule whose it is
	// Principal as the rule's source gave it; Kind is 0 where it gave none.
	Principal PrincipalParts
	Key       string // empty: none, or not valid
	// KeySource is the index of the key's source in Rule.Key.From; -1 where no
	// source is present.
	KeySource   int
	Fingerprint []byte // in the form of [wire.AppendPart]; empty unless it claims
	Compared    Compared
	Reply       *LocalReply
	// Removed and Upstream are the header lines that a grant takes away from the
	// request and adds to it. Fence and attempt are examples.
	Removed  []string
	Upstream [][2]string
	// Outcomes is how the core turns the bridge's answers into the client's.
	Outcomes []Outcome
}

// PrincipalParts is what an encoded principal consists of.
type PrincipalParts struct {
	Kind          rules.PrincipalKind
	Issuer, Value string
}

// Situation is a state of the store that a request may find.
type Situation uint8

// The situations.
const (
	SituationNew       Situation = iota + 1 // the key is not known
	SituationInFlight                       // another request with the key runs; any wait has ended
	SituationReused                         // the key belongs to another request
	SituationFinished                       // the first request has its result
	SituationNotKept                        // it was executed, and its result was not kept
	SituationUnknown                        // it was forwarded, and its outcome is not known
	SituationExpired                        // an issued key past its life, or only a tombstone is left
	SituationNotIssued                      // not a key of this gateway; rules with issued keys
	SituationForeign                        // another caller's key, or of another scope; rules with issued keys
	SituationAway                           // the store does not answer in time
)

// Outcome is what a client gets in a situation.
type Outcome struct {
	Situation Situation
	Code      Code
	Status    uint32 // 0: upstream's own, or the recorded one
	Forwarded bool
}

// Explain runs the core on one request with a body that has come whole, and on
// each answer that the bridge may give. It has no effects. method and path are
// Envoy's :method and :path.
func Explain(cfg *rules.Config, method, path string, r Request, body []byte) Explanation {
	x := Explanation{KeySource: -1}
	s, rule := judge(cfg, method, path, r, body)
	x.Rule = rule
	if s == nil {
		return x
	}
	if s.rule == nil {
		x.Rule, x.Reply = nil, replyOf(s)
		switch {
		case cfg.IsDiscovery(method, path):
			x.Verdict, x.Reply = AsksForRules, nil
		case x.Reply != nil:
			x.Verdict = Refused
		case s.lookup != nil:
			x.Verdict, x.Rule = AsksAboutKey, s.lookup.Rule
		default:
			x.Verdict = AsksForKey
		}
		return x
	}
	if rule == nil {
		x.Verdict, x.Reply = Refused, replyOf(s)
		return x
	}
	x.Principal = principalParts(s.principal)
	x.Key = s.key
	x.KeySource = s.rule.presentKey(path, r, body)
	switch s.state {
	case statePassing:
		x.Verdict = PassesKeyless
	case stateClaiming:
		x.Verdict = Claims
		x.Fingerprint, x.Compared = s.fingerprint, s.content.compared
		x.headers(s)
		for k := SituationNew; k <= SituationAway; k++ {
			if s, _ := judge(cfg, method, path, r, body); k.possible(s.rule) {
				x.Outcomes = append(x.Outcomes, k.play(s))
			}
		}
	default:
		x.Verdict = Refused
		x.Reply = replyOf(s)
	}
	return x
}

// judge gives the request's events to a new worker. No stream: it is not covered;
// met is then the rule with mode off that excepts it, if one does.
func judge(cfg *rules.Config, method, path string, r Request, body []byte) (s *Stream, met *rules.Rule) {
	w := NewWorker(cfg, [16]byte{})
	w.judging = true
	rule := w.Select(method, path, r)
	switch {
	case w.MatchIssue(method, path):
		rule = nil
	case rule == w.ambiguous || rule == w.ambiguousObserved || rule == w.misrouted:
	case rule != nil:
		met = rule.Rule
	default:
		if _, byRoute := w.byRoute(method, r); byRoute {
			return nil, nil
		}
		return nil, w.selected(method, path, r)
	}
	s = w.Open(1, rule, method, path)
	s.RequestHeaders(0, r, len(body) == 0)
	if len(body) > 0 {
		s.RequestBody(0, len(body), true, func() []byte { return body })
	}
	return s, met
}

// headers lists what a grant does to the request's header lines.
func (x *Explanation) headers(s *Stream) {
	s.granted(0, &wire.Result{Code: wire.Created, Fence: 1, Attempt: 1, LeaseMS: s.rule.policy.LeaseMS}, 0)
	for _, e := range s.w.Effects() {
		switch e.Kind {
		case RemoveRequestHeader:
			x.Removed = append(x.Removed, e.Name)
		case SetRequestHeader:
			x.Upstream = append(x.Upstream, [2]string{e.Name, e.Value})
		}
	}
}

// replyOf returns the answer that the core gave here, nil where it gave none.
func replyOf(s *Stream) *LocalReply {
	for _, e := range s.w.Effects() {
		if e.Kind == Reply {
			return e.Reply
		}
	}
	return nil
}

// possible reports whether a rule's requests can find the situation.
func (k Situation) possible(r *Rule) bool {
	switch k {
	case SituationNotIssued, SituationForeign:
		return r.Key.Issued
	case SituationExpired:
		return r.Key.Issued || r.Completed.TombstoneTTL > 0
	}
	return true
}

// play gives s, whose claim is in the air, the bridge's answer in a situation.
func (k Situation) play(s *Stream) Outcome {
	answer := wire.Result{LeaseMS: s.rule.policy.LeaseMS, RetryAfterMS: s.rule.policy.LeaseMS, Fence: 1, Attempt: 1, Status: 200}
	switch k {
	case SituationNew:
		answer.Code = wire.Created
	case SituationInFlight:
		answer.Code, s.waitUntil = wire.InFlight, 0
	case SituationReused:
		answer.Code = wire.KeyReused
	case SituationFinished:
		answer.Code = wire.Replayed
		if s.rule.policy.RejectRepeat {
			answer.Code = wire.KeyUsed
		}
		// An empty response is one, whatever its rule keeps.
		answer.Result, _ = wire.AppendResponse(nil, &wire.Response{Status: 200})
	case SituationNotKept:
		answer.Code = wire.ResponseNotKept
	case SituationUnknown:
		answer.Code = wire.OutcomeUnknown
	case SituationExpired:
		answer.Code = wire.KeyExpired
	case SituationNotIssued:
		answer.Code = wire.KeyNotIssued
	case SituationForeign:
		answer.Code = wire.KeyForeign
	}
	if k == SituationAway {
		s.away(0, true)
	} else {
		s.claimAnswered(0, &answer, 0)
	}
	o := Outcome{Situation: k, Forwarded: s.state == stateForwarded}
	if o.Forwarded {
		o.Code = CodeCreated
		if s.unprotected {
			o.Code = CodeUnprotected
		}
		return o
	}
	reply := replyOf(s)
	o.Code = reply.code()
	if o.Code != CodeReplayed {
		o.Status = reply.Status
	}
	return o
}

// code is the Idempotency-Status of an answer made here.
func (r *LocalReply) code() Code {
	for _, h := range r.Headers {
		if h[0] == HeaderStatus {
			return Code(h[1])
		}
	}
	return ""
}

// principalParts takes an encoded principal apart.
func principalParts(encoded string) PrincipalParts {
	if len(encoded) < 9 {
		return PrincipalParts{}
	}
	b := []byte(encoded)
	n := 5 + int(binary.LittleEndian.Uint32(b[1:5]))
	return PrincipalParts{Kind: rules.PrincipalKind(b[0]), Issuer: encoded[5:n], Value: encoded[n+4:]}
}

// MaxCompletionBytes bounds the batch that carries one completion of a rule:
// the largest body and header lines that are recorded, and what goes with them.
func MaxCompletionBytes(r *rules.Rule) int64 {
	// Each message, list element and field has a tag and a length.
	const framing = 16
	texts := wire.MaxPrincipalBytes + r.Key.MaxLength + 2*wire.MaxScopeBytes + wire.MaxFingerprintBytes + wire.OwnerBytes
	return r.Record.MaxBody + maxRecordedHeaderBytes + maxRecordedLines*framing + int64(texts) + maxBatchFraming
}

// maxBatchFraming covers the batch's own fields, one policy and one operation.
const maxBatchFraming = 1 << 10
