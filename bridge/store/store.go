// Package store says what a record store does for the bridge. The record's
// state machine lives behind this interface: an implementation carries out
// every row of docs/protocol.md's table in one atomic step per operation.
//
// It imports nothing of the bridge.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// ErrUnavailable is the error of an operation whose effect is not known: the
// store did not answer, or answered with an error that says nothing of the
// record. Repeating the same operation with the same owner is always safe.
var ErrUnavailable = errors.New("store: unavailable")

// RecordVersion is the newest version of records that this package's stores know.
// An operation on a record of a later one is answered wire.Invalid, and changes
// nothing.
const RecordVersion = 1

// Name is a record's name: HMAC-SHA-256 over the length-prefixed namespace,
// scope, principal and key. Client text never enters a store key.
type Name [32]byte

// Operation is one step on one record, as the bridge's server hands it on:
// names and fingerprints already keyed, an issued key's signature already
// verified, policy already bounded.
type Operation struct {
	Kind        wire.Kind
	Name        Name
	Owner       []byte // wire.OwnerBytes long; nil for Issue only
	Fence       uint64 // 0: not known
	Fingerprint []byte // keyed; empty: not tested
	Policy      *wire.Policy
	Status      uint16
	NoResult    bool
	Unprotected bool
	Result      []byte        // an envelope; Complete only
	Life        time.Duration // Issue only: life of the key
	// Deadline is when the caller stops waiting. An implementation does not
	// start an operation whose deadline has passed.
	Deadline time.Time
	// Withhold on a Claim lets the store answer Replayed without a result that is
	// large: reading many of them at once takes longer than a claim may.
	Withhold bool
	// Identity is the key and the principal, sealed for who may ask the backend
	// about them (bridge/seal, Identity); nil: not kept. It is kept until the
	// final word.
	Identity []byte
	// Caller is a keyed digest of namespace and principal, by which all records of
	// one caller are found again; nil: not kept.
	Caller []byte
	// Trace is the request's traceparent. The record keeps that of the first.
	Trace string
	// TTL is upstream's word on the life of a result; 0: the policy's. Executed and
	// Complete only.
	TTL time.Duration
	// Next is where a record that is not there is to be made, and how long the
	// marker that says so lives unless it is met again; nil: here. See Moved.
	Next     []byte
	NextLife time.Duration
	// Void says that a marker which holds Next is no more: markers that point at
	// each other send an operation round in a circle, and this is its end.
	Void bool
}

// Reply answers one operation. Err is nil or wraps ErrUnavailable; where it is
// set nothing else is.
type Reply struct {
	Err         error
	Code        wire.Code
	Fence       uint64
	Attempt     uint32        // Created
	Lease       time.Duration // Created, OK on Renew: what is left of the lease
	RetryAfter  time.Duration // InFlight, OutcomeUnknown: until the lease ends; 0: none is honest
	Status      uint16        // Replayed, KeyUsed, ResponseNotKept
	Age         time.Duration // since the record was claimed
	Remaining   time.Duration // life left to the record; 0: not known
	Fingerprint []byte        // KeyReused: the record's own
	Result      []byte        // Replayed: the envelope
	Withheld    bool          // Replayed: the result is large and was not read; nothing else is set
	Restored    bool          // the operation made a record that the store had lost
	Takeover    bool          // Created after an earlier owner's lease ended
	Moved       []byte        // Moved: what the marker holds
	Planted     bool          // Moved: the marker was made by this operation
	State       State         // Found
	Dropped     bool          // the record forgot the longest gone of too many released owners
	Trace       string        // Replayed, KeyUsed, ResponseNotKept, InFlight, KeyReused: the first request's traceparent
}

// Store carries out operations. Implementations are safe for concurrent use.
type Store interface {
	// Do carries out ops and returns one reply for each, in their order. It
	// returns when all have answered or ctx ends; what has not answered by then
	// carries ErrUnavailable. One slow or dead node delays only its own keys:
	// Do returns partial answers at ctx's end, never later. Once it has answered
	// an operation, other than with ErrUnavailable, it keeps none of its bytes.
	Do(ctx context.Context, ops []Operation) []Reply
	// Ready reports whether the store can be staked on: reachable, writable,
	// and configured so that it never evicts a record.
	Ready(ctx context.Context) error
	// Close releases what the store holds. Do may not be called after it.
	Close()
}
