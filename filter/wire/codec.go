package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A message on the wire is its version (one byte), its length (a varint of
// fixed width) and its fields. The length tells a message that was cut between
// two fields from a whole one.
const messageHeader = 1 + lengthBytes

// Errors of decoding. A VersionError names the version that was met.
var (
	ErrEmpty    = errors.New("wire: empty message")
	ErrTrailing = errors.New("wire: bytes after the message")
	// ErrTooLarge reports a message beyond 256 MiB, which has no encoding.
	ErrTooLarge = errors.New("wire: message too large")
)

// VersionError reports a message of a version that this package cannot read.
type VersionError struct{ Got uint8 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("wire: version %d is not served (this side serves %d)", e.Got, Version)
}

type message interface {
	append([]byte) []byte
	decode([]byte) error
}

func appendMessage(dst []byte, m message) ([]byte, error) {
	dst = append(dst, Version, 0, 0, 0, 0)
	at := len(dst)
	dst = m.append(dst)
	if len(dst)-at > maxLength {
		return nil, ErrTooLarge
	}
	closeElement(dst, at)
	return dst, nil
}

func decodeMessage(b []byte, m message) error {
	if len(b) == 0 {
		return ErrEmpty
	}
	if b[0] != Version {
		return &VersionError{Got: b[0]}
	}
	if len(b) < messageHeader {
		return ErrMalformed
	}
	size, n := protowire.ConsumeVarint(b[1:messageHeader])
	switch rest := uint64(len(b) - messageHeader); {
	case n != lengthBytes || size > rest:
		return ErrMalformed
	case size < rest:
		return ErrTrailing
	}
	return m.decode(b[messageHeader:])
}

// AppendBatch appends the encoding of b to dst. The only error is ErrTooLarge.
func AppendBatch(dst []byte, b *Batch) ([]byte, error) { return appendMessage(dst, b) }

// DecodeBatch decodes into m, whose byte slices then alias b. Nothing that m
// held before is left, but the room of its slices is used again.
func DecodeBatch(b []byte, m *Batch) error { return decodeMessage(b, m) }

// AppendAnswer appends the encoding of a to dst. The only error is ErrTooLarge.
func AppendAnswer(dst []byte, a *Answer) ([]byte, error) { return appendMessage(dst, a) }

// DecodeAnswer decodes into a, as [DecodeBatch] does.
func DecodeAnswer(b []byte, a *Answer) error { return decodeMessage(b, a) }

// AppendResponse appends the encoding of a recorded response to dst. The only
// error is ErrTooLarge.
func AppendResponse(dst []byte, r *Response) ([]byte, error) { return appendMessage(dst, r) }

// DecodeResponse decodes a recorded response, as [DecodeBatch] does.
func DecodeResponse(b []byte, r *Response) error { return decodeMessage(b, r) }
