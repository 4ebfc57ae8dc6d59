package wire

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Errors of decoding. They wrap nothing of the message.
var (
	// ErrMalformed reports bytes that are not fields.
	ErrMalformed = errors.New("wire: malformed message")
	// ErrType reports a known field of another type than this version's.
	ErrType = errors.New("wire: field of another type")
	// ErrRange reports a number that its field cannot hold.
	ErrRange = errors.New("wire: number out of range")
	// ErrRepeated reports a second occurrence of a field that has one value.
	ErrRepeated = errors.New("wire: field given twice")
	// ErrLimit reports more elements than a message may have.
	ErrLimit = errors.New("wire: too many elements")
)

// field is one field of a message: a number, or bytes that alias the message.
type field struct {
	num   protowire.Number
	bytes []byte
	n     uint64
	plain bool // n holds the value
}

// next reads the field at the start of b. Groups, which nest, are refused: no
// version has any, and skipping them takes recursion.
func next(b []byte) (f field, rest []byte, err error) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return field{}, nil, ErrMalformed
	}
	b = b[n:]
	f.num = num
	switch typ {
	case protowire.VarintType:
		f.n, n = protowire.ConsumeVarint(b)
		f.plain = true
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	case protowire.Fixed32Type:
		_, n = protowire.ConsumeFixed32(b)
	case protowire.Fixed64Type:
		_, n = protowire.ConsumeFixed64(b)
	default:
		return field{}, nil, ErrMalformed
	}
	if n < 0 {
		return field{}, nil, ErrMalformed
	}
	return f, b[n:], nil
}

// fields calls known for each field of b whose number is below 64. A field that
// occurs twice is refused unless it is in repeated, a set of numbers; known
// ignores what it does not know.
func fields(b []byte, repeated uint64, known func(f field) error) error {
	var seen uint64
	for len(b) > 0 {
		f, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		if f.num >= 64 {
			continue
		}
		if bit := uint64(1) << f.num; seen&bit&^repeated != 0 {
			return ErrRepeated
		} else {
			seen |= bit
		}
		if err := known(f); err != nil {
			return err
		}
	}
	return nil
}

type integer interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int64
}

// number stores f in dst; limit is the largest value that dst can hold.
func number[T integer](f field, dst *T, limit uint64) error {
	if !f.plain {
		return ErrType
	}
	if f.n > limit {
		return ErrRange
	}
	*dst = T(f.n)
	return nil
}

func flag(f field, dst *bool) error {
	var v uint8
	if err := number(f, &v, 1); err != nil {
		return err
	}
	*dst = v == 1
	return nil
}

func text(f field, dst *string) error {
	if f.plain || f.bytes == nil {
		return ErrType
	}
	*dst = string(f.bytes)
	return nil
}

// data stores the bytes of f; they alias the message, and appending to them
// does not write into it.
func data(f field, dst *[]byte) error {
	if f.plain || f.bytes == nil {
		return ErrType
	}
	*dst = f.bytes[:len(f.bytes):len(f.bytes)]
	return nil
}

// element decodes one more element of a repeated field, into room that dst has
// where it has some.
func element[T any](f field, dst *[]T, limit int, decode func([]byte, *T) error) error {
	if f.plain || f.bytes == nil {
		return ErrType
	}
	if len(*dst) == limit {
		return fmt.Errorf("%w: more than %d", ErrLimit, limit)
	}
	var zero T
	*dst = append(*dst, zero)
	return decode(f.bytes, &(*dst)[len(*dst)-1])
}

// Appending. Fields that are zero are left out.

func appendNumber[T integer](b []byte, num protowire.Number, v T) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
}

func appendFlag(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return appendNumber(b, num, uint8(1))
}

func appendText(b []byte, num protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func appendData(b []byte, num protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

// lengthBytes is the size of the length of an element: a varint of fixed width,
// so that it can be filled in once the element is written.
const lengthBytes = 4

// maxLength is the largest length that fits.
const maxLength = 1<<(7*lengthBytes) - 1

// openElement begins an element; closeElement ends the one that begins at at.
func openElement(b []byte, num protowire.Number) (out []byte, at int) {
	b = append(protowire.AppendTag(b, num, protowire.BytesType), 0, 0, 0, 0)
	return b, len(b)
}

func closeElement(b []byte, at int) {
	n := len(b) - at
	for i := range lengthBytes {
		c := byte(n>>(7*i)) & 0x7f
		if i < lengthBytes-1 {
			c |= 0x80
		}
		b[at-lengthBytes+i] = c
	}
}

// maxInt64 bounds the numbers of int64 fields: none is negative.
const maxInt64 = math.MaxInt64
