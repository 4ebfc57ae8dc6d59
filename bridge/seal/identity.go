package seal

import (
	"encoding/binary"
	"errors"

	"github.com/oncewall/oncewall/bridge/store"
)

// identityVersion begins what is sealed of a subject.
const identityVersion = 1

// ErrIdentity reports an identity that opens and is not one.
var ErrIdentity = errors.New("seal: not an identity of a version that is served")

// Subject is what a record's name is made of, in clear.
type Subject struct {
	Namespace string
	Scope     string
	Principal string // encoded, see wire.EncodePrincipal
	Key       string
}

// SealSubject seals who and what a record is about, for its own record alone.
func (s *Sealer) SealSubject(name store.Name, who Subject) ([]byte, error) {
	b := make([]byte, 1, 16+len(who.Namespace)+len(who.Scope)+len(who.Principal)+len(who.Key))
	b[0] = identityVersion
	for _, part := range []string{who.Namespace, who.Scope, who.Principal, who.Key} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		b = append(b, part...)
	}
	return s.Seal(Identity, name, b)
}

// OpenSubject is the reverse of SealSubject. Its error is Open's, or ErrIdentity.
func (s *Sealer) OpenSubject(name store.Name, envelope []byte) (who Subject, err error) {
	b, err := s.Open(Identity, name, envelope)
	if err != nil {
		return who, err
	}
	if len(b) == 0 || b[0] != identityVersion {
		return who, ErrIdentity
	}
	b = b[1:]
	for _, part := range []*string{&who.Namespace, &who.Scope, &who.Principal, &who.Key} {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return Subject{}, ErrIdentity
		}
		*part = string(b[used : used+int(n)])
		b = b[used+int(n):]
	}
	if len(b) > 0 {
		return Subject{}, ErrIdentity
	}
	return who, nil
}
