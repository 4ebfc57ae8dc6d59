package rules

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/canon"
)

// AppendTarget appends the target of a request, as the fingerprint compares it,
// to dst. path is Envoy's :path.
//
//	uvarint length, path      percent-encoded unreserved characters (RFC 3986:
//	                          letters, digits, "-._~") decoded, hex in upper case
//	per pair of the query, ordered by name, but see keepGroups:
//	  uvarint length, name
//	  0                       "name" without "=", or
//	  uvarint 1 + length, value
//
// The encoding is injective on that: two targets are equal only if path and pairs
// are. Nothing else is made equal: "+" and "%20" differ, as do "a" and "a=", and
// dot segments and case count, for a backend may tell them apart. Empty pairs
// ("a&&b", a bare "?") are left out. The order of pairs counts as far as their
// names are one to some reader.
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
		pairs = append(pairs, pair{name, value, valued, len(pairs)})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	keepGroups(pairs)
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
	at          int // its place in the query
}

// keepGroups takes pairs that are ordered by name, and gives those whose names some
// readers put into one value (another spelling or case, "a[]", "a[x]", "a.b" and
// "a_b": [canon.FieldGroup]) the order that they have in the query, in the places
// that the group has. So the pairs of a query whose groups have that order already
// stay as they are. Where readers disagree on a name, or split at ";", the whole
// query is one group.
func keepGroups(pairs []pair) {
	plain := true
	for i := 0; i < len(pairs) && plain; i++ {
		plain = plainPair(&pairs[i])
	}
	if plain || len(pairs) < 2 {
		return
	}
	places := make(map[string][]int, len(pairs))
	for i, p := range pairs {
		group, ok := canon.FieldGroup(p.name)
		if !ok || strings.Contains(p.value, ";") {
			slices.SortFunc(pairs, func(a, b pair) int { return a.at - b.at })
			return
		}
		places[group] = append(places[group], i)
	}
	for _, group := range places {
		members := make([]pair, len(group))
		for i, place := range group {
			members[i] = pairs[place]
		}
		slices.SortFunc(members, func(a, b pair) int { return a.at - b.at })
		for i, place := range group {
			pairs[place] = members[i]
		}
	}
}

// plainPair reports whether every reader has the name as it is written, and no
// other plain name for it.
func plainPair(p *pair) bool {
	for i := range len(p.name) {
		if c := p.name[i]; (c < 'a' || 'z' < c) && (c < '0' || '9' < c) && c != '_' && c != '-' {
			return false
		}
	}
	return p.name != "" && strings.IndexByte(p.value, ';') < 0
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
