package naming

import (
	"crypto/subtle"

	"github.com/oncewall/oncewall/bridge/store"
)

// Link is where a record lives that is not under the name from: to, and a MAC of
// both names under a subkey of the secret that to is named under. Who writes to the
// store cannot make one, and so cannot send a caller to another caller's record.
// It is store.PointerBytes long.
func (k *Key) Link(from, to store.Name) []byte {
	tag := k.linkTag(from, to)
	return append(append(make([]byte, 0, store.PointerBytes), to[:]...), tag[:store.PointerBytes-len(to)]...)
}

func (k *Key) linkTag(from, to store.Name) [32]byte {
	return k.link.tag(func(b []byte) []byte { return append(append(b, from[:]...), to[:]...) })
}

// Follow returns the name that a link found under from leads to, and the key that
// it is named under. false: the link was not made for from, or under a secret that
// is not in the ring.
func (r *Ring) Follow(from store.Name, link []byte) (k *Key, to store.Name, ok bool) {
	if len(link) != store.PointerBytes {
		return nil, to, false
	}
	copy(to[:], link)
	for _, k := range r.keys {
		tag := k.linkTag(from, to)
		if subtle.ConstantTimeCompare(tag[:store.PointerBytes-len(to)], link[len(to):]) == 1 {
			return k, to, true
		}
	}
	return nil, store.Name{}, false
}

// CallerBytes is the length of a caller's digest.
const CallerBytes = 16

// Caller returns the digest by which the records of one principal in one namespace
// are found again. It is kept in each of them and tells nothing without the secret.
func (k *Key) Caller(namespace, principal string) []byte {
	tag := k.caller.tag(func(b []byte) []byte { return appendPart(appendPart(b, namespace), principal) })
	return tag[:CallerBytes:CallerBytes]
}
