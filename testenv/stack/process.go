package stack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// How long a part may take to end by itself, and how long the kernel may take to
// end it.
const (
	termGrace = 8 * time.Second
	killGrace = 5 * time.Second
	pollEvery = 20 * time.Millisecond
)

// process is one started part: a child of ours, or one that an earlier run
// left behind and whose pid file we read.
type process struct {
	pid     int
	started uint64 // see startTime
	// alone: signals go to the process, not to its group.
	alone bool
}

// alive reports whether it still runs. A process that was killed but not reaped
// does not.
func (p process) alive() bool {
	if p.pid <= 0 {
		return false
	}
	t, ok := startTime(p.pid)
	return ok && t == p.started
}

// signal sends sig to the process group, which is the part and whatever it
// started itself. A group that is gone is no error.
func (p process) signal(sig syscall.Signal) error {
	if !p.alive() {
		return nil
	}
	target := -p.pid
	if p.alone {
		target = p.pid
	}
	if err := syscall.Kill(target, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("process %d: %w", p.pid, err)
	}
	return nil
}

// stop ends it: SIGTERM, a bounded wait, SIGKILL. With grace 0 it is killed at
// once. It returns when the process is gone.
func (p process) stop(grace time.Duration) error {
	if grace > 0 {
		if err := p.signal(syscall.SIGTERM); err != nil {
			return err
		}
		// A part that was paused cannot hear SIGTERM before it runs again.
		if err := p.signal(syscall.SIGCONT); err != nil {
			return err
		}
		if p.awaitEnd(grace) {
			return nil
		}
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	if !p.awaitEnd(killGrace) {
		return fmt.Errorf("process %d: still there %s after SIGKILL", p.pid, killGrace)
	}
	return nil
}

func (p process) awaitEnd(limit time.Duration) bool {
	for deadline := time.Now().Add(limit); p.alive(); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// command is what launch starts.
type command struct {
	argv []string
	env  []string
	dir  string
	log  string // file that takes stdout and stderr; appended to
	// detached lets the process outlive us; otherwise the kernel kills it when we
	// die, however we die.
	detached bool
}

// launch starts c and reaps it when it ends.
func launch(c command) (process, error) {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return process{}, err
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env, cmd.Dir = c.env, c.dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.detached {
		// A session of its own: a Ctrl-C or a closing terminal does not reach it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	} else {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	if err := onLaunchThread(cmd.Start); err != nil {
		return process{}, err
	}
	started, ok := startTime(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }()
	if !ok {
		// It ended before it could be looked at: alive will say so.
		started = 0
	}
	return process{pid: cmd.Process.Pid, started: started}, nil
}

// launchThread runs functions on one thread that never ends. The kernel sends
// Pdeathsig when the *thread* that started a child ends, and Go may end any
// thread but a locked one.
var launchThread = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range calls {
			f()
		}
	}()
	return calls
})

func onLaunchThread(f func() error) error {
	done := make(chan error)
	launchThread() <- func() { done <- f() }
	return <-done
}

// writePID records for a later run that p is the named part. The file holds the
// process id, its start time and the ports that it listens on.
func writePID(dir, part string, p process, ports []int) error {
	line := fmt.Sprint(p.pid, " ", p.started)
	for _, port := range ports {
		line += fmt.Sprint(" ", port)
	}
	return os.WriteFile(pidFile(dir, part), []byte(line+"\n"), 0o644)
}

// readPID returns the process that a pid file names and its ports. A part
// without a file, or with a damaged one, is a process that is not alive.
func readPID(dir, part string) (p process, ports []int) {
	b, err := os.ReadFile(pidFile(dir, part))
	if err != nil {
		return process{}, nil
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return process{}, nil
	}
	if p.pid, err = strconv.Atoi(fields[0]); err != nil {
		return process{}, nil
	}
	if p.started, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return process{}, nil
	}
	for _, f := range fields[2:] {
		if port, err := strconv.Atoi(f); err == nil {
			ports = append(ports, port)
		}
	}
	return p, ports
}

func pidFile(dir, part string) string { return filepath.Join(dir, part+".pid") }
func logFile(dir, part string) string { return filepath.Join(dir, part+".log") }
