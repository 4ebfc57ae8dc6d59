package rules

import (
	"encoding/binary"
	"slices"
	"strings"
)

// AppendTarget appends the target of a request, as the fingerprint compares it,
// to dst. path is Envoy's :path.
//
//	uvarint length, path      percent-encoded unreserved characters (RFC 3986:
//	                          letters, digits, "-._~") decoded, hex in upper case
//	per pair of the query, ordered by name, pairs of one name in their own order:
//	  uvarint length, name
//	  0                       "name" without "=", or
//	  uvarint 1 + length, value
//
// The encoding is injective on that: two targets are equal only if path and pairs
// are. Nothing else is made equal: "+" and "%20" differ, as do "a" and "a=", and
// dot segments and case count, for a backend may tell them apart. Empty pairs
// ("a&&b", a bare "?") are left out.
//
// It does not allocate, dst aside, where the path has no query.
func AppendTarget(dst []byte, path string) []byte {
	path, query, _ := strings.Cut(path, "?")
	dst = appendSized(dst, path)
	if query == "" {
		return dst
	}
	query = string(appendUnreserved(make([]byte, 0, len(query)), query))
	var few [8]pair
	pairs := few[:0]
	for query != "" {
		var p string
		if p, query, _ = strings.Cut(query, "&"); p == "" {
			continue
		}
		name, value, valued := strings.Cut(p, "=")
		pairs = append(pairs, pair{name, value, valued})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	for _, p := range pairs {
		dst = binary.AppendUvarint(dst, uint64(len(p.name)))
		dst = append(dst, p.name...)
		if !p.valued {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(p.value))+1)
		dst = append(dst, p.value...)
	}
	return dst
}

type pair struct {
	name, value string
	valued      bool
}

// appendSized appends the length of s in comparable form, and that form.
func appendSized(dst []byte, s string) []byte {
	n := len(s)
	for i := 0; i < len(s); i++ {
		if c, ok := encoded(s, i); ok {
			if unreserved(c) {
				n -= 2
			}
			i += 2
		}
	}
	return appendUnreserved(binary.AppendUvarint(dst, uint64(n)), s)
}

// appendUnreserved appends s with its percent-encodings in comparable form.
func appendUnreserved(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c, ok := encoded(s, i)
		switch {
		case !ok:
			dst = append(dst, s[i])
			continue
		case unreserved(c):
			dst = append(dst, c)
		default:
			const hex = "0123456789ABCDEF"
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
		i += 2
	}
	return dst
}

// encoded returns the byte that the percent-encoding at s[i] stands for.
func encoded(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
		return 0, false
	}
	return unhex(s[i+1])<<4 | unhex(s[i+2]), true
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
