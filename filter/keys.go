package filter

import (
	"errors"
	"strings"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/key"
	"github.com/oncewall/oncewall/filter/rules"
)

// keySource is a source of a rule's keys, taken apart once.
type keySource struct {
	parts []keyPart
	body  bool // one of the parts is in the body
}

type keyPart struct {
	rules.KeySource
	token token // where Claim is set
}

func keySourcesOf(k *rules.Key) (sources []keySource, form bool) {
	for i := range k.From {
		s := keySource{body: k.From[i].InBody()}
		for _, p := range k.From[i].Parts() {
			part := keyPart{KeySource: p}
			if p.Claim != "" {
				part.token = newToken(p.Payload, p.Claim)
			}
			s.parts = append(s.parts, part)
			form = form || p.Form != ""
		}
		sources = append(sources, s)
	}
	return sources, form
}

// keyValue is what was found at a part's place.
type keyValue struct {
	text  string
	found bool
	err   error
}

// join makes the key of a source's values; found only where all are there. Of
// several faults the first part's counts.
func (s *keySource) join(limit int, at func(part int) keyValue) keyValue {
	var few [8]string
	texts := few[:0]
	for i := range s.parts {
		v := at(i)
		if v.err != nil || !v.found {
			return v
		}
		texts = append(texts, v.text)
	}
	k, err := key.FromParts(texts, limit)
	return keyValue{text: k, found: true, err: err}
}

// inHead looks for a part in what comes before the body.
func (p *keyPart) inHead(path string, r Request, limit int) (v keyValue) {
	switch {
	case p.Header != "":
		if lines := r.Header(p.Header); len(lines) > 0 {
			v.found = true
			v.text, v.err = key.Parse(lines, limit)
		}
	case p.Query != "":
		if _, query, ok := strings.Cut(path, "?"); ok {
			v.text, v.found, v.err = canon.LookupForm([]byte(query), p.Query)
		}
	case p.Cookie != "":
		v.text, v.found, v.err = key.FromCookies(r.Header("cookie"), p.Cookie)
	case p.Segment > 0:
		v.text, v.found, v.err = rules.Segment(path, p.Segment)
	case p.Claim != "":
		var seen sighting
		if v.text, seen = p.token.read(r, p.Issuer); seen == invalid {
			v.err = key.ErrSyntax
		}
		v.found = seen == named
	}
	return v
}

// Why a body that should hold the key is not looked into.
var (
	errKeyEncoded = errors.New("key: in a body with a content coding")
	errKeyNotJSON = errors.New("key: in a body that is not JSON")
)

// inBody looks for a part in the body, of which pending says what it is declared to
// be. other says that the rule has another source for forms.
func (p *keyPart) inBody(body []byte, pending *pendingKey, other bool) (v keyValue) {
	switch {
	case p.Form != "" && !pending.form:
	case p.Form == "" && pending.form && other: // JSON is not looked for in a form
	case pending.encoded:
		v.err = errKeyEncoded
	case p.Form != "":
		v.text, v.found, v.err = canon.LookupForm(body, p.Form)
	default:
		v.text, v.found, v.err = canon.Lookup(body, p.JSON[0])
		if errors.Is(v.err, canon.ErrSyntax) || errors.Is(v.err, canon.ErrUTF8) {
			v.err = errKeyNotJSON
		}
	}
	return v
}

// pendingKey is what is left to do once the body is here.
type pendingKey struct {
	from  int          // the first source that is in the body
	heads [][]keyValue // what the headers hold of it and of those behind it
	form  bool         // the body is declared to be a form
	// encoded: it is declared to be compressed. The key is not looked for in what
	// it decodes to: a backend that does not decode it reads another one, or none.
	encoded bool
}

// keyFromHeaders looks for the key in the rule's sources, in their order, up to
// the first one that lies in the body.
func (s *Stream) keyFromHeaders(r Request) *refusal {
	limit := s.rule.Key.MaxLength
	for i := range s.rule.keys {
		src := &s.rule.keys[i]
		if src.body {
			s.pending = s.rule.pendingFrom(i, s.path, r)
			return nil
		}
		v := src.join(limit, func(n int) keyValue { return src.parts[n].inHead(s.path, r, limit) })
		if v.found || v.err != nil {
			return s.takeKey(v)
		}
	}
	return nil
}

// takeKey judges what the first source that is present holds.
func (s *Stream) takeKey(v keyValue) *refusal {
	if v.err == nil {
		v.text, v.err = s.rule.Key.Grammar.Check(v.text)
	}
	if v.err != nil {
		return invalidKey(v.err)
	}
	s.key = v.text
	return nil
}

// pendingFrom keeps what the headers hold of the sources from the first one in
// the body on: that one is looked at first.
func (rule *Rule) pendingFrom(from int, path string, r Request) *pendingKey {
	p := &pendingKey{from: from, form: isForm(r), encoded: isEncoded(r)}
	for i := from; i < len(rule.keys); i++ {
		src := &rule.keys[i]
		values := make([]keyValue, len(src.parts))
		for n := range src.parts {
			values[n] = src.parts[n].inHead(path, r, rule.Key.MaxLength)
		}
		p.heads = append(p.heads, values)
	}
	return p
}

// keyInBody reports whether the key may be in the body.
func (s *Stream) keyInBody() bool { return s.pending != nil }

// keyFromBody looks for the key in the sources that keyFromHeaders left.
func (s *Stream) keyFromBody() *refusal {
	for i := range s.pending.heads {
		v := s.rule.keyAt(s.pending, i, s.body)
		if v.found || v.err != nil {
			return s.takeKey(v)
		}
	}
	return nil
}

// keyAt looks at the i-th of the sources that are pending.
func (rule *Rule) keyAt(p *pendingKey, i int, body []byte) keyValue {
	src := &rule.keys[p.from+i]
	return src.join(rule.Key.MaxLength, func(n int) keyValue {
		if part := &src.parts[n]; part.InBody() {
			return part.inBody(body, p, rule.formKeys)
		}
		return p.heads[i][n]
	})
}

// isForm reports whether a request declares its body to be a form.
func isForm(r Request) bool {
	lines := r.Header("content-type")
	if len(lines) != 1 {
		return false
	}
	name, _, _ := strings.Cut(lines[0], ";")
	return strings.EqualFold(strings.TrimSpace(name), "application/x-www-form-urlencoded")
}

// isEncoded reports whether a request declares a content coding.
func isEncoded(r Request) bool {
	for _, line := range r.Header("content-encoding") {
		if c := strings.Trim(line, " \t"); c != "" && !strings.EqualFold(c, "identity") {
			return true
		}
	}
	return false
}

// presentKey is the index of the first source that is present, valid or not; -1:
// none is.
func (rule *Rule) presentKey(path string, r Request, body []byte) int {
	p := rule.pendingFrom(0, path, r)
	for i := range rule.keys {
		if v := rule.keyAt(p, i, body); v.found || v.err != nil {
			return i
		}
	}
	return -1
}
