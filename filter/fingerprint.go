package filter

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/oncewall/oncewall/filter/canon"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// A fingerprint is made in two steps: what the headers say when they come, the
// body when it is here. The parts stand in the order of their ids.

// headerFingerprint starts a fingerprint with method and target.
func (w *Worker) headerFingerprint(method, path string) []byte {
	fp := make([]byte, 1, wire.MaxFingerprintBytes)
	fp[0] = wire.FingerprintVersion
	// Requests come in runs of one operation.
	if w.lastMethod.text != method || method == "" {
		w.lastMethod = textDigest{method, sha256.Sum256([]byte(method))}
	}
	if w.lastPath.text != path || path == "" {
		var buf [256]byte
		w.lastPath = textDigest{path, sha256.Sum256(rules.AppendTarget(buf[:0], path))}
	}
	fp = wire.AppendPart(fp, wire.PartMethod, wire.AlgorithmFixed, w.lastMethod.sum)
	return wire.AppendPart(fp, wire.PartTarget, wire.AlgorithmFixed, w.lastPath.sum)
}

// textDigest is a digest that is used again while the text is the same.
type textDigest struct {
	text string
	sum  [wire.DigestBytes]byte
}

// headersDigest is the digest of the lines of the headers that a rule includes.
func headersDigest(names []string, r Request) [wire.DigestBytes]byte {
	b := make([]byte, 0, 256)
	for _, name := range names {
		lines := r.Header(name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(lines)))
		for _, l := range lines {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(l)))
			b = append(b, l...)
		}
	}
	return sha256.Sum256(b)
}

// content is what a request's headers say of its body, as far as the rule's
// fingerprint asks.
type content struct {
	mediaType string // form and multipart only
	encoding  string
	length    int64 // -1: not declared
	stated    *[wire.DigestBytes]byte
	long      bool // the body is longer than max_body
	beside    bool // a body is declared that is to be compared, beside an upgrade
	compared  Compared
}

// readContent reads what the fingerprint of a body needs of the headers.
func (s *Stream) readContent(r Request) {
	c, f := &s.content, &s.rule.Fingerprint
	c.length = -1
	if n, ok := contentLength(r); ok {
		c.length = n
	}
	if f.Body == rules.BodyNone {
		return
	}
	c.beside = c.length > 0 && upgrades(r)
	if lines := r.Header("content-encoding"); len(lines) > 0 {
		c.encoding = strings.Join(lines, ",")
	}
	if f.Body == rules.BodyForm || f.Body == rules.BodyMultipart {
		if lines := r.Header("content-type"); len(lines) == 1 {
			c.mediaType = lines[0]
		}
	}
	if f.Over == rules.OverContentDigest {
		if algorithm, digest, ok := statedDigest(r.Header("content-digest")); ok {
			sum := canon.ClaimedDigest(algorithm, digest, c.encoding)
			c.stated = &sum
		}
	}
}

// passesLong reports whether the rest of a body longer than max_body goes
// upstream unread: the key is known, and something stands for the body.
func (s *Stream) passesLong() bool {
	if s.rule == nil || s.key == "" {
		return false
	}
	f := &s.rule.Fingerprint
	return f.Body == rules.BodyNone ||
		f.Over == rules.OverContentDigest && s.content.stated != nil ||
		f.Over == rules.OverPrefix && s.content.length >= 0
}

// tooLarge says what would have let a request with a long body pass.
func (s *Stream) tooLarge() extra {
	if s.rule != nil && s.key != "" {
		switch s.rule.Fingerprint.Over {
		case rules.OverContentDigest:
			return extra{reason: "A body of this size needs a Content-Digest with sha-256 or sha-512."}
		case rules.OverPrefix:
			return extra{reason: "A body of this size needs a Content-Length."}
		}
	}
	return extra{}
}

// bodyDigest is the digest of what stands for the body.
func (s *Stream) bodyDigest() (sum [wire.DigestBytes]byte) {
	c := &s.content
	if c.long {
		if s.rule.Fingerprint.Over == rules.OverPrefix {
			c.compared = ComparedPrefix
			return canon.PrefixDigest(s.body, c.length, c.encoding)
		}
		c.compared = ComparedStated
		return *c.stated
	}
	sum, kind := s.rule.comparison.Digest(s.body, c.mediaType, c.encoding)
	c.compared = comparedAs[kind]
	return sum
}

// completeFingerprint adds what the body says, and the headers' digest behind
// it.
func (s *Stream) completeFingerprint() {
	if s.rule.Fingerprint.Body != rules.BodyNone {
		s.fingerprint = wire.AppendPart(s.fingerprint, wire.PartBody, s.rule.bodyAlgorithm, s.bodyDigest())
	}
	if len(s.rule.Fingerprint.Headers) > 0 {
		s.fingerprint = wire.AppendPart(s.fingerprint, wire.PartHeaders, s.rule.headersAlgorithm, s.headers)
	}
	s.dropBody()
}

// comparison is how a rule's bodies are compared.
func comparison(f *rules.Fingerprint) canon.Comparison {
	c := canon.Comparison{MaxDecoded: f.MaxDecodedBody}
	switch f.Body {
	case rules.BodyJSON:
		c.Kind, c.Ignore = canon.JSON, f.Ignore
	case rules.BodyForm:
		c.Kind, c.Ignore = canon.Form, f.IgnoredFields()
	case rules.BodyMultipart:
		c.Kind, c.Ignore = canon.Multipart, f.IgnoredFields()
	}
	return c
}

// Compared is as what a body enters a fingerprint.
type Compared uint8

// The ways.
const (
	NotCompared Compared = iota
	ComparedJSON
	ComparedForm
	ComparedMultipart
	ComparedRaw
	ComparedEncoded // bytes and the name of their encoding
	ComparedStated  // the client's Content-Digest
	ComparedPrefix  // the first bytes and the length
)

var comparedAs = [...]Compared{
	canon.Raw: ComparedRaw, canon.JSON: ComparedJSON, canon.Form: ComparedForm,
	canon.Multipart: ComparedMultipart, canon.Encoded: ComparedEncoded,
}

// String names the way in words.
func (c Compared) String() string {
	return [...]string{"not compared", "canonical JSON", "fields of a form", "parts of a form", "raw bytes",
		"raw bytes, as they are encoded", "the Content-Digest that the client states", "its first bytes and its length"}[c]
}
