package wire

import "time"

// The versions of batches and their answers. A bridge serves both, answers in the
// version that it was asked in, and answers any other with 400 in clear.
const (
	Version = 2
	// PreviousVersion lacks the kinds Wait and Get, previous scopes and tallies,
	// and its fingerprints carry no algorithms.
	PreviousVersion = 1
)

// ResponseVersion is the version of recorded responses. It is apart from that of
// batches: a response outlives the programs that wrote it.
const ResponseVersion = 1

// Names on the HTTP side of a batch.
const (
	BatchPath = "/v1/batch"
	// WaitPath takes a batch of one Wait operation and answers when the key's
	// state has changed, or when the operation's budget has passed.
	WaitPath    = "/v1/wait"
	ContentType = "application/vnd.oncewall.batch"
	// StampHeader is set by the bridge on every answer; its value is the newest
	// batch version that the bridge serves.
	StampHeader = "oncewall-bridge"
)

// Bounds of one batch. The bridge refuses more; the filter never sends more.
const (
	// MaxOperations bounds the operations of one batch.
	MaxOperations = 256
	// MaxBatchBytes is the encoded size at which the filter closes a batch. An
	// operation larger than this travels alone.
	MaxBatchBytes = 256 << 10
	// MaxKeyBytes bounds the idempotency key as the filter hands it on.
	MaxKeyBytes = 1024
	// MaxPrincipalBytes bounds the encoded principal.
	MaxPrincipalBytes = 4096
	// MaxScopeBytes bounds the scope and the namespace.
	MaxScopeBytes = 128
	// OwnerBytes is the length of an owner: 16 random bytes drawn once per VM
	// start, then a 64-bit counter, big endian.
	OwnerBytes = 24
	// MaxReplicas bounds Policy.Replicas.
	MaxReplicas = 5
	// MaxPreviousScopes bounds Policy.PreviousScopes.
	MaxPreviousScopes = 8
	// MaxTraceBytes bounds Operation.Trace.
	MaxTraceBytes = 55
	// MaxTallies bounds Batch.Tallies.
	MaxTallies = 256
)

// MemoryLife is how long a worker of the filter answers a finished key from its own
// memory at most, counted from when it asked the bridge.
const MemoryLife = 30 * time.Second

// Kind is what an operation asks of a record.
type Kind uint8

// The operations on a record; the table in docs/protocol.md says what each does
// in each state.
const (
	Issue    Kind = 1 // make and store a key signed by the bridge
	Claim    Kind = 2 // become the owner, or learn why not
	Executed Kind = 3 // upstream answered with Status; the result may follow
	Complete Kind = 4 // as Executed, with the result
	Release  Kind = 5 // proof that nothing was executed under this owner
	Unknown  Kind = 6 // forwarded, and no complete answer came
	Renew    Kind = 7 // the stream still lives: extend the lease
	Wait     Kind = 8 // tell when the key is no longer in flight; on WaitPath only
	Get      Kind = 9 // what is known of a key; changes nothing
)

// Code is the bridge's answer to one operation.
type Code uint8

// The answers. Created to KeyForeign answer a claim; the rest answer any
// operation.
const (
	OK              Code = 1  // done, or nothing had to be done
	Created         Code = 2  // claim granted: Fence, Attempt and LeaseMS are set
	Replayed        Code = 3  // completed: Result holds the recorded response
	InFlight        Code = 4  // another owner's claim is live: RetryAfterMS is set
	KeyReused       Code = 5  // another fingerprint: Differs names the parts
	KeyUsed         Code = 6  // completed, and the rule rejects duplicates
	KeyExpired      Code = 7  // past its life, or only a tombstone is left
	OutcomeUnknown  Code = 8  // forwarded once, outcome not known
	ResponseNotKept Code = 9  // executed with Status; no result is kept
	KeyNotIssued    Code = 10 // not a key of this gateway
	KeyForeign      Code = 11 // issued to another principal or scope
	Stale           Code = 12 // a newer claim or a final word is there
	Lapsed          Code = 13 // this owner's own claim outlived its lease
	Issued          Code = 14 // Key and ExpiresAtMS are set
	Unavailable     Code = 15 // the store did not answer in time
	Invalid         Code = 16 // the operation itself is not valid; see Text
	OverQuota       Code = 17 // Claim, Issue: not carried out, the namespace's quota is used up: RetryAfterMS is set
	Free            Code = 18 // Wait: nothing is in flight any more and there is no answer; a claim decides
	TooManyWaiting  Code = 19 // Wait: a bound of the bridge's waiters is reached
	Found           Code = 20 // Get: State is set, and what goes with it
	NotFound        Code = 21 // Get: there is no record
)

// Recovery says what may happen to a claim whose lease has ended without news.
type Recovery uint8

// See docs/protocol.md, "recovery".
const (
	Hold      Recovery = 1 // held until probe, operator or ttl
	Probe     Recovery = 2 // the reconciler asks the backend
	Reacquire Recovery = 3 // granted again, with a higher fence
)

// Policy is what outlives the request: it travels with the operation and the
// claim's is kept in the record. Durations are milliseconds.
type Policy struct {
	Generation   string // rule generation: changes with the rule
	TTLMS        int64  // life of the result after completion
	TombstoneMS  int64  // how long the key stays known after the result is gone
	LeaseMS      int64  // how long a claim is trusted without news
	MaxAttempts  int64  // grants of one key before it is held
	Recovery     Recovery
	Issued       bool // the rule wants keys issued by the gateway
	RejectRepeat bool // completed keys answer key-used, without the result
	// Replicas is how many replicas of the store must hold what an answer says
	// before it is given; 0 to MaxReplicas.
	Replicas int64
	// PreviousScopes are read before the operation's own scope until their keys
	// have died; at most MaxPreviousScopes, separated by commas, which no scope
	// holds.
	PreviousScopes string
}

// Operation is one step on one record.
type Operation struct {
	Kind        Kind
	Policy      uint16 // index into Batch.Policies
	BudgetMS    uint32 // what is left of the operation's timeout when the batch leaves; > 0
	Scope       string // the rule's scope
	Principal   string // see EncodePrincipal; never empty
	Key         string // the idempotency key; empty for Issue only
	Owner       []byte
	Fence       uint64 // 0: not known
	Fingerprint []byte // see AppendPart; empty: not tested
	Status      uint16 // upstream's status; Executed and Complete
	// NoResult on Executed says that no Complete will follow, so that repeats
	// are told response-not-kept at once.
	NoResult bool
	Result   []byte // encoded Response; Complete only
	// Unprotected marks the completion of a request that was forwarded while the
	// store was away (fence 0: accepted on an absent record).
	Unprotected bool
	// Fetch on a Claim asks for the result however large it is: an earlier answer
	// withheld it.
	Fetch bool
	// Trace is the W3C traceparent of a sampled request; empty: none.
	Trace string
	// Retried says that a proxy in front of this gateway sends the request again
	// (x-envoy-attempt-count above 1). Claim only.
	Retried bool
	// TTLMS is upstream's word on the life of the result (Idempotency-TTL); 0: the
	// policy's. Executed and Complete only.
	TTLMS int64
	// Again says that an earlier claim of the same request has been answered, so
	// that it is not counted as a repeat twice. Claim only.
	Again bool
}

// Tally counts repeats that the filter answered from its own memory, and of
// which the bridge would not know.
type Tally struct {
	Policy uint16 // index into Batch.Policies
	Scope  string
	Class  Class
	N      uint32
}

// Class is what a repeat looks like.
type Class uint8

// The classes of repeats.
const (
	DoubleClick  Class = 1 // while the first was in flight, or within 2 s of it
	ClientRetry  Class = 2 // later
	GatewayRetry Class = 3 // a proxy in front sent it again
	Reused       Class = 4 // the same key with another fingerprint
	SuspectedNew Class = 5 // another key with the same fingerprint: a client that makes a new key for a retry
)

// State is a record's state as Get tells it.
type State uint8

// The states; docs/protocol.md, "States".
const (
	StateIssued     State = 1
	StateReleased   State = 2
	StateProcessing State = 3
	StateUnknown    State = 4
	StateExecuted   State = 5
	StateCompleted  State = 6
)

// Batch is what one callout carries.
type Batch struct {
	Namespace string
	Policies  []Policy
	Ops       []Operation
	Tallies   []Tally // since the last batch; at most MaxTallies
}

// Result answers one operation; results stand in the order of the operations.
type Result struct {
	Code         Code
	Fence        uint64
	Attempt      uint32 // 1 for the first grant of a key
	LeaseMS      int64  // Created, OK on Renew: life of the lease, counted from the store's receipt
	RetryAfterMS int64  // InFlight, OutcomeUnknown: until the lease ends; 0: no honest value exists
	Status       uint16 // Replayed, ResponseNotKept, KeyUsed
	AgeMS        int64  // since the record was claimed
	RemainingMS  int64  // life left to the record; 0: not known
	Differs      []byte // KeyReused: one PartID a byte
	Result       []byte
	Withheld     bool   // Replayed: the result is large; a claim with Fetch gets it
	Restored     bool   // the operation made a record that the store had lost
	Key          string // Issued
	ExpiresAtMS  int64  // Issued: Unix milliseconds
	Text         string // Invalid: what is wrong, never a key or a body
	State        State  // Found
}

// Answer is what the bridge returns for a batch.
type Answer struct {
	Results []Result
}

// HeaderLine is one recorded header line.
type HeaderLine struct {
	Name  string
	Value string
}

// Response is a recorded response: status, header lines in their order, body.
type Response struct {
	Status  uint16
	Headers []HeaderLine
	Body    []byte
}
