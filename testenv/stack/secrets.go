package stack

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files of secrets below the stack's folder. They live from the first start to
// Down, so that a part that is started later has the same ones.
const (
	bridgeSecretFile  = "bridge.secret"
	namingSecretFile  = "naming.secret"
	sealingSecretFile = "sealing.secret"
	// For callers of the JSON API: one of each role.
	consumerSecretFile = "api-consumer.secret"
	operatorSecretFile = "api-operator.secret"
)

// secrets are a stack's own.
type secrets struct{ bridge, naming, sealing, consumer, operator string }

// readSecrets returns the secrets of dir, and makes those that are not there.
func readSecrets(dir string) (s secrets, err error) {
	for _, f := range []struct {
		name string
		dst  *string
	}{
		{bridgeSecretFile, &s.bridge}, {namingSecretFile, &s.naming}, {sealingSecretFile, &s.sealing},
		{consumerSecretFile, &s.consumer}, {operatorSecretFile, &s.operator},
	} {
		if *f.dst, err = secret(dir, f.name); err != nil {
			return s, err
		}
	}
	return s, nil
}

// secret returns the secret in a file of dir, and makes it on first use: 32
// random bytes in hex, readable by the user alone.
func secret(dir, name string) (string, error) {
	file := filepath.Join(dir, name)
	b, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	s := hex.EncodeToString(key)
	return s, os.WriteFile(file, []byte(s+"\n"), 0o600)
}

// removeSecrets ends the life of a stack's secrets.
func removeSecrets(dir string) error {
	for _, name := range []string{bridgeSecretFile, namingSecretFile, sealingSecretFile, consumerSecretFile, operatorSecretFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
