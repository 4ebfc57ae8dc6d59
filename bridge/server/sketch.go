package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

const (
	// suspicion is within which time a second key with the same principal and
	// fingerprint is suspected of being one request's retry.
	suspicion = 2 * time.Minute
	// sketchSize bounds the keys of one generation of a sketch, of which there are
	// two: some 5 MB in all. With more first requests than this the time gets shorter
	// for which one is remembered.
	sketchSize = 1 << 15
)

// sketch remembers for a while which key asked for what. It holds digests alone,
// under a secret that it makes itself and never tells.
type sketch struct {
	mu          sync.Mutex
	seed        [32]byte
	now, before map[sighted]sighting
	began       time.Time // of now
	buf         []byte
}

type (
	sighted  [16]byte
	sighting struct {
		key [8]byte
		at  time.Time
	}
)

func newSketch() *sketch {
	s := &sketch{now: map[sighted]sighting{}}
	rand.Read(s.seed[:]) // never fails: it ends the program instead
	return s
}

// another reports whether the principal has asked for the same under another key a
// moment ago, and remembers op. What has no digest of a body says too little: such
// requests are alike without being one.
func (s *sketch) another(now time.Time, namespace string, op *wire.Operation) bool {
	if !hasBody(op.Fingerprint) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.IsZero() {
		s.began = now
	}
	if now.Sub(s.began) >= suspicion || len(s.now) >= sketchSize {
		s.now, s.before, s.began = make(map[sighted]sighting), s.now, now
	}
	var id sighted
	copy(id[:], s.digest(namespace, op.Scope, op.Principal, string(op.Fingerprint)))
	seen := sighting{at: now}
	copy(seen.key[:], s.digest(op.Key))
	old, known := s.now[id]
	if !known {
		old, known = s.before[id]
	}
	s.now[id] = seen
	return known && old.key != seen.key && now.Sub(old.at) < suspicion
}

func hasBody(fingerprint []byte) bool {
	for p := range wire.Parts(fingerprint) {
		if p.ID == wire.PartBody {
			return true
		}
	}
	return false
}

// digest is over the secret and the parts, each with its length. It is told to
// nobody, so that no one can go on from it.
func (s *sketch) digest(parts ...string) []byte {
	s.buf = append(s.buf[:0], s.seed[:]...)
	for _, p := range parts {
		s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(len(p)))
		s.buf = append(s.buf, p...)
	}
	sum := sha256.Sum256(s.buf)
	return sum[:]
}
