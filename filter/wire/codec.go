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
	return fmt.Sprintf("wire: version %d is not served", e.Got)
}

// Serves reports whether batches and answers of a version can be read.
func Serves(version uint8) bool { return version == Version || version == PreviousVersion }

type message interface {
	append([]byte) []byte
	decode([]byte) error
}

func appendMessage(dst []byte, version uint8, m message) ([]byte, error) {
	dst = append(dst, version, 0, 0, 0, 0)
	at := len(dst)
	dst = m.append(dst)
	if len(dst)-at > maxLength {
		return nil, ErrTooLarge
	}
	closeElement(dst, at)
	return dst, nil
}

// decodeMessage returns the version in which m was written.
func decodeMessage(b []byte, served func(uint8) bool, m message) (uint8, error) {
	if len(b) == 0 {
		return 0, ErrEmpty
	}
	if !served(b[0]) {
		return b[0], &VersionError{Got: b[0]}
	}
	if len(b) < messageHeader {
		return b[0], ErrMalformed
	}
	size, n := protowire.ConsumeVarint(b[1:messageHeader])
	switch rest := uint64(len(b) - messageHeader); {
	case n != lengthBytes || size > rest:
		return b[0], ErrMalformed
	case size < rest:
		return b[0], ErrTrailing
	}
	return b[0], m.decode(b[messageHeader:])
}

// AppendBatch appends the encoding of b to dst. The only error is ErrTooLarge.
func AppendBatch(dst []byte, b *Batch) ([]byte, error) { return appendMessage(dst, Version, b) }

// DecodeBatch decodes into m, whose byte slices then alias b. Nothing that m
// held before is left, but the room of its slices is used again.
func DecodeBatch(b []byte, m *Batch) error {
	_, err := decodeMessage(b, Serves, m)
	return err
}

// AppendAnswer appends the encoding of a to dst. The only error is ErrTooLarge.
func AppendAnswer(dst []byte, a *Answer) ([]byte, error) { return appendMessage(dst, Version, a) }

// DecodeAnswer decodes into a, as [DecodeBatch] does.
func DecodeAnswer(b []byte, a *Answer) error {
	_, err := decodeMessage(b, Serves, a)
	return err
}

// AppendResponse appends the encoding of a recorded response to dst. The only
// error is ErrTooLarge.
func AppendResponse(dst []byte, r *Response) ([]byte, error) {
	return appendMessage(dst, ResponseVersion, r)
}

// DecodeResponse decodes a recorded response, as [DecodeBatch] does.
func DecodeResponse(b []byte, r *Response) error {
	_, err := decodeMessage(b, func(v uint8) bool { return v == ResponseVersion }, r)
	return err
}
