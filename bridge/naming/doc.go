// Package naming turns what a caller says into what the store sees: record
// names, keyed fingerprints and the keys that the gateway issues itself.
//
// Everything is HMAC-SHA-256 under subkeys that HKDF derives from a naming
// secret, one subkey per purpose, so that no client text enters the store and
// nobody who reads the store can test a guess. Every variable-length part is
// preceded by its length: ("a", "bc") and ("ab", "c") are different names.
//
// # Two secrets
//
// A [Ring] holds one or two secrets, the current one first. Keys are issued
// under the current secret, from a set time on so that all bridges know it by
// then, and accepted under both; the record of an issued key is named under the
// secret that signed it. Records of client keys are named
// under the last secret in the ring until a set time, and under the first from
// then on, where a record that was made under the last is still found: see [Link]
// and docs/security.md, "The naming secret". Removing the old secret forgets what
// is still named under it.
package naming
