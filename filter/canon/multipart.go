package canon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"slices"
	"strings"
)

// Bounds of a multipart body, beside [MaxPairs]. A body beyond them is compared
// by its raw bytes.
const (
	maxPartHeaderBytes = 8 << 10
	maxPartHeaders     = 16
	maxBoundary        = 70 // RFC 2046, section 5.1.1
)

// ErrMultipart is why a body has no parts that are compared.
var ErrMultipart = errors.New("canon: not a multipart/form-data body that every parser reads alike")

// formPart is one part of a multipart/form-data body (RFC 7578).
type formPart struct {
	name    string
	file    bool    // it has a filename
	headers []param // ordered by name; the disposition in a form of its own
	content []byte
}

// parseMultipart returns the parts of a body. It takes what senders make and
// every parser reads alike: no preamble, lines that end with CRLF, a name for
// each part, no header twice or folded, no line that begins like the boundary
// and goes on otherwise, nothing behind the last boundary.
func parseMultipart(body []byte, boundary string) ([]formPart, error) {
	if len(body) > MaxBodyBytes {
		return nil, ErrSize
	}
	if !validBoundary(boundary) {
		return nil, ErrMultipart
	}
	delimiter := []byte("\n--" + boundary)
	rest, ok := bytes.CutPrefix(body, delimiter[1:])
	if !ok {
		return nil, ErrMultipart
	}
	var parts []formPart
	for {
		if after, ok := bytes.CutPrefix(rest, []byte("--")); ok {
			if len(after) != 0 && string(after) != "\r\n" {
				return nil, ErrMultipart
			}
			return parts, nil
		}
		if rest, ok = bytes.CutPrefix(rest, []byte("\r\n")); !ok {
			return nil, ErrMultipart
		}
		if len(parts) == MaxPairs {
			return nil, ErrPairs
		}
		end := bytes.Index(rest[:min(len(rest), maxPartHeaderBytes)], []byte("\r\n\r\n"))
		if end < 0 {
			return nil, ErrMultipart
		}
		p, ok := parsePartHeaders(string(rest[:end]))
		rest = rest[end+4:]
		// The line break before a boundary belongs to it.
		end = bytes.Index(rest, delimiter)
		if !ok || end < 1 || rest[end-1] != '\r' || bytes.HasPrefix(rest, delimiter[1:]) {
			return nil, ErrMultipart
		}
		p.content, rest = rest[:end-1], rest[end+len(delimiter):]
		parts = append(parts, p)
	}
}

func validBoundary(s string) bool {
	if len(s) == 0 || len(s) > maxBoundary || s[len(s)-1] == ' ' {
		return false
	}
	for _, c := range []byte(s) {
		if (c|0x20 < 'a' || 'z' < c|0x20) && (c < '0' || '9' < c) && strings.IndexByte("'()+_,-./:=? ", c) < 0 {
			return false
		}
	}
	return true
}

// parsePartHeaders reads the header lines of a part.
func parsePartHeaders(text string) (p formPart, ok bool) {
	for line := range strings.SplitSeq(text, "\r\n") {
		name, value, found := strings.Cut(line, ":")
		if !found || !isToken(name) || strings.ContainsFunc(value, control) || len(p.headers) == maxPartHeaders {
			return p, false
		}
		h := param{strings.ToLower(name), strings.Trim(value, " \t")}
		for _, other := range p.headers {
			if other.name == h.name {
				return p, false
			}
		}
		if h.name == "content-disposition" {
			if h.value, ok = p.disposition(h.value); !ok {
				return p, false
			}
		}
		p.headers = append(p.headers, h)
	}
	slices.SortFunc(p.headers, func(a, b param) int { return strings.Compare(a.name, b.name) })
	return p, plainName([]byte(p.name))
}

// control reports whether r is a control character other than the tab.
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// disposition takes the part's name and returns the disposition's comparable
// form, in which neither quotes nor the order of parameters count.
func (p *formPart) disposition(value string) (string, bool) {
	first, params, ok := parseParams(value)
	if !ok || first != "form-data" {
		return "", false
	}
	slices.SortFunc(params, func(a, b param) int { return strings.Compare(a.name, b.name) })
	var out []byte
	for _, q := range params {
		switch q.name {
		case "name":
			p.name = q.value
		case "filename", "filename*":
			p.file = true
		}
		out = appendSized(appendSized(out, []byte(q.name)), []byte(q.value))
	}
	return string(out), true
}

// hashMultipart writes the canonical form of a multipart body to h: per part
//
//	uvarint number of headers, each: uvarint length, name; uvarint length, value
//	uvarint length, content
//
// Fields between two files are ordered by the group of their name, as a form's;
// a file keeps its place: backends that read a body as it comes look only at the
// fields before it. Fields named by ignore are left out as a form's.
func hashMultipart(h hash.Hash, body []byte, boundary string, ignore []string) error {
	parts, err := parseMultipart(body, boundary)
	if err != nil {
		return err
	}
	parts = dropParts(parts, ignore)
	for from := 0; from < len(parts); {
		to := from
		for to < len(parts) && !parts[to].file {
			to++
		}
		slices.SortStableFunc(parts[from:to], func(a, b formPart) int {
			return bytes.Compare(group([]byte(a.name)), group([]byte(b.name)))
		})
		from = to + 1
	}
	var room [512]byte
	for _, p := range parts {
		out := binary.AppendUvarint(room[:0], uint64(len(p.headers)))
		for _, header := range p.headers {
			out = appendSized(appendSized(out, []byte(header.name)), []byte(header.value))
		}
		h.Write(binary.AppendUvarint(out, uint64(len(p.content))))
		h.Write(p.content)
	}
	return nil
}

// dropParts leaves the ignored fields out, as dropFields does.
func dropParts(parts []formPart, ignore []string) []formPart {
	if len(ignore) == 0 {
		return parts
	}
	pairs := make([]Pair, len(parts))
	for i, p := range parts {
		pairs[i] = Pair{Name: []byte(p.name), Valued: true}
	}
	for _, name := range ignore {
		if _, found, err := lookupPairs(pairs, name); !found || err != nil {
			continue
		}
		parts = slices.DeleteFunc(parts, func(p formPart) bool { return p.name == name && !p.file })
	}
	return parts
}
