package rules

import (
	"slices"
	"strings"
)

// A path is compared in normal form: percent-decoded, a backslash taken as a
// slash, ";parameters" cut off every segment, empty and "." segments dropped,
// ".." resolved, no slash at the end. Case counts.

// maxDecodings is how often percent-encoding is taken off a path, as long as
// that changes it. Two hops that decode are common, three were seen; each more
// costs a pass over the path.
const maxDecodings = 3

// cutQuery returns the path's part before the query.
func cutQuery(path string) string {
	if i := strings.IndexByte(path, '?'); i >= 0 {
		return path[:i]
	}
	return path
}

// trimSlash cuts one slash off the end of anything but "/".
func trimSlash(path string) string {
	if len(path) > 1 {
		return strings.TrimSuffix(path, "/")
	}
	return path
}

// isNormal reports whether a path without query reads the same for everyone, a
// slash at its end aside.
func isNormal(path string) bool {
	return isPlain(path) && strings.IndexByte(path, '%') < 0
}

// isPlain reports whether a path reads the same for everyone who takes the same
// layers of percent-encoding off it, a slash at its end aside.
func isPlain(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '\\', ';', '?', '#', 0:
			return false
		case '/':
			if i+1 == len(path) {
				continue
			}
			if path[i+1] == '/' || path[i+1] == '.' && isDots(path[i+1:]) {
				return false
			}
		}
	}
	return true
}

// isDots reports whether the first segment of s is "." or "..".
func isDots(s string) bool {
	n := strings.IndexByte(s, '/')
	if n < 0 {
		n = len(s)
	}
	return s[:n] == "." || s[:n] == ".."
}

// nextSegment cuts the first segment off a path in normal form; "" at its end.
func nextSegment(path string) (segment, rest string) {
	path = strings.TrimPrefix(path, "/")
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// reading is one way to read a path.
type reading struct {
	text     string
	resolved []string // segments of the normal form
	all      []string // the same before ".." was resolved, ".." left out
	// ambiguous is set where a reader may be left with some of all that are not
	// those in resolved.
	ambiguous bool
}

// path is the reading's normal form.
func (r *reading) path() string { return "/" + strings.Join(r.resolved, "/") }

// readings returns the ways to read a path without query that is not in normal
// form: decoded once, which is the common one and therefore first, then twice,
// three times, and not at all; and each of them cut at a "?", "#" or NUL that
// decoding brought to light, for a reader that decodes before it splits off the
// query. An invalid percent-encoding is left as it is.
//
// What is not enumerated is each reader's own order of decoding, merging slashes,
// cutting parameters and resolving dots. It matters in two cases: what a ".."
// removes, and a separator that not everyone sees (an encoded slash, a backslash)
// in a path of which segments are cut short, as in "/;%2fx/%6frders". They are
// marked ambiguous, and then any choice of segments counts, as long as they keep
// their order.
//
// plain is set where all of them differ in nothing but the percent-encoding of
// characters that separate nothing.
//
// wide adds each of these texts with only its unreserved characters decoded, as
// RFC 3986 section 6.2.2.2 has it: an encoded slash then stays within a segment,
// which matters to templates and regular expressions.
func readings(path string, wide bool) (out []reading, plain bool) {
	texts := make([]string, 0, maxDecodings+1)
	for text := path; len(texts) < maxDecodings; {
		decoded := decode(text)
		if decoded == text && len(texts) > 0 {
			break
		}
		texts = append(texts, decoded)
		text = decoded
	}
	if texts[0] != path {
		texts = append(texts, path)
	}
	if wide {
		for _, text := range slices.Clone(texts) {
			if text := string(appendUnreserved(nil, text)); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	cutters, hidden, plain := false, false, true
	for _, text := range texts {
		plain = plain && isPlain(text)
		cutters = cutters || strings.ContainsAny(text, segmentEnds)
		hidden = hidden || separators(text) > strings.Count(path, "/")
	}
	plain = plain && !hidden
	out = make([]reading, 0, len(texts))
	add := func(text string) {
		r := read(text)
		r.ambiguous = r.ambiguous || cutters && hidden
		out = append(out, r)
	}
	for _, text := range texts {
		add(text)
		if i := strings.IndexAny(text, "?#\x00"); i >= 0 {
			add(text[:i])
		}
	}
	return out, plain
}

// segmentEnds end a segment: what follows in it is parameters, or nothing that a
// router sees.
const segmentEnds = ";?#\x00"

func separators(s string) int { return strings.Count(s, "/") + strings.Count(s, `\`) }

// read takes one text apart. A "?", "#" or NUL in it ends its segment as ";"
// does; the segments behind it count.
func read(text string) reading {
	r := reading{text: text, resolved: make([]string, 0, min(separators(text)+1, 64))}
	for text != "" {
		segment := text
		if i := strings.IndexAny(text, `/\`); i >= 0 {
			segment, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if i := strings.IndexAny(segment, segmentEnds); i >= 0 {
			segment = segment[:i]
		}
		switch segment {
		case "", ".":
		case "..":
			if !r.ambiguous { // until here the two were one
				r.ambiguous, r.all = true, slices.Clone(r.resolved)
			}
			if len(r.resolved) > 0 {
				r.resolved = r.resolved[:len(r.resolved)-1]
			}
		default:
			r.resolved = append(r.resolved, segment)
			if r.ambiguous {
				r.all = append(r.all, segment)
			}
		}
	}
	if !r.ambiguous {
		r.all = r.resolved
	}
	return r
}

// decode takes one layer of percent-encoding off. It returns s itself where there
// is none.
func decode(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
