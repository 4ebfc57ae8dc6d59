package rediscluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrNoServer says that redis-server is not installed.
var ErrNoServer = errors.New("rediscluster: redis-server: not found in PATH (Debian package redis-server)")

// busOffset lies between a node's port and the port of its cluster bus.
const busOffset = 10000

// poll is how often a condition is looked at again.
const poll = 20 * time.Millisecond

// Node is one running server.
type Node struct {
	Port int
	// TLSPort is for clients that speak TLS; 0: there is none.
	TLSPort int

	home string
	env  []string
	args []string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has been waited for
	err  error         // of the process; valid after done
}

// Address is the node's host:port.
func (n *Node) Address() string { return address(n.Port) }

// clusterPort is the port by which other nodes know this one.
func (n *Node) clusterPort() int {
	if n.TLSPort != 0 {
		return n.TLSPort
	}
	return n.Port
}

// PID is the id of the node's process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Kill ends the node at once, as a crash would, and waits until it is gone.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	<-n.done
}

// Pause stops the process without ending it: connections stay open, and nothing
// answers. Resume lets it go on.
func (n *Node) Pause() error { return n.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (n *Node) Resume() error { return n.cmd.Process.Signal(syscall.SIGCONT) }

// Restart starts a killed node again as it was started before, options added:
// with its place in the cluster, and with whatever data it persisted. It returns
// when the node answers, which may be before it has loaded its data.
func (n *Node) Restart(ctx context.Context, options ...string) error {
	again, err := launch(ctx, n.home, n.Port, n.env, append(slices.Clone(n.args), options...)...)
	if err != nil {
		return err
	}
	n.cmd, n.done, n.err = again.cmd, again.done, nil
	return nil
}

func address(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// starter serialises process starts on one locked thread that never ends: the
// kernel sends the parent-death signal when the starting thread dies, not the
// process, and Go ends threads as it likes.
var starter = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// start runs a server that keeps nothing, and waits until it answers.
func start(ctx context.Context, dir string, port int, env []string, options ...string) (*Node, error) {
	home, err := homeOf(dir, port)
	if err != nil {
		return nil, err
	}
	return launch(ctx, home, port, env, append(serverArguments(port, home, logOf(home)), options...)...)
}

// serverArguments are those of every server: loopback, nothing persisted, no
// eviction, replicas in sync without delay.
func serverArguments(port int, home, log string) []string {
	return []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", home, "--logfile", log,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--maxmemory-policy", "noeviction",
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}
}

// homeOf makes the directory of the node on port.
func homeOf(dir string, port int) (string, error) {
	home := filepath.Join(dir, strconv.Itoa(port))
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", fmt.Errorf("rediscluster: %w", err)
	}
	return home, nil
}

func logOf(home string) string { return filepath.Join(home, "redis.log") }

// launch runs redis-server with args and waits until it answers.
func launch(ctx context.Context, home string, port int, env []string, args ...string) (*Node, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoServer
	}
	n := &Node{
		Port: port, home: home, env: env, args: args, log: logOf(home),
		done: make(chan struct{}), cmd: exec.Command(path, args...),
	}
	if len(env) > 0 {
		n.cmd.Env = append(os.Environ(), env...)
	}
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	starter() <- func() { started <- n.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("rediscluster: %w", err)
	}
	go func() {
		n.err = n.cmd.Wait()
		close(n.done)
	}()
	// The answer must be this process's: the port may be another server's.
	mine := fmt.Sprintf("\nprocess_id:%d\r", n.PID())
	if err := n.await(ctx, "answer", func() bool {
		s, err := n.Do(ctx, "INFO", "server")
		return err == nil && strings.Contains(s, mine)
	}); err != nil {
		n.Kill()
		return nil, err
	}
	return n, nil
}

// await polls until ok holds, the node dies or ctx ends.
func (n *Node) await(ctx context.Context, what string, ok func() bool) error {
	for {
		if ok() {
			return nil
		}
		select {
		case <-n.done:
			return fmt.Errorf("rediscluster: %s: ended (%v); see %s", n.Address(), n.err, n.log)
		case <-ctx.Done():
			return fmt.Errorf("rediscluster: %s: no %s: %w; see %s", n.Address(), what, ctx.Err(), n.log)
		case <-time.After(poll):
		}
	}
}

// Do sends one command on a connection of its own and returns its answer as
// text; elements of an array come one a line. It waits 2s at most.
func (n *Node) Do(ctx context.Context, args ...string) (string, error) {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", n.Address())
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.Write([]byte(b.String())); err != nil {
		return "", err
	}
	return answer(bufio.NewReader(c))
}

func answer(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	switch line[0] {
	case '+', ':':
		return line[1:], nil
	case '-':
		return "", errors.New(line[1:])
	case '$':
		size, err := strconv.Atoi(line[1:])
		if err != nil || size < 0 {
			return "", err
		}
		buf := make([]byte, size+2)
		for at := 0; at < len(buf); {
			m, err := r.Read(buf[at:])
			if err != nil {
				return "", err
			}
			at += m
		}
		return string(buf[:size]), nil
	case '*':
		count, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		var parts []string
		for range count {
			s, err := answer(r)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, "\n"), nil
	}
	return "", fmt.Errorf("rediscluster: answer %q", line)
}
