package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"

	"github.com/oncewall/oncewall/bridge/store"
)

// label begins what a key is derived from and what is authenticated. A change of
// anything that is derived here makes every sealed result unreadable: it needs a
// new label, and a reader of the old one.
const label = "oncewall seal v1"

// cipher returns AES-256-GCM under the key of one purpose of one record. The
// purpose is preceded by its length, and the name has a fixed one, so that no two
// pairs share a key.
func (r root) cipher(purpose Purpose, name store.Name) (cipher.AEAD, error) {
	key, err := hkdf.Expand(sha256.New, r.prk, string(context(nil, purpose, name)), keyBytes)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// context is the text that binds a seal to its place: label, purpose, name and,
// as additional data, the envelope's header, which tells its own length.
func context(header []byte, purpose Purpose, name store.Name) []byte {
	b := make([]byte, 0, len(label)+1+len(purpose)+len(name)+len(header))
	b = append(b, label...)
	b = append(b, byte(len(purpose)))
	b = append(b, purpose...)
	b = append(b, name[:]...)
	return append(b, header...)
}
