package api

// Paths of the data listener, for consumers. Every request is a POST: a key never
// stands in a URL.
const (
	PathIssue    = "/v1/keys/issue"
	PathClaim    = "/v1/keys/claim"
	PathExecuted = "/v1/keys/executed"
	PathComplete = "/v1/keys/complete"
	PathRelease  = "/v1/keys/release"
	PathUnknown  = "/v1/keys/unknown"
	PathRenew    = "/v1/keys/renew"
	PathGet      = "/v1/keys/get"
)

// Policy says how a key is treated. The claim's is kept in the record, and where
// a later caller's differs the stricter holds.
type Policy struct {
	// TTLMS is the life of the result after completion; required.
	TTLMS int64 `json:"ttl_ms"`
	// TombstoneTTLMS is how long the key stays known after that; default 0.
	TombstoneTTLMS int64 `json:"tombstone_ttl_ms,omitempty"`
	// LeaseMS is how long a claim is trusted without news; required.
	LeaseMS int64 `json:"lease_ms"`
	// MaxAttempts is how often a key is granted before it is held; default 3.
	MaxAttempts int64 `json:"max_attempts,omitempty"`
	// Recovery says what may happen to a claim whose lease has ended without news:
	// hold, probe or reacquire. Required: it is a business decision.
	Recovery string `json:"recovery"`
	// Issued says that keys must have been issued.
	Issued bool `json:"issued,omitempty"`
	// RejectRepeat says that a completed key answers key-used, without the result.
	RejectRepeat bool `json:"reject_repeat,omitempty"`
	// PreviousScopes are scopes that the keys had before, the newest first; at most
	// 8. A key is looked for there before it is new.
	PreviousScopes []string `json:"previous_scopes,omitempty"`
	// Replicas is how many replicas must hold what an answer says; default 0.
	Replicas int64 `json:"replicas,omitempty"`
	// Generation is the version of the caller's rule, at most 128 bytes.
	Generation string `json:"generation,omitempty"`
}

// Target is where a key belongs and how long the answer may take.
type Target struct {
	Namespace string `json:"namespace"`
	Scope     string `json:"scope"`
	// Principal is whose key it is, in the caller's own words.
	Principal string `json:"principal"`
	// TimeoutMS bounds the wait for the store; default 1000, at most 60000.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// Key is a key and its policy.
type Key struct {
	Target
	Key    string `json:"key"`
	Policy Policy `json:"policy"`
	// Owner is 24 random bytes, drawn once for each claim and sent with every
	// operation of it: an answer that was lost costs nothing, as the same owner is
	// answered the same again.
	Owner []byte `json:"owner"`
}

// Issue asks for a key that the bridge makes and signs.
type Issue struct {
	Target
	Policy Policy `json:"policy"`
}

// Claim asks to become the owner of a key.
type Claim struct {
	Key
	// Fingerprint is the SHA-256 of what is asked for. A later claim of the same
	// key with another one is key-reused. Empty: not compared.
	Fingerprint []byte `json:"fingerprint,omitempty"`
}

// Executed tells that the effect has happened, with a status.
type Executed struct {
	Key
	Fence       uint64 `json:"fence"`
	Fingerprint []byte `json:"fingerprint,omitempty"`
	Status      int    `json:"status"`
	// ResultFollows says that a Complete will come.
	ResultFollows bool `json:"result_follows,omitempty"`
}

// Complete is Executed with the result that repeats are given.
type Complete struct {
	Key
	Fence       uint64 `json:"fence"`
	Fingerprint []byte `json:"fingerprint,omitempty"`
	Result      Result `json:"result"`
}

// Settle is a Release (nothing was executed), an Unknown (it may have been), or a
// Renew (it is still under way).
type Settle struct {
	Key
	// Fence may be 0, not known, for Release and Unknown.
	Fence uint64 `json:"fence"`
	// Fingerprint is for Unknown alone.
	Fingerprint []byte `json:"fingerprint,omitempty"`
}

// Get asks for the state of a key.
type Get struct {
	Target
	Key    string `json:"key"`
	Issued bool   `json:"issued,omitempty"`
	// PreviousScopes as in Policy.
	PreviousScopes []string `json:"previous_scopes,omitempty"`
	// WithResult asks for the recorded result too.
	WithResult bool `json:"with_result,omitempty"`
}

// Header is one line of a result.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Result is what repeats are given. Status is 200 to 999, in the sense of HTTP: a
// key whose result is below 300 has succeeded.
type Result struct {
	Status  int      `json:"status"`
	Headers []Header `json:"headers,omitempty"`
	Body    []byte   `json:"body,omitempty"`
}

// Outcome is what a caller asked for and got: code is ok, created, replayed or
// issued. Any other outcome is a Problem.
type Outcome struct {
	Code        string  `json:"code"`
	Fence       uint64  `json:"fence,omitempty"`        // created
	Attempt     uint32  `json:"attempt,omitempty"`      // created: 1 for the first grant
	LeaseMS     int64   `json:"lease_ms,omitempty"`     // created, renew: from the store's receipt on
	AgeMS       int64   `json:"age_ms,omitempty"`       // replayed: since it was claimed
	RemainingMS int64   `json:"remaining_ms,omitempty"` // replayed: life left to the result
	Restored    bool    `json:"restored,omitempty"`     // the store had lost the record, and has it again
	Result      *Result `json:"result,omitempty"`       // replayed
	Key         string  `json:"key,omitempty"`          // issued
	ExpiresAt   string  `json:"expires_at,omitempty"`   // issued: RFC 3339
}

// Problem is every other answer (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Code   string `json:"code"`
	// Retryable says that the same request, sent later, may be answered otherwise.
	Retryable bool `json:"retryable"`
	// RetryAfterMS is when, as exactly as is known; 0: not known.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	// Parts are the parts in which a reused key's requests differ.
	Parts []string `json:"parts,omitempty"`
	// OriginalStatus is the status of the execution that was not kept, or whose
	// repeat is rejected.
	OriginalStatus int `json:"original_status,omitempty"`
	// Record is what an operator's decision met instead.
	Record *Record `json:"record,omitempty"`
}
