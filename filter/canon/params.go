package canon

import "strings"

// param is one parameter of a header's value.
type param struct{ name, value string }

// maxParams bounds the parameters of one header.
const maxParams = 8

// parseParams takes apart the value of Content-Type or Content-Disposition: what
// comes before the first ";", in lower case, and the parameters, their names in
// lower case. ok is false where parsers disagree about what it says: escapes in
// a quoted string, a parameter that comes twice, anything beside the grammar of
// RFC 9110, section 5.6.6.
func parseParams(s string) (first string, params []param, ok bool) {
	first, s, more := strings.Cut(s, ";")
	first = strings.ToLower(strings.Trim(first, " \t"))
	for more {
		if len(params) == maxParams {
			return "", nil, false
		}
		s = strings.TrimLeft(s, " \t")
		name, rest, found := strings.Cut(s, "=")
		if !found || !isToken(name) {
			return "", nil, false
		}
		p := param{name: strings.ToLower(name)}
		for _, q := range params {
			if q.name == p.name {
				return "", nil, false
			}
		}
		if strings.HasPrefix(rest, `"`) {
			end := strings.IndexAny(rest[1:], "\"\\\r\n\x00")
			if end < 0 || rest[1+end] != '"' {
				return "", nil, false
			}
			p.value, rest = rest[1:1+end], rest[end+2:]
			rest = strings.TrimLeft(rest, " \t")
			more = rest != ""
			if more && rest[0] != ';' {
				return "", nil, false
			}
			s = strings.TrimPrefix(rest, ";")
		} else {
			p.value, s, more = strings.Cut(rest, ";")
			if p.value = strings.TrimRight(p.value, " \t"); !isToken(p.value) {
				return "", nil, false
			}
		}
		params = append(params, p)
	}
	return first, params, true
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return s != ""
}

// mediaType returns what a Content-Type says of a form: its type, and the
// boundary of a multipart body. ok is false where it says more, but for
// charset=utf-8.
func mediaType(contentType string) (media, boundary string, ok bool) {
	media, params, ok := parseParams(contentType)
	if !ok {
		return "", "", false
	}
	for _, p := range params {
		switch {
		case p.name == "boundary":
			boundary = p.value
		case p.name == "charset" && strings.EqualFold(p.value, "utf-8"):
		default:
			return "", "", false
		}
	}
	return media, boundary, true
}
