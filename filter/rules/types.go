// Package rules is the plugin's configuration: its types, its strict parser and
// the choice of the rule that a request meets. It is pure.
package rules

import (
	"time"

	"github.com/oncewall/oncewall/filter/key"
)

// Config is a whole plugin configuration, validated. It is immutable after
// [Parse].
type Config struct {
	// Namespace names this enforcement point; part of every record's name. 1 to
	// 128 characters of [A-Za-z0-9._-].
	Namespace string
	Bridge    Bridge
	Envoy     Envoy
	// Issue is nil where no keys are issued through this gateway.
	Issue *Issue
	// Lookup is the path below which keys can be asked about; "": they cannot.
	Lookup string
	// Discovery is the path of the document that describes the rules to clients; "":
	// there is none.
	Discovery string
	// Rules in the order of the file. Match picks the longest.
	Rules []*Rule

	table table
}

// Bridge says how the bridge is reached.
type Bridge struct {
	Cluster     string        // Envoy cluster of batches; required
	WaitCluster string        // Envoy cluster of long polls; default: Cluster
	Authority   string        // :authority of callouts; default "oncewall"
	Timeout     time.Duration // budget of one operation, its one retry included; 10ms to 10s, default 250ms
}

// Envoy says what Envoy is set to; caps are validated against it.
type Envoy struct {
	// AllowOnHeadersStopIteration is Envoy's allow_on_headers_stop_iteration
	// (1.35 and later). Rules that read a body need it.
	AllowOnHeadersStopIteration bool
	// BufferLimit is the smaller of the listener's and the clusters'
	// per_connection_buffer_limit_bytes and, for h2, initial_stream_window_size.
	// 1KiB to 64MiB, default 1MiB.
	BufferLimit int64
	// RouteMetadata has the filter ask for the metadata of Envoy's route, which
	// may name a request's rule or switch the filter off. Default false.
	RouteMetadata bool
}

// Issue says where keys are issued.
type Issue struct {
	Path string // exact path of POST; default "/idempotency-keys"
	// Principal is how the caller of Issue is named; default: the principal of
	// the first rule with the wanted scope.
}

// Rule is the policy of the requests that it matches.
type Rule struct {
	Name string // unique; 1 to 128 of [A-Za-z0-9._-]
	// Scope is the stable name under which the rule's keys live; default Name.
	Scope string
	// PreviousScopes are scopes that the rule's keys had, the newest first; at most
	// 8. Their keys are found until they have died.
	PreviousScopes []string
	Match          Match
	Principal      Principal
	// Lookup reports whether keys of the scope may be asked about through the gateway;
	// default: where every source of the principal names a caller ([Principal.Names]).
	Lookup      bool
	Key         Key
	Fingerprint Fingerprint
	// InFlight says what a concurrent request gets.
	InFlight  InFlight
	Completed Completed
	Record    Record
	Outcomes  Outcomes
	// Statuses are those of refusals that are not the default, by code.
	Statuses []StatusOf
	// UpstreamTimeout replaces the route's timeout in both directions; required, 1ms to
	// 1h; 0 with Streaming, and only with it: there is none.
	UpstreamTimeout time.Duration
	// Streaming is for calls of any length: neither body is read, and the lease
	// lives by renewal alone.
	Streaming    bool
	EnvoyRetries EnvoyRetries // default RetriesOff
	Recovery     Recovery
	Durability   Durability
	Unavailable  Unavailable
	Mode         Mode // default Enforce
	// EnforcePercent is the share of keys that a rule with Mode Observe enforces; 0
	// to 100, default 0.
	EnforcePercent int
	// Generation is a digest of everything above: it changes when the rule does.
	Generation string
}

// Match selects requests. All that is set must hold.
type Match struct {
	Methods []string // upper case; empty: every method but GET, HEAD, OPTIONS, TRACE
	// Hosts, in lower case, without a port: names, or "*." and what follows the
	// first labels. Empty: every host.
	Hosts []string
	// Exact, Prefix, Template and Regexp: one of them is set, or none where the
	// rule is met by route metadata alone. All are compared with the normalised
	// path; Prefix ends at a segment's end, Template has "{name}" for a whole
	// segment, Regexp (RE2) matches the whole path.
	Exact    string
	Prefix   string
	Template string
	Regexp   string
	// Headers must all hold.
	Headers []HeaderMatch

	literal int      // bytes of Template that are no variable
	pattern *pattern // of Regexp
}

// HeaderMatch is a condition on the lines of a header: one of them is as said.
// With none of Exact, Prefix and Regexp set it is enough that the header is there.
type HeaderMatch struct {
	Name   string // lower case
	Exact  string
	Prefix string
	Regexp string // RE2, of the whole value

	pattern *pattern
}

// Principal says who a key belongs to: one source, and those behind it.
type Principal struct {
	Kind   PrincipalKind
	Header string // Kind PrincipalHeader: lower-case name of a header that something before this filter sets; needs trusted: true
	Claim  string // Kind PrincipalJWT: name of the claim, dots for nested members
	Issuer string // Kind PrincipalJWT: value that the token's iss must have; required
	// Payload is jwt_authn's payload_in_metadata; default "payload".
	Payload string
	Const   string // Kind PrincipalConst
	// TrustDomain is what the host of a certificate's URI must be; Kind
	// PrincipalURISAN, empty: any.
	TrustDomain string
	// Or lists the sources that are looked at where this one is absent.
	Or []Principal
}

// PrincipalKind is the kind of source of a principal; it is part of it.
type PrincipalKind uint8

// The kinds.
const (
	PrincipalHeader PrincipalKind = iota + 1
	PrincipalJWT
	PrincipalConst
	PrincipalAnonymous
	// Of the client's certificate. Numbers are part of records' names: new kinds
	// go to the end.
	PrincipalURISAN  // first URI of the subject alternative name
	PrincipalDNSSAN  // first DNS name of it
	PrincipalSubject // distinguished name of the subject
	PrincipalDigest  // SHA-256 of the certificate
)

// Verified reports whether Envoy has checked what names the caller.
func (k PrincipalKind) Verified() bool {
	return k == PrincipalJWT || k.Certificate()
}

// Certificate reports whether the caller is named by its certificate.
func (k PrincipalKind) Certificate() bool { return PrincipalURISAN <= k && k <= PrincipalDigest }

// Key says where the idempotency key is.
type Key struct {
	From      []KeySource // first that is present
	Required  bool        // default true
	Issued    bool        // only keys issued by this gateway; default false
	MaxLength int         // bytes, 1 to 1024, default 255
	// Grammar is what the rule asks of a client's key beside that.
	Grammar key.Grammar
	// Alphabet is Grammar.Alphabet as it is written; empty: every character.
	Alphabet string
}

// KeySource is one place of a key. Exactly one of its members is set, the
// claim's issuer and payload aside.
type KeySource struct {
	Header string   // lower case
	JSON   []string // JSON pointers; several make a composite joined by ":" (a ":" or "%" inside a part is percent-encoded)
	Form   string   // field of a form body (application/x-www-form-urlencoded)
	Query  string   // parameter of the query
	Cookie string
	// Segment is a segment of the path, counted from 1.
	Segment int
	// Claim is that of a token that jwt_authn has verified, of Issuer, in Payload.
	Claim, Issuer, Payload string
	// All makes a composite of its entries, none of which has one itself.
	All []KeySource
}

// Parts returns the places of a composite's parts, each with one value; of any
// other source itself.
func (s *KeySource) Parts() []KeySource {
	var parts []KeySource
	switch {
	case len(s.All) > 0:
		for i := range s.All {
			parts = append(parts, s.All[i].Parts()...)
		}
	case len(s.JSON) > 1:
		for i := range s.JSON {
			parts = append(parts, KeySource{JSON: s.JSON[i : i+1]})
		}
	default:
		parts = append(parts, *s)
	}
	return parts
}

// InBody reports whether the key, or a part of it, is in the request's body.
func (s *KeySource) InBody() bool {
	for i := range s.All {
		if s.All[i].InBody() {
			return true
		}
	}
	return len(s.JSON) > 0 || s.Form != ""
}

// BodyMode is how the body enters the fingerprint.
type BodyMode uint8

// The body modes.
const (
	BodyJSON BodyMode = iota + 1 // canonical JSON; raw bytes where it is not JSON
	BodyRaw
	BodyNone
	BodyForm      // pairs of a form; raw bytes where it is none
	BodyMultipart // parts of a multipart/form-data body; raw bytes where it is none
)

// Over is what happens to a request whose body is longer than a fingerprint
// reads.
type Over uint8

// The choices.
const (
	OverReject        Over = iota + 1 // 413
	OverContentDigest                 // its Content-Digest stands for the body; 413 without one
	OverPrefix                        // its first MaxBody bytes and its declared length stand for it; 413 without a length
)

// Fingerprint says what a request asks for. Method and target are always part.
type Fingerprint struct {
	Body    BodyMode
	MaxBody int64    // largest body that is read; 1B to Envoy.BufferLimit, default min(1MiB, BufferLimit); above: Over
	Headers []string // lower case; default none
	// Ignore are JSON pointers to members that are not compared, in ascending
	// order; with BodyForm and BodyMultipart "/" and the name of a field. Default
	// none.
	Ignore []string
	Over   Over // default OverReject
	// MaxDecodedBody is the longest content of a compressed body that is compared
	// decoded; 1B to 64MiB, default 1MiB. Above, the body is compared as it came.
	MaxDecodedBody int64
}

// Action is what a repeat gets.
type Action uint8

// The actions.
const (
	Reject Action = iota + 1
	Wait
	Replay
)

// InFlight: Action Reject or Wait.
type InFlight struct {
	Action  Action        // default Reject
	MaxWait time.Duration // 1ms to 5m; required with Wait; with Reject: what Prefer: wait may ask for, 0 nothing
}

// Completed: Action Replay or Reject.
type Completed struct {
	Action       Action        // default Replay
	TTL          time.Duration // life of a result, 1s to 720h, default 24h
	TombstoneTTL time.Duration // 0 to 8760h, default 0
}

// When is the moment at which the client may hear of an answer.
type When uint8

// The moments.
const (
	BeforeReply When = iota + 1
	AfterReply
)

// Record says what is kept of an answer.
type Record struct {
	MaxBody int64 // 0 to Envoy.BufferLimit, default 256KiB
	When    When  // default BeforeReply
	Body    bool  // "full" or "none"; default full
	// DropHeaders are not recorded, beside the built-in list.
	DropHeaders []string
	// KeepHeaders are recorded although they are not by default: see OptIn.
	KeepHeaders []string
	// Redact are JSON pointers to members of a response's body that are recorded
	// as null; an answer whose body is not JSON is then not kept.
	Redact []string
}

// EnvoyRetries says what becomes of the route's retry policy.
type EnvoyRetries uint8

// The settings.
const (
	RetriesOff EnvoyRetries = iota + 1
	RetriesRoute
)

// RecoveryAction as wire.Recovery.
type RecoveryAction uint8

// The actions. Reacquire needs backend_checks_fence: true.
const (
	Hold RecoveryAction = iota + 1
	Probe
	Reacquire
)

// Recovery says what may happen after a lease has ended without news.
type Recovery struct {
	Lease       time.Duration // default 60s; >= 2*Bridge.Timeout + UpstreamTimeout + ClockSkew + Margin
	Action      RecoveryAction
	MaxAttempts int // 1 to 100, default 3
}

// Durability says what must keep a claim, and everything else that the store
// acknowledges, before it counts.
type Durability struct {
	Replicas int // replicas of the store, 0 to 5, default 0
}

// Unavailable is what happens while the store is away.
type Unavailable uint8

// The choices.
const (
	UnavailableReject Unavailable = iota + 1
	UnavailableForward
	UnavailableLocal
)

// Mode switches a rule.
type Mode uint8

// The modes.
const (
	Enforce Mode = iota + 1
	Off
	// Observe tells what Enforce would do, and lets every request pass as it is,
	// but for the keys that EnforcePercent picks.
	Observe
)

// Enforces reports whether the rule may refuse or answer a request.
func (r *Rule) Enforces() bool { return r.Mode == Enforce || r.Mode == Observe && r.EnforcePercent > 0 }

// Observes reports whether the rule may let a request pass that Enforce would
// not.
func (r *Rule) Observes() bool { return r.Mode == Observe && r.EnforcePercent < 100 }

// Bounds of time that every lease must cover beside the upstream's.
const (
	// ClockSkew bounds how far the clocks of store nodes may differ.
	ClockSkew = 500 * time.Millisecond
	// Margin covers the filter's own delays.
	Margin = 500 * time.Millisecond
)
