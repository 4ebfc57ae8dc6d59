package wire

import "bytes"

// PartID names one part of a fingerprint. The names are what a 422 tells the
// client.
type PartID uint8

// The parts of algorithm version 1.
const (
	PartMethod  PartID = 1
	PartTarget  PartID = 2
	PartBody    PartID = 3
	PartHeaders PartID = 4
)

// String returns the name under which a 422 lists the part.
func (p PartID) String() string {
	switch p {
	case PartMethod:
		return "method"
	case PartTarget:
		return "target"
	case PartBody:
		return "body"
	case PartHeaders:
		return "headers"
	}
	return "unknown"
}

// DigestBytes is the length of one part's digest.
const DigestBytes = 32

// FingerprintVersion is the first byte of a fingerprint made by this version.
const FingerprintVersion = 1

const partBytes = 1 + DigestBytes

// A fingerprint is one version byte, then per part its PartID and its digest,
// parts in ascending order of their ids.

// AppendPart appends one part to a fingerprint that begins with its version.
func AppendPart(fp []byte, id PartID, digest [DigestBytes]byte) []byte {
	return append(append(fp, byte(id)), digest[:]...)
}

// ValidFingerprint reports whether fp has the form above.
func ValidFingerprint(fp []byte) bool {
	if len(fp) < 1 || (len(fp)-1)%partBytes != 0 {
		return false
	}
	last := byte(0)
	for p := fp[1:]; len(p) > 0; p = p[partBytes:] {
		if p[0] <= last {
			return false
		}
		last = p[0]
	}
	return true
}

// MapParts returns a copy of fp with every digest replaced by f of it: the
// bridge keys digests before it stores them. An empty fp stays empty.
func MapParts(fp []byte, f func(id PartID, digest []byte) [DigestBytes]byte) []byte {
	if len(fp) == 0 {
		return nil
	}
	out := append(make([]byte, 0, len(fp)), fp[0])
	for p := fp[1:]; len(p) >= partBytes; p = p[partBytes:] {
		out = AppendPart(out, PartID(p[0]), f(PartID(p[0]), p[1:partBytes]))
	}
	return out
}

// Differs lists the parts in which two fingerprints differ, one PartID a byte,
// a part that only one of them has included.
func Differs(a, b []byte) []byte {
	var out []byte
	for id := PartMethod; id <= PartHeaders; id++ {
		if !bytes.Equal(part(a, id), part(b, id)) {
			out = append(out, byte(id))
		}
	}
	return out
}

func part(fp []byte, id PartID) []byte {
	if len(fp) == 0 {
		return nil
	}
	for p := fp[1:]; len(p) >= partBytes; p = p[partBytes:] {
		if p[0] == byte(id) {
			return p[1:partBytes]
		}
	}
	return nil
}
