package naming

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"
)

// Bounds of a naming secret.
const (
	// MinSecretBytes is the least length of a secret: the output length of
	// SHA-256, below which HMAC loses strength.
	MinSecretBytes = 32
	// MaxSecrets is the number of secrets in a ring: current and previous.
	MaxSecrets = 2
	// MaxIDBytes bounds the id of a secret.
	MaxIDBytes = 32
)

// Secret is one naming secret. ID names it in configuration and logs; it is not
// part of what is derived, so it may be changed.
type Secret struct {
	ID    string
	Bytes []byte
	// IssueFrom, of the first of two secrets, is when keys begin to be issued
	// under it; until then they are issued under the second. Zero: at once.
	IssueFrom time.Time
	// NameFrom, of the first of two secrets, is when records of client keys begin
	// to be named under it. Zero: not yet, they are named under the second. Bridges
	// may disagree about the moment.
	NameFrom time.Time
}

// Ring holds the derived keys of one or two secrets. It is immutable and safe
// for concurrent use.
type Ring struct {
	keys      []*Key // current first
	turned    []*Key // current last
	issueFrom time.Time
	nameFrom  time.Time
}

// NewRing derives the keys of secrets, the current one first. It returns an
// error for none or more than [MaxSecrets], an id that is empty, longer than
// [MaxIDBytes] or used twice, and a secret below [MinSecretBytes] or used twice.
func NewRing(secrets ...Secret) (*Ring, error) {
	if len(secrets) == 0 || len(secrets) > MaxSecrets {
		return nil, fmt.Errorf("naming: %d secrets: must be 1 to %d", len(secrets), MaxSecrets)
	}
	ring := &Ring{}
	for i, s := range secrets {
		if s.ID == "" || len(s.ID) > MaxIDBytes {
			return nil, fmt.Errorf("naming: secret %d: id of %d bytes: must be 1 to %d", i, len(s.ID), MaxIDBytes)
		}
		if len(s.Bytes) < MinSecretBytes {
			return nil, fmt.Errorf("naming: secret %q: %d bytes: must be at least %d", s.ID, len(s.Bytes), MinSecretBytes)
		}
		for _, earlier := range secrets[:i] {
			if earlier.ID == s.ID {
				return nil, fmt.Errorf("naming: secret %q: id is used twice", s.ID)
			}
			if hmac.Equal(earlier.Bytes, s.Bytes) {
				return nil, fmt.Errorf("naming: secrets %q and %q are the same", earlier.ID, s.ID)
			}
		}
		k, err := newKey(s)
		if err != nil {
			return nil, err
		}
		ring.keys = append(ring.keys, k)
	}
	ring.turned = slices.Clone(ring.keys)
	slices.Reverse(ring.turned)
	ring.issueFrom, ring.nameFrom = secrets[0].IssueFrom, secrets[0].NameFrom
	return ring, nil
}

// Issuer returns the key under which keys are issued at now: the first of the
// ring, or the last until the first one's IssueFrom.
func (r *Ring) Issuer(now time.Time) *Key {
	if now.Before(r.issueFrom) {
		return r.keys[len(r.keys)-1]
	}
	return r.keys[0]
}

// Clients returns the keys under which records of client keys may be named at
// now, the earliest first: new ones are named under the last of them (see the
// package comment).
func (r *Ring) Clients(now time.Time) []*Key {
	last := len(r.keys) - 1
	if last == 0 || r.nameFrom.IsZero() || now.Before(r.nameFrom) {
		return r.keys[last:]
	}
	return r.turned
}

// Keys returns every key of the ring, the current one first.
func (r *Ring) Keys() []*Key { return r.keys }

// Key is one secret's set of derived keys.
type Key struct {
	id string
	// One keyed hash per purpose. A tag of one purpose is useless for another.
	name        mac
	fingerprint mac
	gateway     mac
	owner       mac
	link        mac
	caller      mac
}

// ID returns the id of the secret that the key was derived from.
func (k *Key) ID() string { return k.id }

func newKey(s Secret) (*Key, error) {
	k := &Key{id: s.ID}
	for purpose, m := range map[string]*mac{
		"oncewall record name v1":        &k.name,
		"oncewall fingerprint v1":        &k.fingerprint,
		"oncewall issued key gateway v1": &k.gateway,
		"oncewall issued key owner v1":   &k.owner,
		"oncewall moved record v1":       &k.link,
		"oncewall caller v1":             &k.caller,
	} {
		sub, err := hkdf.Key(sha256.New, s.Bytes, nil, purpose, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("naming: secret %q: %w", s.ID, err)
		}
		m.pool.New = func() any {
			return &keyed{Hash: hmac.New(sha256.New, sub)}
		}
	}
	return k, nil
}

// mac is HMAC-SHA-256 under one subkey. Hashes are pooled: setting one up costs
// more than a short message.
type mac struct{ pool sync.Pool }

// keyed is a hash together with the scratch that its callers write through, so
// that neither is allocated per message.
type keyed struct {
	hash.Hash
	scratch []byte
	sum     [sha256.Size]byte
}

// tag returns the MAC of the message that build appends to its argument.
func (m *mac) tag(build func(dst []byte) []byte) [sha256.Size]byte {
	h := m.pool.Get().(*keyed)
	h.Reset()
	h.scratch = build(h.scratch[:0])
	h.Write(h.scratch)
	h.Sum(h.sum[:0])
	sum := h.sum
	// The scratch held client text; it does not outlive the call.
	clear(h.scratch)
	m.pool.Put(h)
	return sum
}
