package wire

import "errors"

// Seal names how an envelope's payload is protected.
type Seal uint8

// The seals. SealNone is the only one written by this version; the room for a
// key id is there from the first day so that sealing needs no new format.
const (
	SealNone      Seal = 0
	SealAES256GCM Seal = 1
)

// envelopeVersion is the first byte of every stored result.
const envelopeVersion = EnvelopeVersion

// EnvelopeVersion is the version of stored results that this package writes, and
// the only one that it reads.
const EnvelopeVersion = 1

// MaxKeyIDBytes bounds the id of a sealing key.
const MaxKeyIDBytes = 32

// ErrEnvelope reports bytes that are not an envelope of a known version.
var ErrEnvelope = errors.New("wire: not a result envelope of a known version")

// Envelope is the form in which a result is stored:
//
//	byte 0      version (1)
//	byte 1      seal
//	byte 2      length n of the key id, at most MaxKeyIDBytes
//	3..3+n      key id
//	3+n..       payload: an encoded Response, sealed as the second byte says
type Envelope struct {
	Seal    Seal
	KeyID   string
	Payload []byte
}

// AppendEnvelope appends e to dst.
func AppendEnvelope(dst []byte, e Envelope) ([]byte, error) {
	if len(e.KeyID) > MaxKeyIDBytes {
		return nil, ErrEnvelope
	}
	dst = append(dst, envelopeVersion, byte(e.Seal), byte(len(e.KeyID)))
	dst = append(dst, e.KeyID...)
	return append(dst, e.Payload...), nil
}

// ParseEnvelope reads an envelope; its payload aliases b.
func ParseEnvelope(b []byte) (Envelope, error) {
	if len(b) < 3 || b[0] != envelopeVersion || b[1] > byte(SealAES256GCM) {
		return Envelope{}, ErrEnvelope
	}
	n := int(b[2])
	if n > MaxKeyIDBytes || len(b) < 3+n {
		return Envelope{}, ErrEnvelope
	}
	return Envelope{Seal: Seal(b[1]), KeyID: string(b[3 : 3+n]), Payload: b[3+n:]}, nil
}
