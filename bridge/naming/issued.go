package naming

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"
)

// An issued key is IssuedPrefix followed by the unpadded base64url form of
//
//	byte 0       version (1)
//	1..9         expiry, Unix milliseconds, big endian
//	9..25        128 random bits
//	25..41       gateway tag: MAC of namespace, expiry, random, owner tag
//	41..57       owner tag: MAC of namespace, scope, principal, expiry, random
//
// The gateway tag tells a forged key from a genuine one, the owner tag a foreign
// key from the caller's own; both are cut to 128 bits. Since the first covers the
// second, a key with any bit changed is forged. Neither needs the store.
const (
	// IssuedPrefix begins every issued key.
	IssuedPrefix = "ow1."
	// IssuedLength is the length of every issued key in bytes.
	IssuedLength = len(IssuedPrefix) + (issuedBytes*8+5)/6

	issuedVersion = 1
	randomBytes   = 16
	tagBytes      = 16
	headBytes     = 1 + 8 + randomBytes
	issuedBytes   = headBytes + 2*tagBytes
)

// Verdict is what [Ring.Check] finds out about an issued key.
type Verdict uint8

// The verdicts. The zero value is the refusal.
const (
	NotIssued Verdict = iota // not a key of this namespace: forged, cut, or under a secret that is gone
	Foreign                  // genuine, but issued to another principal or scope
	Genuine                  // issued to this principal in this scope
)

// Issue makes a key for principal in scope of namespace that says it expires at
// expires (cut to the millisecond). The randomness comes from crypto/rand.
func (k *Key) Issue(namespace, scope, principal string, expires time.Time) string {
	var raw [issuedBytes]byte
	raw[0] = issuedVersion
	binary.BigEndian.PutUint64(raw[1:9], uint64(expires.UnixMilli()))
	rand.Read(raw[9:headBytes]) // never fails: it ends the program instead
	head := raw[:headBytes]
	owner := k.ownerTag(namespace, scope, principal, head)
	gateway := k.gatewayTag(namespace, head, owner[:tagBytes])
	copy(raw[headBytes:], gateway[:tagBytes])
	copy(raw[headBytes+tagBytes:], owner[:tagBytes])
	return IssuedPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
}

// Issued is a checked key.
type Issued struct {
	Verdict Verdict
	// Key names the record; nil where the verdict is NotIssued.
	Key *Key
	// Expires is what the key says of itself. It is no ground for a refusal: a
	// finished key replays while its record lives, and the store decides.
	Expires time.Time
}

// Check says whether text is a key issued to principal in scope of namespace.
// It takes the same time for every key of the right length that is not genuine.
func (r *Ring) Check(namespace, scope, principal, text string) Issued {
	if len(text) != IssuedLength || !strings.HasPrefix(text, IssuedPrefix) {
		return Issued{}
	}
	var raw [issuedBytes + 3]byte
	// The decoder skips line breaks; a text that holds one decodes to less.
	n, err := base64.RawURLEncoding.Strict().Decode(raw[:], []byte(text[len(IssuedPrefix):]))
	if err != nil || n != issuedBytes || raw[0] != issuedVersion {
		return Issued{}
	}
	head := raw[:headBytes]
	found := Issued{}
	for _, k := range r.keys {
		gateway := k.gatewayTag(namespace, head, raw[headBytes+tagBytes:issuedBytes])
		owner := k.ownerTag(namespace, scope, principal, head)
		genuine := subtle.ConstantTimeCompare(gateway[:tagBytes], raw[headBytes:headBytes+tagBytes])
		own := subtle.ConstantTimeCompare(owner[:tagBytes], raw[headBytes+tagBytes:issuedBytes])
		if genuine == 1 {
			found.Key = k
			found.Verdict = Foreign + Verdict(own)
			found.Expires = time.UnixMilli(int64(binary.BigEndian.Uint64(head[1:9])))
		}
	}
	return found
}

func (k *Key) gatewayTag(namespace string, head, owner []byte) [32]byte {
	return k.gateway.tag(func(b []byte) []byte {
		return append(append(appendPart(b, namespace), head...), owner...)
	})
}

func (k *Key) ownerTag(namespace, scope, principal string, head []byte) [32]byte {
	return k.owner.tag(func(b []byte) []byte {
		b = appendPart(b, namespace)
		b = appendPart(b, scope)
		b = appendPart(b, principal)
		return append(b, head...)
	})
}
