// Package rules is the plugin's configuration: its types, its strict parser and
// the choice of the rule that a request meets. It is pure.
package rules

import "time"

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
	// Rules in the order of the file. Match picks the longest.
	Rules []*Rule

	index *index
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
	Scope       string
	Match       Match
	Principal   Principal
	Key         Key
	Fingerprint Fingerprint
	// InFlight says what a concurrent request gets.
	InFlight  InFlight
	Completed Completed
	Record    Record
	// UpstreamTimeout replaces the route's timeout in both directions; required, 1ms to 1h.
	UpstreamTimeout time.Duration
	EnvoyRetries    EnvoyRetries // default RetriesOff
	Recovery        Recovery
	Durability      Durability
	Unavailable     Unavailable
	Mode            Mode // default Enforce
	// Generation is a digest of everything above: it changes when the rule does.
	Generation string
}

// Match selects requests. All that is set must hold.
type Match struct {
	Methods []string // upper case; empty: every method but GET, HEAD, OPTIONS, TRACE
	// Exact and Prefix: one of them is set. Both are compared with the normalised
	// path; Prefix ends at a segment's end.
	Exact  string
	Prefix string
}

// Principal says who a key belongs to. Exactly one source.
type Principal struct {
	Kind   PrincipalKind
	Header string // Kind PrincipalHeader: lower-case name of a header that something before this filter sets; needs trusted: true
	Claim  string // Kind PrincipalJWT: name of the claim, dots for nested members
	Issuer string // Kind PrincipalJWT: value that the token's iss must have; required
	// Payload is jwt_authn's payload_in_metadata; default "payload".
	Payload string
	Const   string // Kind PrincipalConst
}

// PrincipalKind is the kind of source of a principal; it is part of it.
type PrincipalKind uint8

// The kinds.
const (
	PrincipalHeader PrincipalKind = iota + 1
	PrincipalJWT
	PrincipalConst
	PrincipalAnonymous
)

// Key says where the idempotency key is.
type Key struct {
	From      []KeySource // first that is present
	Required  bool        // default true
	Issued    bool        // only keys issued by this gateway; default false
	MaxLength int         // bytes, 1 to 1024, default 255
}

// KeySource is one place of a key. Exactly one of Header and JSON is set.
type KeySource struct {
	Header string   // lower case
	JSON   []string // JSON pointers; several make a composite joined by ":" (a ":" or "%" inside a part is percent-encoded)
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
	// decoded; 1B to 64MiB, default 4MiB. Above, the body is compared as it came.
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
	MaxWait time.Duration // Wait: 1ms to 5m; required with Wait
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
)

// Mode switches a rule.
type Mode uint8

// The modes.
const (
	Enforce Mode = iota + 1
	Off
)

// Bounds of time that every lease must cover beside the upstream's.
const (
	// ClockSkew bounds how far the clocks of store nodes may differ.
	ClockSkew = 500 * time.Millisecond
	// Margin covers the filter's own delays.
	Margin = 500 * time.Millisecond
)
