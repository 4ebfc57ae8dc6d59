package canon

import (
	"unicode/utf16"
	"unicode/utf8"
)

// scanString checks the string whose opening quote is at pos. end is the
// position after its closing quote; escaped tells whether it holds a backslash.
func scanString(body []byte, pos int) (end int, escaped bool, err error) {
	for i := pos + 1; i < len(body); {
		switch c := body[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			_, n, err := unescape(body[i:])
			if err != nil {
				return 0, true, err
			}
			i += n
		case c < 0x20:
			return 0, escaped, ErrSyntax
		default:
			i++
		}
	}
	return 0, escaped, ErrSyntax
}

// unescape reads the escape at the start of b, both halves of a surrogate pair
// where there are two, and returns its character and length.
func unescape(b []byte) (r rune, n int, err error) {
	if len(b) < 2 {
		return 0, 0, ErrSyntax
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return rune(c), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
	default:
		return 0, 0, ErrSyntax
	}
	r, ok := hex4(b)
	if !ok {
		return 0, 0, ErrSyntax
	}
	if !utf16.IsSurrogate(r) {
		return r, 6, nil
	}
	low, ok := hex4(b[6:])
	if !ok {
		return 0, 0, ErrSurrogate
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0, ErrSurrogate
	}
	return r, 12, nil
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendDecoded appends the characters of a string's checked content.
func appendDecoded(dst, content []byte) []byte {
	for i := 0; i < len(content); {
		if content[i] != '\\' {
			dst = append(dst, content[i])
			i++
			continue
		}
		r, n, _ := unescape(content[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// appendQuoted appends s, which is decoded, as a canonical string.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		dst = appendEscaped(dst, c)
	}
	return append(dst, '"')
}

// appendRequoted appends the canonical string of a string's checked content.
func appendRequoted(dst, content []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(content); {
		if content[i] != '\\' {
			dst = append(dst, content[i])
			i++
			continue
		}
		r, n, _ := unescape(content[i:])
		if r < utf8.RuneSelf {
			dst = appendEscaped(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return append(dst, '"')
}

// appendEscaped appends the byte c, escaped where JSON wants it.
func appendEscaped(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	if c < 0x20 {
		return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	return append(dst, c)
}
