package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Down ends a detached stack: every part whose pid file lies in dir, and then
// whatever else listens on their ports or on the given ones, whoever started it.
// It returns what it could not end.
func Down(dir string, ports Ports) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()

	files, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil {
		return err
	}
	taken := ports.all()
	parts := make([]*part, 0, len(files))
	for _, f := range files {
		p := &part{name: strings.TrimSuffix(filepath.Base(f), ".pid")}
		p.proc, p.ports = readPID(dir, p.name)
		taken = append(taken, p.ports...)
		parts = append(parts, p)
	}
	faults := []error{stopAll(dir, parts)}
	for _, pid := range foreign(taken) {
		if err := stopForeign(pid); err != nil {
			faults = append(faults, err)
		}
	}
	faults = append(faults, removeSecrets(dir), os.RemoveAll(filepath.Join(dir, "redis")))
	return errors.Join(faults...)
}

// all returns the ports of a stack of one of each.
func (p Ports) all() []int {
	return append([]int{p.Gateway, p.EnvoyAdmin, p.Bridge, p.BridgeAdmin, p.Shop}, p.Redis...)
}

// foreign returns the processes that listen on ports, each once, but never
// ourselves.
func foreign(ports []int) []int {
	var pids []int
	for _, port := range ports {
		for _, pid := range listeners(port) {
			if pid != os.Getpid() && !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// stopForeign ends a process of which we know only that it listens: it alone,
// since its process group may be somebody's shell.
func stopForeign(pid int) error {
	started, ok := startTime(pid)
	if !ok {
		return nil
	}
	p := process{pid: pid, started: started, alone: true}
	if err := p.stop(termGrace); err != nil {
		return fmt.Errorf("%s: %w", processName(pid), err)
	}
	return nil
}
