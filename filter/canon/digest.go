package canon

import (
	"crypto/sha256"
	"hash"
	"sync"
)

// The domains keep a canonical text and a raw body of the same bytes apart. The
// number changes with the rules of the package documentation.
const (
	jsonDomain = "oncewall/json/1\x00"
	rawDomain  = "oncewall/raw/1\x00"
)

// flushBytes is how much canonical text is gathered before it is hashed.
const flushBytes = 4 << 10

// digestRoom is what a digest needs beside the body. It is reused: a new one
// for each request is the largest allocation of a duplicate.
type digestRoom struct {
	index indexRoom
	text  [flushBytes + flushBytes/4]byte
}

var rooms = sync.Pool{New: func() any { return new(digestRoom) }}

// Digest returns the SHA-256 of body's canonical text. ok is false where body
// has none; the caller then compares by [RawDigest].
func Digest(body []byte) (sum [sha256.Size]byte, ok bool) { return digestWithout(body, nil) }

// digestWithout is Digest without the members that the pointers name.
func digestWithout(body []byte, ignore []string) (sum [sha256.Size]byte, ok bool) {
	r := rooms.Get().(*digestRoom)
	defer rooms.Put(r)
	x := newIndex(body, &r.index)
	if x.build(false) != nil {
		return sum, false
	}
	x.leaveOut(ignore)
	w := writer{hashes: true}
	w.out = append(r.text[:0], jsonDomain...)
	x.emit(&w)
	return w.sum(), true
}

// RawDigest returns the SHA-256 of body's bytes, whatever they are. It never
// equals a [Digest].
func RawDigest(body []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(rawDomain))
	h.Write(body)
	return [sha256.Size]byte(h.Sum(nil))
}

// Append appends body's canonical text to dst. The error is one of this
// package's and says why there is none; dst is then returned as it was.
//
// [Digest] is the SHA-256 of "oncewall/json/1", a zero byte and this text.
func Append(dst, body []byte) ([]byte, error) { return appendWithout(dst, body, nil) }

func appendWithout(dst, body []byte, ignore []string) ([]byte, error) {
	var room indexRoom
	x := newIndex(body, &room)
	if err := x.build(false); err != nil {
		return dst, err
	}
	x.leaveOut(ignore)
	w := writer{out: dst}
	x.emit(&w)
	return w.out, nil
}

// writer takes the canonical text. Where it hashes, out never holds much more
// than flushBytes and one escaped string.
type writer struct {
	out    []byte
	hashes bool
	hash   hash.Hash // nil until the text outgrows out
}

// token ends a token: the text may be handed to the hash now.
func (w *writer) token() {
	if w.hashes && len(w.out) >= flushBytes {
		w.flush()
	}
}

// verbatim writes bytes of the body that are canonical as they stand.
func (w *writer) verbatim(b []byte) {
	if w.hashes && len(b) >= flushBytes {
		w.flush()
		w.hash.Write(b)
		return
	}
	w.out = append(w.out, b...)
}

func (w *writer) flush() {
	if w.hash == nil {
		w.hash = sha256.New()
	}
	w.hash.Write(w.out)
	w.out = w.out[:0]
}

func (w *writer) sum() [sha256.Size]byte {
	if w.hash == nil {
		return sha256.Sum256(w.out)
	}
	w.flush()
	return [sha256.Size]byte(w.hash.Sum(nil))
}
