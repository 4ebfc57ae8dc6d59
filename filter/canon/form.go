package canon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxPairs bounds the pairs of a form, and the parts of a multipart body, that
// are looked at. Common parsers stop at 1,000 (PHP, .NET) to 4,096 (Rack).
const MaxPairs = 4096

// Why a form has no canonical form, beside [ErrSize].
var (
	ErrForm  = errors.New("canon: not a form that every parser reads alike")
	ErrPairs = errors.New("canon: more than 4096 pairs or parts")
)

// Pair is one pair of a form, decoded.
type Pair struct {
	Name, Value []byte
	// Valued is false where the name stood without "=", which some parsers tell
	// from an empty value.
	Valued bool
}

// ParseForm returns the pairs of an application/x-www-form-urlencoded body in
// their order: split at "&" and at the first "=", "+" read as a space, then
// percent-decoded once. Empty pairs ("a=1&&b=2") are left out.
//
// Where parsers disagree about what a body says, it does not choose and returns
// ErrForm: a "%" that no two hexadecimal digits follow, a ";" or NUL that is not
// encoded, an empty name, or one with a "[" that no "]" follows. The bytes
// of names and values may be of any charset.
//
// The pairs share one copy of the body.
func ParseForm(body []byte) ([]Pair, error) {
	if len(body) > MaxBodyBytes {
		return nil, ErrSize
	}
	n := bytes.Count(body, []byte("&")) + 1
	if n > MaxPairs {
		return nil, ErrPairs
	}
	pairs := make([]Pair, 0, n)
	room := make([]byte, 0, len(body))
	for len(body) > 0 {
		var p []byte
		if p, body, _ = bytes.Cut(body, []byte("&")); len(p) == 0 {
			continue
		}
		name, value, valued := bytes.Cut(p, []byte("="))
		var ok bool
		if name, room, ok = decodeForm(room, name); !ok || !plainName(name) {
			return nil, ErrForm
		}
		if value, room, ok = decodeForm(room, value); !ok {
			return nil, ErrForm
		}
		pairs = append(pairs, Pair{name, value, valued})
	}
	return pairs, nil
}

// LookupForm returns the value of the field called name, for use as an
// idempotency key or as a part of one. found is false where there is no such
// field. But where the field comes twice, or next to one that some parsers take
// for the same (another case, "name[]", "." or a space for "_"), the answer is
// [ErrAmbiguous]: the backend might read another key than the gateway. A value
// that is not UTF-8 is ErrUTF8; a field without "=" is ErrType.
func LookupForm(body []byte, name string) (value string, found bool, err error) {
	pairs, err := ParseForm(body)
	if err != nil {
		return "", false, err
	}
	return lookupPairs(pairs, name)
}

func lookupPairs(pairs []Pair, name string) (value string, found bool, err error) {
	want := group([]byte(name))
	at := -1
	for i := range pairs {
		if string(pairs[i].Name) != name && !bytes.EqualFold(group(pairs[i].Name), want) {
			continue
		}
		if at >= 0 || string(pairs[i].Name) != name {
			return "", false, ErrAmbiguous
		}
		at = i
	}
	switch {
	case at < 0:
		return "", false, nil
	case !pairs[at].Valued:
		return "", false, ErrType
	case !utf8.Valid(pairs[at].Value):
		return "", false, ErrUTF8
	}
	return string(pairs[at].Value), true, nil
}

// decodeForm decodes s behind room, which never grows: decoding only shortens.
func decodeForm(room, s []byte) (decoded, rest []byte, ok bool) {
	from := len(room)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '+':
			room = append(room, ' ')
		case '%':
			if i+2 >= len(s) {
				return nil, nil, false
			}
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi < 0 || lo < 0 {
				return nil, nil, false
			}
			room = append(room, byte(hi<<4|lo))
			i += 2
		case ';', 0:
			return nil, nil, false
		default:
			room = append(room, c)
		}
	}
	return room[from:len(room):len(room)], room, true
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// plainName reports whether parsers agree on what a field is called.
func plainName(name []byte) bool {
	if len(group(name)) == 0 || bytes.IndexByte(name, 0) >= 0 {
		return false
	}
	for {
		i := bytes.IndexAny(name, "[]")
		if i < 0 {
			return true
		}
		if name[i] == ']' {
			return false
		}
		j := bytes.IndexAny(name[i+1:], "[]")
		if j < 0 || name[i+1+j] == '[' {
			return false
		}
		name = name[i+j+2:]
	}
}

// group returns what the names of fields have in common that some parsers put
// into one value: the name before "[", in lower case, with "_" for "." and
// spaces, spaces before it left out (PHP's rules, and those of parsers that
// ignore case). The order of two fields of one group counts; that of two fields
// of different groups does not.
func group(name []byte) []byte {
	name = bytes.TrimLeft(name, " ")
	if i := bytes.IndexByte(name, '['); i >= 0 {
		name = name[:i]
	}
	plain := true
	for _, c := range name {
		plain = plain && c != '.' && c != ' ' && (c < 'A' || 'Z' < c) && c < utf8.RuneSelf
	}
	if plain {
		return name
	}
	return []byte(strings.Map(func(r rune) rune {
		if r == '.' || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToLower(string(name))))
}

// FieldGroup decodes the name of a field of a query or form as it is written, and
// returns what it has in common with names that some parsers put into the same
// value: the order of two fields of one group counts. ok is false where parsers
// disagree on the name itself.
func FieldGroup(written string) (name string, ok bool) {
	plain := true
	for i := range len(written) {
		c := written[i]
		plain = plain && ('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-')
	}
	if plain {
		return written, written != ""
	}
	decoded, _, ok := decodeForm(make([]byte, 0, len(written)), []byte(written))
	if !ok || !plainName(decoded) {
		return "", false
	}
	return string(group(decoded)), true
}

// sortPairs brings pairs into the order in which they are compared.
func sortPairs(pairs []Pair) {
	type keyed struct {
		group []byte
		pair  Pair
	}
	ordered := make([]keyed, len(pairs))
	for i, p := range pairs {
		ordered[i] = keyed{group(p.Name), p}
	}
	slices.SortStableFunc(ordered, func(a, b keyed) int { return bytes.Compare(a.group, b.group) })
	for i := range ordered {
		pairs[i] = ordered[i].pair
	}
}

// AppendForm appends the canonical form of a form body to dst: per pair, ordered
// by the group of its name,
//
//	uvarint length, name
//	0                       the name stood without "=", or
//	uvarint 1 + length, value
//
// Fields whose name is one of ignore, and that come once, without another that
// some parsers take for the same, are left out. The error is one of this
// package's; dst is then returned as it was.
func AppendForm(dst, body []byte, ignore []string) ([]byte, error) {
	pairs, err := ParseForm(body)
	if err != nil {
		return dst, err
	}
	pairs = dropFields(pairs, ignore)
	sortPairs(pairs)
	for _, p := range pairs {
		dst = appendSized(dst, p.Name)
		if !p.Valued {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(p.Value))+1)
		dst = append(dst, p.Value...)
	}
	return dst, nil
}

// dropFields leaves the ignored fields out.
func dropFields(pairs []Pair, ignore []string) []Pair {
	for _, name := range ignore {
		if _, _, err := lookupPairs(pairs, name); errors.Is(err, ErrAmbiguous) {
			continue
		}
		pairs = slices.DeleteFunc(pairs, func(p Pair) bool { return string(p.Name) == name })
	}
	return pairs
}

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}
