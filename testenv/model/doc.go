// Package model is the record's protocol as an explicit-state model: one key, two
// or three requests that each have a gateway and an owner of their own, a Redis
// master with one asynchronous replica, optionally the SQL ledger, a network
// that loses, delays and repeats, and a backend that executes when it likes.
// Explore visits every reachable state breadth first, so each trace it finds is
// a shortest one.
//
// A run (Runs) is a configuration: which faults may happen, and which rules of
// the protocol are switched off. Every run has an expectation (golden.txt): with
// all rules on, no promise may break; with one off, the breaks that the rule is
// there to prevent must be found. A rule that can be switched off unnoticed, or a
// change of the protocol that breaks a promise, fails `make model`.
//
// # What is modelled
//
// Every message and answer is lost or late, and repeated where Duplicates says so;
// a bridge's steps are separate; gateways crash and stall; leases end at any time
// unless a living gateway is forwarding (LostRenewals lets them end even then);
// failover falls back to what the replica had; flush, Redis away and back, a lost
// index, a clock set back; the reconciler with a probe of two steps; `executed`
// as a message of its own beside `complete`.
//
// # What is not
//
// Fingerprints, more than one key or replica, a ledger that is lost or away,
// operators, the life of issued keys, purging. Package table has those of them
// that a single step shows, package schedule drives them against the real
// scripts.
//
// The model's own step functions (claim.go, words.go) are checked against package
// table, which in turn is checked against docs/protocol.md and the Lua scripts.
package model
