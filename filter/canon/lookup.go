package canon

import (
	"bytes"
	"errors"
	"strings"
)

// MaxIntegerDigits bounds an integer that [Lookup] returns.
const MaxIntegerDigits = 64

// Why [Lookup] gives no value, beside the errors of a body that is not JSON.
var (
	ErrPointer   = errors.New("canon: not a JSON pointer (RFC 6901)")
	ErrAmbiguous = errors.New("canon: a member on the pointer's path comes twice, or in another case")
	ErrType      = errors.New("canon: the value is neither a string nor an integer of at most 64 digits")
)

// CheckPointer returns ErrPointer unless pointer is a JSON pointer in its string
// form (RFC 6901 section 3).
func CheckPointer(pointer string) error {
	if pointer != "" && pointer[0] != '/' {
		return ErrPointer
	}
	for i := range len(pointer) {
		if pointer[i] == '~' && (i+1 == len(pointer) || pointer[i+1] != '0' && pointer[i+1] != '1') {
			return ErrPointer
		}
	}
	return nil
}

// Lookup returns the value that pointer names in body, for use as an
// idempotency key or as a part of one: a string as it is decoded, or an integer
// in plain digits, however it is spelled (100, 1e2 and 100.0 are all "100"; so
// is the string "100": the fingerprint tells them apart). Any other value,
// null included, is ErrType.
//
// found is false where the path ends early. But where a name on the path comes
// twice in its object, or where a name there differs from it by case alone, the
// answer is ErrAmbiguous: some parsers take the first, some the last, and some
// ignore case, so the backend might read another key than the gateway, or one
// where the gateway sees none. Names are compared under Unicode simple case
// folding.
//
// The whole body must be one JSON value without broken text, as for [Append],
// except that members off the path may come twice. Cost is that of [Append].
func Lookup(body []byte, pointer string) (value string, found bool, err error) {
	if err := CheckPointer(pointer); err != nil {
		return "", false, err
	}
	var room indexRoom
	x := newIndex(body, &room)
	if err := x.build(true); err != nil {
		return "", false, err
	}
	at, found, err := x.find(pointer)
	if !found || err != nil {
		return "", false, err
	}
	value, err = x.scalar(at.pos)
	return value, err == nil, err
}

// find moves from the start of the body to the value that pointer names.
func (x *index) find(pointer string) (at cursor, found bool, err error) {
	at, found = cursor{pos: x.space(0)}, true
	for pointer != "" {
		token := pointer[1:]
		if i := strings.IndexByte(token, '/'); i >= 0 {
			token = token[:i]
		}
		pointer = pointer[1+len(token):]
		token = unescapeToken(token)
		switch x.body[at.pos] {
		case '{':
			found, err = x.enterObject(&at, token)
		case '[':
			found = x.enterArray(&at, token)
		default:
			found = false
		}
		if !found || err != nil {
			return at, false, err
		}
	}
	return at, true, nil
}

// enterObject moves to the member called name of the object at the cursor.
func (x *index) enterObject(at *cursor, name string) (found bool, err error) {
	if x.body[x.space(at.pos+1)] == '}' {
		return false, nil
	}
	want := []byte(name)
	o := x.objects[at.object]
	for _, m := range x.members[o.first : o.first+o.n] {
		got := x.nameOf(m)
		if bytes.Equal(got, want) && !found {
			*at, found = cursor{pos: int(m.value), object: m.inner}, true
		} else if bytes.EqualFold(got, want) {
			return false, ErrAmbiguous
		}
	}
	return found, nil
}

// enterArray moves to the element of the array at the cursor whose index is
// token; "-", the element after the last, is never there.
func (x *index) enterArray(at *cursor, token string) (found bool) {
	if len(digits([]byte(token))) != len(token) || len(token) == 0 || len(token) > 1 && token[0] == '0' {
		return false
	}
	inside := x.space(at.pos + 1)
	if x.body[inside] == ']' || len(token) > 10 { // ten digits count past MaxBodyBytes
		return false
	}
	n := 0
	for i := range len(token) {
		n = n*10 + int(token[i]-'0')
	}
	c := cursor{pos: inside, object: at.object}
	for range n {
		x.skip(&c)
		if c.pos = x.space(c.pos); x.body[c.pos] == ']' {
			return false
		}
		c.pos = x.space(c.pos + 1)
	}
	*at = c
	return true
}

// skip moves the cursor behind the value that it stands at.
func (x *index) skip(at *cursor) {
	for depth := 0; ; {
		switch c := x.body[at.pos]; c {
		case '"':
			at.pos, _, _ = scanString(x.body, at.pos)
		case '[':
			depth++
			at.pos++
		case ']':
			depth--
			at.pos++
		case '{':
			if inside := x.space(at.pos + 1); x.body[inside] == '}' {
				at.pos = inside + 1
			} else {
				o := x.objects[at.object]
				*at = cursor{pos: int(o.end), object: o.next}
			}
		case ',', ' ', '\t', '\n', '\r':
			at.pos++ // inside an array
			continue
		default:
			for at.pos < len(x.body) && strings.IndexByte(",]} \t\n\r", x.body[at.pos]) < 0 {
				at.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// scalar returns the string or integer at pos.
func (x *index) scalar(pos int) (string, error) {
	switch c := x.body[pos]; {
	case c == '"':
		end, escaped, _ := scanString(x.body, pos)
		content := x.body[pos+1 : end-1]
		if escaped {
			content = appendDecoded(nil, content)
		}
		return string(content), nil
	case c == '-' || '0' <= c && c <= '9':
		n, _, _ := scanNumber(x.body, pos)
		if plain, ok := n.appendInteger(nil, MaxIntegerDigits); ok {
			return string(plain), nil
		}
	}
	return "", ErrType
}

// unescapeToken decodes a reference token (RFC 6901 section 4): ~1 first, so
// that ~01 becomes ~1.
func unescapeToken(token string) string {
	if !strings.Contains(token, "~") {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
