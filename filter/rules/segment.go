package rules

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrPath is why a path gives no key.
var ErrPath = errors.New("rules: a path that can be read in more than one way")

// Segment returns the n-th segment of a path, counted from 1, percent-decoded
// once. found is false where the path is shorter. path is Envoy's :path.
//
// A path of which readers may count or read the segments in different ways is
// ErrPath: one with "//", "." and ".." segments, "\", ";" or an encoded slash in
// it, with an encoding that is none, or with text that is not UTF-8. The backend
// might take another segment than the gateway for the key.
func Segment(path string, n int) (value string, found bool, err error) {
	path = cutQuery(path)
	decoded := decode(path)
	if !wellEncoded(path) || !isPlain(path) || !isPlain(decoded) || strings.Count(path, "/") != strings.Count(decoded, "/") {
		return "", false, ErrPath
	}
	segment := ""
	for rest := path; n > 0; n-- {
		if segment, rest = nextSegment(rest); segment == "" {
			return "", false, nil
		}
	}
	value = decode(segment)
	if !utf8.ValidString(value) {
		return "", false, ErrPath
	}
	return value, true, nil
}

// wellEncoded reports whether every "%" begins an encoding.
func wellEncoded(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' {
			if _, ok := encoded(s, i); !ok {
				return false
			}
		}
	}
	return true
}
