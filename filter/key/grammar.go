package key

import (
	"errors"
	"math"
	"math/bits"
	"strings"
)

// Why a key that was read is not one that its rule takes. The texts are fixed
// and never hold the value.
var (
	ErrTooShort = errors.New("key: shorter than the rule allows")
	ErrAlphabet = errors.New("key: a character that the rule does not allow")
	ErrUUID     = errors.New("key: not a UUID that the rule allows")
	ErrWeak     = errors.New("key: too easy to guess for the rule")
)

// Grammar is what a rule asks of a key beside its longest length. The zero
// Grammar takes every key.
type Grammar struct {
	// MinLength is the least number of bytes; 0: any.
	MinLength int
	// Alphabet lists the bytes that may occur; nil: all.
	Alphabet *Alphabet
	// UUID wants a UUID (RFC 9562) of variant 10 in its text form.
	UUID bool
	// Versions has a bit for each version of a UUID that is taken; 0: 1 to 8.
	Versions uint16
	// MinEntropyBits is the least [Entropy]; 0: any.
	MinEntropyBits int
}

// Check returns the key as it names records: a UUID in lower case, since its
// two spellings are one (RFC 9562 section 4), anything else as it is. Of several
// faults the first of length, alphabet, form and strength is told.
func (g *Grammar) Check(key string) (string, error) {
	if len(key) < g.MinLength {
		return "", ErrTooShort
	}
	if g.Alphabet != nil && !g.Alphabet.Holds(key) {
		return "", ErrAlphabet
	}
	if g.UUID {
		if !isUUID(key, g.Versions) {
			return "", ErrUUID
		}
		key = strings.ToLower(key)
	}
	if g.MinEntropyBits > 0 && Entropy(key) < float64(g.MinEntropyBits) {
		return "", ErrWeak
	}
	return key, nil
}

// isUUID reports whether s is 8-4-4-4-12 hexadecimal digits of variant 10 and of
// one of the versions. Nil and Max, which name nothing, are none.
func isUUID(s string, versions uint16) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	if versions == 0 {
		versions = 0x1fe
	}
	version := s[14]
	return version >= '1' && version <= '8' && versions&(1<<(version-'0')) != 0 &&
		strings.IndexByte("89abAB", s[19]) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// Entropy estimates the strength of a key in bits: its length times the Shannon
// entropy of its bytes as they occur in it. A random UUID has about 135, which is
// more than the 122 that it was drawn with; "1111" has none.
//
// It judges one key by itself, and so it sees repetition and nothing else: a
// counter, a time or a name scores by its length ("1700000000123" has 22 bits)
// although it is easy to guess. A low figure proves that a key is weak; a high
// one does not prove that it is strong.
func Entropy(key string) float64 {
	var count [256]int
	for i := range len(key) {
		count[key[i]]++
	}
	n := float64(len(key))
	bits := 0.0
	for _, c := range count {
		if c > 0 {
			bits += float64(c) * math.Log2(n/float64(c))
		}
	}
	return bits
}

// Alphabet is a set of the bytes 20 to 7E.
type Alphabet [4]uint64

// ParseAlphabet reads a set as the inside of a character class: single
// characters, and ranges of two with "-" between them, as in "A-Za-z0-9_-". "-"
// stands for itself at either end. Nothing else has a meaning of its own: "^"
// and "\" are characters. false: empty, not ASCII from space to "~", or a range
// whose ends are not in order.
func ParseAlphabet(s string) (*Alphabet, bool) {
	if s == "" {
		return nil, false
	}
	var a Alphabet
	for i := 0; i < len(s); i++ {
		low, high := s[i], s[i]
		if i+2 < len(s) && s[i+1] == '-' {
			high = s[i+2]
			i += 2
		}
		if low < ' ' || high > '~' || low > high {
			return nil, false
		}
		for c := low; c <= high; c++ {
			a[c>>6] |= 1 << (c & 63)
		}
	}
	return &a, true
}

// Len is the number of bytes in the set.
func (a *Alphabet) Len() (n int) {
	for _, word := range a {
		n += bits.OnesCount64(word)
	}
	return n
}

// Holds reports whether every byte of s is in the set.
func (a *Alphabet) Holds(s string) bool {
	for i := range len(s) {
		if c := s[i]; a[c>>6]&(1<<(c&63)) == 0 {
			return false
		}
	}
	return true
}
