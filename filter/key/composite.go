package key

import "strings"

// Composite joins parts, which come from a body, into one key with ":" between
// them. In each part ":" and "%" and the control bytes (00 to 1F and 7F) are
// percent-encoded (RFC 3986 section 2.1, upper-case digits), so that two
// different lists of two or more parts never give one key.
//
// A single part is the key as it is, unencoded: it is what the client calls the
// action. How many parts a key has is fixed by the rule, and each rule has its
// own scope, so a single part that looks joined meets no joined key.
func Composite(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte(':')
		}
		encodeTo(&b, part)
	}
	return b.String()
}

func encodeTo(b *strings.Builder, part string) {
	const hex = "0123456789ABCDEF"
	for i := range len(part) {
		c := part[i]
		if c == ':' || c == '%' || isControl(c) {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
}

func isControl(c byte) bool { return c < 0x20 || c == 0x7f }

// FromParts is [Composite] with the bounds that [Parse] puts on a header: it
// returns ErrEmpty where a part is empty or there is none, ErrSyntax where a
// single part holds a control byte, and ErrTooLong where the key has more than
// maxLength bytes. Characters beyond ASCII are allowed: a body, unlike a header,
// says how they are encoded.
func FromParts(parts []string, maxLength int) (key string, err error) {
	if len(parts) == 0 {
		return "", ErrEmpty
	}
	for _, part := range parts {
		if part == "" {
			return "", ErrEmpty
		}
		if len(part) > maxLength {
			return "", ErrTooLong
		}
	}
	key = Composite(parts)
	if len(key) > maxLength {
		return "", ErrTooLong
	}
	for i := range len(key) {
		if isControl(key[i]) {
			return "", ErrSyntax
		}
	}
	return key, nil
}
