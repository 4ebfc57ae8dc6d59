package rediscluster

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed shim/clock.c
var clockShim []byte

// A Clock shifts the time of day of the processes that have its Env. Their
// monotonic clock, by which they measure timeouts, stays. Linux alone.
type Clock struct{ library, file string }

// NewClock makes a clock that is right. It keeps its files in dir, and needs a C
// compiler, $CC or gcc (build/cc.sh installs it).
func NewClock(dir string) (*Clock, error) {
	c := &Clock{library: filepath.Join(dir, "clock.so"), file: filepath.Join(dir, "clock")}
	source := filepath.Join(dir, "clock.c")
	if err := os.WriteFile(source, clockShim, 0o644); err != nil {
		return nil, fmt.Errorf("rediscluster: clock: %w", err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "gcc"
	}
	if out, err := exec.Command(cc, "-O", "-Wall", "-shared", "-fPIC", "-o", c.library, source).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("rediscluster: clock: %s: %w\n%s", cc, err, out)
	}
	return c, c.Set(0)
}

// Env is for [Config.Env].
func (c *Clock) Env() []string {
	return []string{"LD_PRELOAD=" + c.library, "ONCEWALL_TEST_CLOCK=" + c.file}
}

// Set makes the clock differ from the machine's by d, in whole microseconds. It
// takes effect at once.
func (c *Clock) Set(d time.Duration) error {
	f, err := os.OpenFile(c.file, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("rediscluster: clock: %w", err)
	}
	defer f.Close()
	// In place: the processes have mapped the file.
	if _, err := f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(d.Microseconds())), 0); err != nil {
		return fmt.Errorf("rediscluster: clock: %w", err)
	}
	return nil
}
