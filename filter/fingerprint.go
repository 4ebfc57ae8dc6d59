package filter

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// A fingerprint is made in two steps: what the headers say when they come, the
// body when it is here. The parts stand in the order of their ids.

// headerFingerprint starts a fingerprint with method and target.
func (w *Worker) headerFingerprint(method, path string) []byte {
	fp := make([]byte, 1, 1+4*(1+wire.DigestBytes))
	fp[0] = wire.FingerprintVersion
	// Requests come in runs of one operation.
	if w.lastMethod.text != method || method == "" {
		w.lastMethod = textDigest{method, sha256.Sum256([]byte(method))}
	}
	if w.lastPath.text != path || path == "" {
		var buf [256]byte
		w.lastPath = textDigest{path, sha256.Sum256(rules.AppendTarget(buf[:0], path))}
	}
	fp = wire.AppendPart(fp, wire.PartMethod, w.lastMethod.sum)
	return wire.AppendPart(fp, wire.PartTarget, w.lastPath.sum)
}

// textDigest is a digest that is used again while the text is the same.
type textDigest struct {
	text string
	sum  [wire.DigestBytes]byte
}

// headersDigest is the digest of the lines of the headers that a rule includes.
func headersDigest(names []string, r Request) [wire.DigestBytes]byte {
	b := make([]byte, 0, 256)
	for _, name := range names {
		lines := r.Header(name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(lines)))
		for _, l := range lines {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(l)))
			b = append(b, l...)
		}
	}
	return sha256.Sum256(b)
}

// bodyDigest is the digest of a body under a rule's mode.
func bodyDigest(mode rules.BodyMode, body []byte) [wire.DigestBytes]byte {
	if mode == rules.BodyJSON {
		if d, ok := canon.Digest(body); ok {
			return d
		}
	}
	return canon.RawDigest(body)
}

// completeFingerprint adds what the body says, and the headers' digest behind
// it.
func (s *Stream) completeFingerprint() {
	if s.rule.Fingerprint.Body != rules.BodyNone {
		s.fingerprint = wire.AppendPart(s.fingerprint, wire.PartBody, bodyDigest(s.rule.Fingerprint.Body, s.body))
	}
	if len(s.rule.Fingerprint.Headers) > 0 {
		s.fingerprint = wire.AppendPart(s.fingerprint, wire.PartHeaders, s.headers)
	}
	s.body = nil
}
