package canon

import (
	"crypto/sha256"
	"encoding/binary"
)

// Kind is how bodies are compared that are of that kind; others are compared by
// their raw bytes.
type Kind uint8

// The kinds.
const (
	Raw Kind = iota
	JSON
	Form      // application/x-www-form-urlencoded
	Multipart // multipart/form-data
	// Encoded is no kind to ask for: the body was compared by its raw bytes,
	// together with its Content-Encoding, which is not known, or in which it is
	// broken or holds too much.
	Encoded
)

// Further domains, beside digest.go's.
const (
	formDomain      = "oncewall/form/1\x00"
	multipartDomain = "oncewall/multipart/1\x00"
	encodedDomain   = "oncewall/encoded/1\x00"
)

// Comparison says how bodies are compared.
type Comparison struct {
	Kind Kind
	// Ignore are JSON pointers with JSON, names of fields with Form and Multipart.
	Ignore []string
	// MaxDecoded bounds the content of a compressed body, in bytes.
	MaxDecoded int64
}

// Digest returns the digest of a body, and the kind as which it was compared.
// Two bodies have one digest only if they were compared as one kind, and are the
// same as such. contentType and contentEncoding are the values of the request's
// headers, "" where there is not exactly one line; the type counts with Form and
// Multipart alone.
func (c *Comparison) Digest(body []byte, contentType, contentEncoding string) ([sha256.Size]byte, Kind) {
	if contentEncoding != "" {
		if coding := coding(contentEncoding); coding != "" {
			content, ok := decode(body, coding, c.MaxDecoded)
			if !ok {
				return encodedDigest(body, coding), Encoded
			}
			body = content
		}
	}
	switch c.Kind {
	case JSON:
		if sum, ok := digestWithout(body, c.Ignore); ok {
			return sum, JSON
		}
	case Form:
		if media, _, ok := mediaType(contentType); ok && media == "application/x-www-form-urlencoded" {
			if text, err := AppendForm([]byte(formDomain), body, c.Ignore); err == nil {
				return sha256.Sum256(text), Form
			}
		}
	case Multipart:
		if media, boundary, ok := mediaType(contentType); ok && media == "multipart/form-data" {
			h := sha256.New()
			h.Write([]byte(multipartDomain))
			if hashMultipart(h, body, boundary, c.Ignore) == nil {
				return [sha256.Size]byte(h.Sum(nil)), Multipart
			}
		}
	}
	return RawDigest(body), Raw
}

// encodedDigest is the digest of a body's bytes and the name of their encoding.
func encodedDigest(body []byte, coding string) [sha256.Size]byte {
	h := sha256.New()
	h.Write(appendSized([]byte(encodedDomain), []byte(coding)))
	h.Write(body)
	return [sha256.Size]byte(h.Sum(nil))
}

// The domains of what stands for a body that is not read whole.
const (
	prefixDomain  = "oncewall/prefix/1\x00"
	claimedDomain = "oncewall/claimed/1\x00"
)

// PrefixDigest stands for a body of length bytes that begins with prefix.
func PrefixDigest(prefix []byte, length int64, contentEncoding string) [sha256.Size]byte {
	h := sha256.New()
	b := appendSized([]byte(prefixDomain), []byte(coding(contentEncoding)))
	h.Write(binary.AppendUvarint(b, uint64(length)))
	h.Write(prefix)
	return [sha256.Size]byte(h.Sum(nil))
}

// ClaimedDigest stands for a body of which the client states a digest.
func ClaimedDigest(algorithm string, digest []byte, contentEncoding string) [sha256.Size]byte {
	b := appendSized([]byte(claimedDomain), []byte(coding(contentEncoding)))
	b = appendSized(b, []byte(algorithm))
	return sha256.Sum256(append(b, digest...))
}
