package wire

import (
	"errors"
	"fmt"
)

// Errors of decoding. A VersionError names the version that was met.
var (
	ErrEmpty    = errors.New("wire: empty message")
	ErrTrailing = errors.New("wire: bytes after the message")
)

// VersionError reports a message of a version that this package cannot read.
type VersionError struct{ Got uint8 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("wire: version %d is not served (this side serves %d)", e.Got, Version)
}

type message interface {
	MarshalMsg([]byte) ([]byte, error)
	UnmarshalMsg([]byte) ([]byte, error)
}

func appendMessage(dst []byte, m message) ([]byte, error) {
	return m.MarshalMsg(append(dst, Version))
}

func decodeMessage(b []byte, m message) error {
	if len(b) == 0 {
		return ErrEmpty
	}
	if b[0] != Version {
		return &VersionError{Got: b[0]}
	}
	if err := checkNesting(b[1:]); err != nil {
		return err
	}
	rest, err := m.UnmarshalMsg(b[1:])
	if err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	if len(rest) != 0 {
		return ErrTrailing
	}
	return nil
}

// AppendBatch appends the encoding of b to dst.
func AppendBatch(dst []byte, b *Batch) ([]byte, error) { return appendMessage(dst, b) }

// DecodeBatch decodes into m, whose byte slices then alias b. Nothing that m
// held before is left.
func DecodeBatch(b []byte, m *Batch) error {
	*m = Batch{} // absent fields stand for zero, and the decoder leaves them as they are
	return decodeMessage(b, m)
}

// AppendAnswer appends the encoding of a to dst.
func AppendAnswer(dst []byte, a *Answer) ([]byte, error) { return appendMessage(dst, a) }

// DecodeAnswer decodes into a, as [DecodeBatch] does.
func DecodeAnswer(b []byte, a *Answer) error {
	*a = Answer{}
	return decodeMessage(b, a)
}

// AppendResponse appends the encoding of a recorded response to dst.
func AppendResponse(dst []byte, r *Response) ([]byte, error) { return appendMessage(dst, r) }

// DecodeResponse decodes a recorded response, as [DecodeBatch] does.
func DecodeResponse(b []byte, r *Response) error {
	*r = Response{}
	return decodeMessage(b, r)
}
