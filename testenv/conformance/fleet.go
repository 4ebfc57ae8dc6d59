package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
)

// fleet is one Envoy process with a listener for each scenario, and the scripted
// servers of their clusters.
type fleet struct {
	dir, admin string
	wasm       string
	cmd        *exec.Cmd
	ended      chan struct{}
	labs       map[string]*lab
	ports      map[string]int // of listeners
	watched    []*Scenario
	configs    map[string]string // current, of watched scenarios

	mu     sync.Mutex
	lines  map[string][]line
	access map[string]map[string]string
	tail   []string // last lines of Envoy's log that are not traces
}

// startLimit bounds Envoy's start; stepLimit how long a step of a scenario may
// take. The machine may be busy.
const (
	startLimit = 120 * time.Second
	stepLimit  = 15 * time.Second
	endGrace   = 10 * time.Second
)

// startFleet starts an Envoy binary for scenarios.
func startFleet(ctx context.Context, envoy, wasm, dir string, all []*Scenario) (_ *fleet, err error) {
	f := &fleet{dir: dir, wasm: wasm, ended: make(chan struct{}), labs: map[string]*lab{}, ports: map[string]int{},
		configs: map[string]string{}, lines: map[string][]line{}, access: map[string]map[string]string{}}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	var clusters, listeners []any
	for _, sc := range all {
		l := newLab()
		f.labs[sc.Name] = l
		for name, c := range sc.Setup.clusters() {
			port, err := f.serve(l, sc.cluster(name), c)
			if err != nil {
				return nil, err
			}
			clusters = append(clusters, clusterConfig(sc.cluster(name), c, port))
		}
		if sc.Setup.Watched {
			ports, err := stack.FreePorts(1)
			if err != nil {
				return nil, err
			}
			f.ports[sc.Name], f.configs[sc.Name] = ports[0], sc.config()
			f.watched = append(f.watched, sc)
			continue
		}
		listeners = append(listeners, listenerConfig(sc, wasm, f.accessLog(), sc.config(), 0))
	}
	if err := f.writeWatched(); err != nil {
		return nil, err
	}
	if err := writeJSON(f.path("envoy.json"), bootstrap(listeners, clusters, f.path("lds.json"))); err != nil {
		return nil, err
	}
	if err := f.launch(envoy); err != nil {
		return nil, err
	}
	return f, f.ready(ctx)
}

func (f *fleet) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fleet) accessLog() string { return f.path("access.log") }

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	// A file that Envoy watches has to appear by a rename.
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (f *fleet) writeWatched() error {
	var resources []any
	for _, sc := range f.watched {
		l := listenerConfig(sc, f.wasm, f.accessLog(), f.configs[sc.Name], f.ports[sc.Name])
		resources = append(resources, typed("envoy.config.listener.v3.Listener", l))
	}
	return writeJSON(f.path("lds.json"), object{"resources": resources})
}

// serve starts the server of a cluster. One that refuses has a port that is
// bound and not listened on.
func (f *fleet) serve(l *lab, cluster string, c Cluster) (int, error) {
	if c.Refuse {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return 0, err
		}
		l.owns(os.NewFile(uintptr(fd), "refusing"))
		if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return 0, err
		}
		at, err := syscall.Getsockname(fd)
		if err != nil {
			return 0, err
		}
		return at.(*syscall.SockaddrInet4).Port, nil
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	l.owns(ln)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			l.owns(conn)
			if c.HTTP2 {
				go serveH2(l, cluster, conn)
			} else {
				go serveH1(l, cluster, conn)
			}
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

func (f *fleet) launch(envoy string) error {
	f.cmd = exec.Command(envoy, "-c", f.path("envoy.json"), "--concurrency", "1", "--disable-hot-restart",
		"--admin-address-path", f.path("admin"), "--file-flush-interval-msec", "20", "--drain-time-s", "1",
		"--drain-strategy", "immediate", "-l", "warning", "--component-log-level", "wasm:info", "--log-format", "%t|%n|%v")
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := f.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := f.cmd.Start(); err != nil {
		return err
	}
	go func() {
		f.read(log)
		_ = f.cmd.Wait()
		close(f.ended)
	}()
	return nil
}

// read sorts Envoy's log by the plugin that wrote each line.
func (f *fleet) read(log io.Reader) {
	sc := bufio.NewScanner(log)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		thread, rest, _ := strings.Cut(sc.Text(), "|")
		_, text, _ := strings.Cut(rest, "|")
		text, ok := strings.CutPrefix(text, "wasm log ")
		prefix, trace, traced := strings.Cut(text, ": ")
		name, _, _ := strings.Cut(prefix, " ")
		f.mu.Lock()
		if ok && traced {
			f.lines[name] = append(f.lines[name], line{thread, trace})
		}
		if !strings.HasPrefix(trace, "T ") {
			if f.tail = append(f.tail, sc.Text()); len(f.tail) > 60 {
				f.tail = f.tail[1:]
			}
		}
		f.mu.Unlock()
		if l := f.labs[name]; l != nil && ok {
			l.ring()
		}
	}
}

// tracesOf gives the lines of a scenario's probe.
func (f *fleet) tracesOf(name string) []line {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines[name]
}

func (f *fleet) logTail() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.tail, "\n")
}

// ready waits for every listener and learns their ports.
func (f *fleet) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("envoy: not ready within %s:\n%s", startLimit, f.logTail())
		case <-f.ended:
			return fmt.Errorf("envoy: ended:\n%s", f.logTail())
		case <-poll.C:
		}
		if f.admin == "" {
			if b, err := os.ReadFile(f.path("admin")); err == nil && len(b) > 0 {
				f.admin = strings.TrimSpace(string(b))
			}
			continue
		}
		if s, err := f.get("/ready"); err != nil || strings.TrimSpace(s) != "LIVE" {
			continue
		}
		if f.learnPorts() == nil {
			return nil
		}
	}
}

// get asks the admin interface.
func (f *fleet) get(path string) (string, error) {
	c := http.Client{Timeout: 10 * time.Second}
	resp, err := c.Get("http://" + f.admin + path)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("admin %s: %s", path, resp.Status)
	}
	return string(b), err
}

func (f *fleet) learnPorts() error {
	s, err := f.get("/listeners?format=json")
	if err != nil {
		return err
	}
	var all struct {
		Listeners []struct {
			Name    string `json:"name"`
			Address struct {
				Socket struct {
					Port int `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal([]byte(s), &all); err != nil {
		return err
	}
	for _, l := range all.Listeners {
		f.ports[l.Name] = l.Address.Socket.Port
	}
	if len(all.Listeners) < len(f.labs) {
		return errors.New("envoy: listeners are missing")
	}
	return nil
}

// stat is the value of one of Envoy's statistics, "" where there is none.
func (f *fleet) stat(name string) string {
	s, err := f.get("/stats?filter=" + "^" + name + "$")
	if err != nil {
		return ""
	}
	_, v, _ := strings.Cut(strings.TrimSpace(s), ": ")
	return v
}

// readAccess reads what the access log has by now.
func (f *fleet) readAccess() {
	b, err := os.ReadFile(f.accessLog())
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range strings.Split(string(b), "\n") {
		if p := strings.SplitN(s, " ", 3); len(p) == 3 {
			if f.access[p[0]] == nil {
				f.access[p[0]] = map[string]string{}
			}
			f.access[p[0]][p[1]] = p[2]
		}
	}
}

// dead reports whether Envoy has ended by itself.
func (f *fleet) dead() bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// close ends Envoy, by its own process id, and every socket.
func (f *fleet) close() {
	if f.cmd != nil && f.cmd.Process != nil {
		_ = f.cmd.Process.Signal(syscall.SIGTERM)
		grace := time.NewTimer(endGrace)
		defer grace.Stop()
		select {
		case <-f.ended:
		case <-grace.C:
			_ = f.cmd.Process.Kill()
			<-f.ended
		}
	}
	for _, l := range f.labs {
		l.close()
	}
}
