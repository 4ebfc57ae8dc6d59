// Package seal encrypts what the bridge stores, so that who reads the store, a
// dump or a backup of it learns nothing but lengths, and who writes to it cannot
// put words into an upstream's mouth.
//
// AES-256-GCM under a key of the record's own: HKDF-SHA-256 extracts a root from
// each configured secret once, and expands it by purpose and record name for
// each record. The nonce is 96 random bits. What that is good for:
//
//   - Random nonces are safe under one key for some 2^32 messages (NIST SP
//     800-38D, section 8.3: a collision below 2^-32). The key of one record seals
//     its result, again for each repeat of a completion that was not acknowledged
//     (one in 5 s), and again should the idempotency key be used anew after its
//     end: thousands, not billions. The bound is out of reach however many records
//     there are, and bridges that know nothing of each other share no counter.
//   - A result that is copied to another record, or read for another purpose,
//     is under another key and does not open.
//
// Purpose, record name and the envelope's header are authenticated as well, so
// that neither the key id nor the kind of seal can be changed.
//
// Not hidden: the length, and that two records exist. Not prevented: an older
// result of the same record put back in its place, or the record's deletion; who
// may write to the store can do that.
//
// [wire.Envelope] is the form of what is sealed; its payload is the nonce, the
// ciphertext and a tag of 16 bytes.
package seal
