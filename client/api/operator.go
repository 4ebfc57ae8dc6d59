package api

// Paths of the admin listener, for operators.
const (
	PathRecord  = "/v1/records/get"
	PathOverdue = "/v1/records/overdue"
	PathResolve = "/v1/records/resolve"
	PathErase   = "/v1/records/erase"
	PathEraseBy = "/v1/records/erase-principal"
)

// Principal is whose key it is: the kind of its source (header, jwt, const,
// anonymous, as in the plugin's rules; api for callers of this API), its issuer
// (the header's name, the token's issuer, the caller's id) and its value.
type Principal struct {
	Kind   string `json:"kind"`
	Issuer string `json:"issuer,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Subject names a record: by its name (64 hexadecimal digits, as lists and logs
// have it), or by everything that the name is made of.
type Subject struct {
	Name      string     `json:"name,omitempty"`
	Namespace string     `json:"namespace,omitempty"`
	Scope     string     `json:"scope,omitempty"`
	Principal *Principal `json:"principal,omitempty"`
	Key       string     `json:"key,omitempty"`
	Issued    bool       `json:"issued,omitempty"`
	// PreviousScopes are looked at before Scope, as in Policy.
	PreviousScopes []string `json:"previous_scopes,omitempty"`
}

// GetRecord asks for a record and the decisions about it.
type GetRecord struct {
	Subject
	WithResult bool `json:"with_result,omitempty"`
}

// Overdue asks for unresolved records whose lease is over.
type Overdue struct {
	// Cursor is the Next of the page before; empty: the first page.
	Cursor string `json:"cursor,omitempty"`
	// Limit is 1 to 500; default 100.
	Limit int `json:"limit,omitempty"`
}

// OverduePage is a page of records. They stand in no order that means anything.
type OverduePage struct {
	Records []Record `json:"records"`
	Next    string   `json:"next,omitempty"` // empty: there is no more
}

// Resolve is a decision about an unresolved record.
type Resolve struct {
	Subject
	// Fence is the one that was seen: a record with another is left alone.
	Fence uint64 `json:"fence"`
	// Action is complete, executed, release or extend.
	Action string `json:"action"`
	// Reason is why, for the audit: 1 to 500 bytes, and no key in it.
	Reason string  `json:"reason"`
	Result *Result `json:"result,omitempty"` // complete
	Status int     `json:"status,omitempty"` // executed
	// ExtendMS is how long the lease is to last from now; extend.
	ExtendMS int64 `json:"extend_ms,omitempty"`
	// Decision is 24 random bytes: the same decision sent again is answered the
	// same. Empty: a new one each time.
	Decision []byte `json:"decision,omitempty"`
}

// Resolved is what became of a decision.
type Resolved struct {
	// Code is resolved, or executed-noted: a release met the proof that an earlier
	// owner has run it, and recorded that instead.
	Code   string `json:"code"`
	Before Record `json:"before"`
	After  Record `json:"after"`
}

// Record is the state of a key. State is absent, issued, released, processing,
// unknown, executed or completed; expired, a final record past its life, or erased,
// what an erasure leaves; see docs/protocol.md.
type Record struct {
	Name     string `json:"name,omitempty"` // operators only
	State    string `json:"state"`
	Fence    uint64 `json:"fence,omitempty"`
	Attempts uint32 `json:"attempts,omitempty"`
	Status   int    `json:"status,omitempty"` // executed, completed, expired
	AgeMS    int64  `json:"age_ms,omitempty"` // since it was claimed
	// LeaseMS is what is left of the lease, negative after its end.
	LeaseMS   int64 `json:"lease_ms,omitempty"`
	LeaseOver bool  `json:"lease_over,omitempty"` // processing, unknown
	// RemainingMS is the life left to the result or the unused issued key; 0: none.
	RemainingMS int64 `json:"remaining_ms,omitempty"`
	Maybe       bool  `json:"maybe,omitempty"`        // an earlier fence may have run
	Noted       bool  `json:"noted,omitempty"`        // an earlier owner is known to have run
	NotedStatus int   `json:"noted_status,omitempty"` // with this status
	Held        bool  `json:"held,omitempty"`         // only a final word or an operator ends it
	// OverdueSince is when the lease of an unresolved record ended, RFC 3339 by the
	// bridge's clock; empty where it ended by decision. Why is why there is no final
	// word: see docs/operations.md, "Stuck records". Operators only.
	OverdueSince string  `json:"overdue_since,omitempty"`
	Why          string  `json:"why,omitempty"`
	Policy       *Policy `json:"policy,omitempty"`
	ResultKept   bool    `json:"result_kept,omitempty"`
	Result       *Result `json:"result,omitempty"`
	Audit        []Audit `json:"audit,omitempty"` // operators only; the newest first
}

// Audit is one decision that was asked for. Whether it took effect shows in the
// records after it, and in the bridge's log.
type Audit struct {
	At       string `json:"at"` // RFC 3339
	Operator string `json:"operator"`
	Action   string `json:"action"`
	Reason   string `json:"reason"`
	Fence    uint64 `json:"fence"`
	Status   int    `json:"status,omitempty"`
	ExtendMS int64  `json:"extend_ms,omitempty"`
	Before   string `json:"before"` // state that the record had
}
