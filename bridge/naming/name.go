package naming

import (
	"encoding/binary"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Name returns the name of the record of key, as principal knows it, in scope of
// namespace. The four parts may hold any bytes.
func (k *Key) Name(namespace, scope, principal, key string) store.Name {
	return k.name.tag(func(b []byte) []byte {
		b = appendPart(b, namespace)
		b = appendPart(b, scope)
		b = appendPart(b, principal)
		return appendPart(b, key)
	})
}

// Fingerprint returns fp with every digest keyed, bound to the record's name:
// equal requests of two records do not look equal in the store. The parts keep
// their ids, so that [wire.Differs] works on two results of the same record. An
// empty fp stays empty. fp must satisfy [wire.ValidFingerprint].
func (k *Key) Fingerprint(name store.Name, fp []byte) []byte {
	if len(fp) == 0 {
		return nil
	}
	return wire.MapParts(fp, func(id wire.PartID, digest []byte) [wire.DigestBytes]byte {
		return k.fingerprint.tag(func(b []byte) []byte {
			b = append(b, name[:]...)
			b = append(b, byte(id))
			return append(b, digest...)
		})
	})
}

// appendPart appends s preceded by its length as 32 bits, big endian.
func appendPart(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}
