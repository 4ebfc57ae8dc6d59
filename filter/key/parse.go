package key

import (
	"errors"
	"strings"
)

// Why a header gives no key. The texts are fixed and never hold the value.
var (
	ErrMissing  = errors.New("key: header absent")
	ErrMultiple = errors.New("key: more than one header line")
	ErrList     = errors.New("key: a list, not one key")
	ErrSyntax   = errors.New("key: neither a quoted string nor a bare key")
	ErrEmpty    = errors.New("key: empty")
	ErrTooLong  = errors.New("key: longer than the rule allows")
)

// Parse returns the key in the lines of one header, by the rule in the package
// documentation. maxLength bounds the key in bytes; at 0 or less every key is
// too long. A value that is both too long and malformed is reported as
// malformed. The error is one of this package's.
func Parse(lines []string, maxLength int) (key string, err error) {
	switch len(lines) {
	case 0:
		return "", ErrMissing
	case 1:
	default:
		return "", ErrMultiple
	}
	value := strings.Trim(lines[0], " \t")
	switch {
	case value == "":
		return "", ErrEmpty
	case value[0] == '"':
		key, err = quoted(value)
	default:
		key, err = value, bare(value)
	}
	switch {
	case err != nil:
		return "", err
	case key == "":
		return "", ErrEmpty
	case len(key) > maxLength:
		return "", ErrTooLong
	}
	return key, nil
}

// quoted decodes the sf-string that value, which begins with a quote, consists
// of (RFC 8941 section 4.2.5).
func quoted(value string) (string, error) {
	end := 1
	escaped := false
	for ; ; end++ {
		if end == len(value) {
			return "", ErrSyntax
		}
		c := value[end]
		if c == '"' {
			break
		}
		if c == '\\' {
			escaped = true
			if end++; end == len(value) || value[end] != '"' && value[end] != '\\' {
				return "", ErrSyntax
			}
		} else if c < 0x20 || c > 0x7e {
			return "", ErrSyntax
		}
	}
	if rest := strings.TrimLeft(value[end+1:], " \t"); rest != "" {
		if rest[0] == ',' {
			return "", ErrList
		}
		return "", ErrSyntax
	}
	content := value[1:end]
	if escaped {
		content = unescape(content)
	}
	return content, nil
}

// unescape drops the backslash of each escape in s, whose escapes are whole.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

// bare returns nil where value is a bare key. Of several faults a byte that no
// field value should hold comes first, then a list.
func bare(value string) error {
	var err error
	for i := range len(value) {
		switch c := value[i]; {
		case c == '\t' || c == ' ':
			if err == nil {
				err = ErrSyntax
			}
		case c < 0x20 || c > 0x7e:
			return ErrSyntax
		case c == ',' || c == '(' && i == 0:
			err = ErrList
		case strings.IndexByte("\"\\;()", c) >= 0:
			if err == nil {
				err = ErrSyntax
			}
		}
	}
	return err
}
