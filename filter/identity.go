package filter

import (
	"errors"
	"strconv"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/key"
	"github.com/oncewall/oncewall/filter/rules"
)

// refusal is a problem with what this request adds to it.
type refusal struct {
	problem *problem
	extra   extra
}

func invalidKey(err error) *refusal {
	return &refusal{problemKeyInvalid, extra{reason: keyReason(err)}}
}

// ambiguousTarget is the reason where the readings of a path, or of an authority, meet
// different rules.
const ambiguousTarget = "The host or path can be read in more than one way, and what a key is depends on it."

// keyReason is the fixed text that tells the client which rule its key broke.
func keyReason(err error) string {
	switch {
	case errors.Is(err, key.ErrMultiple):
		return "The key was sent more than once."
	case errors.Is(err, key.ErrList):
		return "A list of keys was sent."
	case errors.Is(err, key.ErrTooLong):
		return "The key is too long."
	case errors.Is(err, key.ErrEmpty):
		return "The key is empty."
	case errors.Is(err, canon.ErrAmbiguous):
		return "The member that holds the key occurs more than once, or in another case."
	case errors.Is(err, canon.ErrForm):
		return "The query or form that holds the key can be read in more than one way."
	case errors.Is(err, rules.ErrPath):
		return "The path that holds the key can be read in more than one way."
	case errors.Is(err, errKeyEncoded):
		return "The body that holds the key is compressed."
	case errors.Is(err, errKeyNotJSON):
		return "The body that holds the key is not JSON."
	case errors.Is(err, key.ErrTooShort):
		return "The key is too short."
	case errors.Is(err, key.ErrAlphabet):
		return "The key has a character that is not allowed here."
	case errors.Is(err, key.ErrUUID):
		return "The key must be a UUID of an allowed version."
	case errors.Is(err, key.ErrWeak):
		return "The key is too easy to guess."
	}
	return ""
}

// contentLength returns the declared length of the body.
func contentLength(r Request) (int64, bool) {
	l := r.Header("content-length")
	if len(l) != 1 {
		return 0, false
	}
	return parseLength(l[0])
}

func parseLength(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
