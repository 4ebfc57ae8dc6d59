package wire

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// PartID names one part of a fingerprint. The names are what a 422 tells the
// client.
type PartID uint8

// The parts.
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

// Algorithm names how a part's digest was made. It follows from a rule's
// configuration alone, never from what a client sends. Digests of different
// algorithms cannot be compared.
type Algorithm uint16

const (
	// AlgorithmUntagged is that of the body and the headers in version 1, which
	// does not tell how they were made.
	AlgorithmUntagged Algorithm = 0
	// AlgorithmFixed is that of method and target in both versions, and of a digest
	// that a program makes itself.
	AlgorithmFixed Algorithm = 1
	// AlgorithmConfigured is the first that stands for a rule's configuration.
	AlgorithmConfigured Algorithm = 16
)

// The versions of fingerprints, and so their first byte.
const (
	// FingerprintVersion is made by this version.
	FingerprintVersion = 2
	// FingerprintUntagged is made by earlier versions: its parts carry no
	// algorithm.
	FingerprintUntagged = 1
)

const (
	tagBytes      = 2
	untaggedBytes = 1 + DigestBytes
	partBytes     = 1 + tagBytes + DigestBytes
)

// MaxFingerprintBytes is the length of a fingerprint with every part.
const MaxFingerprintBytes = 1 + 4*partBytes

// A fingerprint is one version byte, then per part its PartID, in version 2 its
// Algorithm (16 bits, big endian), and its digest; parts in ascending order of
// their ids.

// A Part is one part of a fingerprint. Digest shares the fingerprint's memory.
type Part struct {
	ID        PartID
	Algorithm Algorithm
	Digest    []byte
}

// AppendPart appends one part to a fingerprint of [FingerprintVersion].
func AppendPart(fp []byte, id PartID, a Algorithm, digest [DigestBytes]byte) []byte {
	fp = binary.BigEndian.AppendUint16(append(fp, byte(id)), uint16(a))
	return append(fp, digest[:]...)
}

// sizeOf returns the length of a part in fp; 0: the version is not known.
func sizeOf(fp []byte) int {
	if len(fp) > 0 {
		switch fp[0] {
		case FingerprintVersion:
			return partBytes
		case FingerprintUntagged:
			return untaggedBytes
		}
	}
	return 0
}

// ValidFingerprint reports whether fp has the form above, in either version.
func ValidFingerprint(fp []byte) bool {
	size := sizeOf(fp)
	if size == 0 || (len(fp)-1)%size != 0 {
		return false
	}
	last := byte(0)
	for p := fp[1:]; len(p) > 0; p = p[size:] {
		if p[0] <= last {
			return false
		}
		last = p[0]
	}
	return true
}

// Parts yields the parts of fp in their order; none of an unknown version.
func Parts(fp []byte) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		size := sizeOf(fp)
		for at := 1; size > 0 && at+size <= len(fp); at += size {
			p := Part{ID: PartID(fp[at]), Digest: fp[at+size-DigestBytes : at+size]}
			switch {
			case size == partBytes:
				p.Algorithm = Algorithm(binary.BigEndian.Uint16(fp[at+1:]))
			case p.ID <= PartTarget:
				p.Algorithm = AlgorithmFixed
			}
			if !yield(p) {
				return
			}
		}
	}
}

// MapParts returns a copy of fp, of the same version and with the same
// algorithms, with every digest replaced by f of it: the bridge keys digests
// before it stores them. An empty fp stays empty.
func MapParts(fp []byte, f func(id PartID, digest []byte) [DigestBytes]byte) []byte {
	if len(fp) == 0 {
		return nil
	}
	out := append(make([]byte, 0, len(fp)), fp[0])
	for p := range Parts(fp) {
		digest := f(p.ID, p.Digest)
		if fp[0] == FingerprintUntagged {
			out = append(append(out, byte(p.ID)), digest[:]...)
			continue
		}
		out = AppendPart(out, p.ID, p.Algorithm, digest)
	}
	return out
}

// Differs lists the parts in which two fingerprints differ, one PartID a byte.
// Only a part that both have, made by the same algorithm, is compared: that a
// rule's configuration changed between a request and its retry says nothing
// about what they ask for.
func Differs(a, b []byte) []byte {
	var out []byte
	for p := range Parts(a) {
		if q, ok := part(b, p.ID); ok && q.Algorithm == p.Algorithm && !bytes.Equal(p.Digest, q.Digest) {
			out = append(out, byte(p.ID))
		}
	}
	return out
}

// Conflict reports whether a key whose record holds the fingerprint a is used
// again for another request, whose fingerprint is b: both are there, and they
// differ. What is not a fingerprint of a known version differs from everything
// but itself.
func Conflict(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 || bytes.Equal(a, b) {
		return false
	}
	return sizeOf(a) == 0 || sizeOf(b) == 0 || len(Differs(a, b)) > 0
}

// DowngradeFingerprint returns fp without its algorithms, in the version that a
// bridge of the previous version takes. It compares such fingerprints as wholes,
// so a change of a rule's configuration may turn a retry into key-reused there.
func DowngradeFingerprint(fp []byte) []byte {
	if sizeOf(fp) != partBytes {
		return fp
	}
	out := append(make([]byte, 0, len(fp)), FingerprintUntagged)
	for p := range Parts(fp) {
		out = append(append(out, byte(p.ID)), p.Digest...)
	}
	return out
}

func part(fp []byte, id PartID) (Part, bool) {
	for p := range Parts(fp) {
		if p.ID == id {
			return p, true
		}
	}
	return Part{}, false
}
