package canon

import "errors"

// MaxDepth bounds how deeply objects and arrays may nest. Common parsers stop
// between 64 (.NET) and 10,000 (Go); no real request comes near.
const MaxDepth = 512

// MaxExponent bounds the absolute value of a number's exponent as it is
// written. The power of ten in the canonical text then always fits an int64.
const MaxExponent = 999_999_999_999_999_999

// MaxBodyBytes bounds the bodies that are looked at: offsets are kept in 31
// bits. A VM of Envoy could not hold more.
const MaxBodyBytes = 1 << 30

// Why a body has no canonical text. None of them tells what the body holds.
var (
	ErrSyntax    = errors.New("canon: not one JSON value (RFC 8259)")
	ErrUTF8      = errors.New("canon: not valid UTF-8")
	ErrSurrogate = errors.New("canon: unpaired surrogate in an escape")
	ErrDuplicate = errors.New("canon: an object holds a member twice")
	ErrDepth     = errors.New("canon: nested more than 512 deep")
	ErrExponent  = errors.New("canon: exponent of more than 18 digits")
	ErrSize      = errors.New("canon: larger than 1 GiB")
)
