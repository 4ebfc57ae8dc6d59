package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of sealing secrets.
const (
	// MinSecretBytes is the least length of a secret: the strength of AES-256.
	MinSecretBytes = 32
	// MaxSecrets is how many secrets one sealer reads: the current one and those
	// whose results have not ended yet.
	MaxSecrets = 8
	// Overhead is the most by which an envelope is longer than its content.
	Overhead = 3 + wire.MaxKeyIDBytes + nonceBytes + tagBytes

	nonceBytes = 12
	tagBytes   = 16
	keyBytes   = 32
)

// Why an envelope does not open. None wraps anything of its content.
var (
	// ErrUnsealed reports a result in clear where none is accepted.
	ErrUnsealed = errors.New("seal: not sealed")
	// ErrUnknownKey reports a key id that none of the secrets has.
	ErrUnknownKey = errors.New("seal: sealed under a key that is not configured")
	// ErrForged reports bytes that are not what was sealed for this record and
	// purpose: damaged, moved here from another record, or made up.
	ErrForged = errors.New("seal: does not open: damaged, or sealed for another record")
)

// Purpose says what is sealed. What is sealed for one does not open for another.
type Purpose string

// The purposes.
const (
	// Result is an upstream's recorded response.
	Result Purpose = "result"
	// Identity is the key and the principal as the caller spelled them, for who
	// has to ask a backend about a record.
	Identity Purpose = "identity"
)

// Secret is one sealing secret. Its ID is written beside everything sealed under
// it: 1 to [wire.MaxKeyIDBytes] letters, digits, dots, hyphens and underscores.
type Secret struct {
	ID    string
	Bytes []byte
}

// Sealer seals under its first secret and opens under all. It is immutable and
// safe for concurrent use.
type Sealer struct {
	keys []root
	// header begins every envelope that this sealer makes.
	header []byte
}

// root is what HKDF extracts from a secret.
type root struct {
	id  string
	prk []byte
}

// New returns a sealer of secrets, the current one first. It returns an error
// for none or more than [MaxSecrets], for an id that is not valid or is used
// twice, and for a secret that is too short or is used twice.
func New(secrets ...Secret) (*Sealer, error) {
	if len(secrets) == 0 || len(secrets) > MaxSecrets {
		return nil, fmt.Errorf("seal: %d secrets: must be 1 to %d", len(secrets), MaxSecrets)
	}
	s := &Sealer{}
	for i, secret := range secrets {
		if !ValidID(secret.ID) {
			return nil, fmt.Errorf("seal: secret %d: id: must be 1 to %d of A-Z a-z 0-9 . _ -", i, wire.MaxKeyIDBytes)
		}
		if len(secret.Bytes) < MinSecretBytes {
			return nil, fmt.Errorf("seal: secret %q: %d bytes: must be at least %d", secret.ID, len(secret.Bytes), MinSecretBytes)
		}
		for _, earlier := range secrets[:i] {
			if earlier.ID == secret.ID {
				return nil, fmt.Errorf("seal: secret %q: id is used twice", secret.ID)
			}
			if hmac.Equal(earlier.Bytes, secret.Bytes) {
				return nil, fmt.Errorf("seal: secrets %q and %q are the same", earlier.ID, secret.ID)
			}
		}
		prk, err := hkdf.Extract(sha256.New, secret.Bytes, nil)
		if err != nil {
			return nil, fmt.Errorf("seal: secret %q: %w", secret.ID, err)
		}
		s.keys = append(s.keys, root{secret.ID, prk})
	}
	header, err := wire.AppendEnvelope(nil, wire.Envelope{Seal: wire.SealAES256GCM, KeyID: s.keys[0].id})
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	s.header = header
	return s, nil
}

// ValidID reports whether id may name a sealing secret. An id read from a store
// may be logged where it is valid.
func ValidID(id string) bool {
	if id == "" || len(id) > wire.MaxKeyIDBytes {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// KeyID returns the id of the secret under which s seals.
func (s *Sealer) KeyID() string { return s.keys[0].id }

// Seal returns content, sealed for one purpose of one record, as an envelope.
func (s *Sealer) Seal(purpose Purpose, name store.Name, content []byte) ([]byte, error) {
	gcm, err := s.keys[0].cipher(purpose, name)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(s.header), len(s.header)+len(content)+nonceBytes+tagBytes)
	copy(out, s.header)
	// The cipher draws the nonce and puts it first.
	return gcm.Seal(out, nil, content, context(s.header, purpose, name)), nil
}

// Open returns the content of an envelope that was sealed for this purpose of
// this record. Its error is one of this package's or [wire.ErrEnvelope]; an
// envelope that is not sealed is [ErrUnsealed].
func (s *Sealer) Open(purpose Purpose, name store.Name, envelope []byte) ([]byte, error) {
	e, err := wire.ParseEnvelope(envelope)
	if err != nil {
		return nil, err
	}
	if e.Seal != wire.SealAES256GCM {
		return nil, ErrUnsealed
	}
	for i := range s.keys {
		if s.keys[i].id != e.KeyID {
			continue
		}
		if len(e.Payload) < nonceBytes+tagBytes {
			return nil, ErrForged
		}
		gcm, err := s.keys[i].cipher(purpose, name)
		if err != nil {
			return nil, err
		}
		header := envelope[:len(envelope)-len(e.Payload)]
		content, err := gcm.Open(nil, nil, e.Payload, context(header, purpose, name))
		if err != nil {
			return nil, ErrForged
		}
		return content, nil
	}
	return nil, ErrUnknownKey
}
