package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// errFence is the sink's refusal of an owner that has a successor.
var errFence = errors.New("sink: a higher fence has been here")

// sink is where effects are: a folder in place of a database. What it does under
// its lock a database does in one transaction:
//
//	UPDATE keys SET fence = $fence WHERE key = $key AND fence <= $fence   -- 0 rows: refuse
//	INSERT INTO payments (key, ...) ON CONFLICT (key) DO NOTHING          -- done before: same receipt
type sink struct{ dir string }

// entry is what the sink knows of a key.
type entry struct {
	Fence   uint64 `json:"fence"`   // the highest that has been here
	Effects int    `json:"effects"` // how often the effect was had: 1 is right
	Amount  int    `json:"amount"`
}

// apply has the effect, unless it was had before; either way it returns its
// receipt.
func (s sink) apply(key string, fence uint64, amount int) (receipt string, err error) {
	lock, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	file := s.file(key)
	var e entry
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if fence < e.Fence {
		return "", errFence
	}
	e.Fence = fence
	if e.Effects == 0 {
		e.Effects, e.Amount = 1, amount
	}
	if text, err = json.Marshal(e); err != nil {
		return "", err
	}
	// A file that is renamed is there whole or not at all.
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return "", err
	}
	return fmt.Sprintf("paid %d", e.Amount), os.Rename(file+".new", file)
}

func (s sink) file(key string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(key))))
}
