package sdk

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait; Envoy compiles each filter before it is ready.
const patience = 60 * time.Second

// envoy is one running Envoy with a listener for each filter.
type envoy struct {
	dir, admin string
	version    int // of the listeners
	ports      map[string]string
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		if f() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// startEnvoy starts Envoy with the listeners and ends it, by its own process
// id, with the test.
func startEnvoy(t *testing.T, upstream, echo string, listeners ...obj) *envoy {
	t.Helper()
	e := &envoy{dir: t.TempDir()}
	e.setListeners(t, listeners...)
	writeJSON(t, e.path("envoy.json"), obj{
		"node":  obj{"id": "sdk", "cluster": "sdk"},
		"admin": obj{"address": address("127.0.0.1:0")},
		"dynamic_resources": obj{"lds_config": obj{"path_config_source": obj{
			"path": e.path("listeners.json"), "watched_directory": obj{"path": e.dir}}}},
		"static_resources": obj{"clusters": list{
			cluster("upstream", upstream, true), cluster("echo", echo, false)}},
	})
	log, err := os.Create(e.path("log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(envoyBinary(t), "-c", e.path("envoy.json"), "--concurrency", "1",
		"--disable-hot-restart", "--drain-time-s", "1", "--admin-address-path", e.path("admin"),
		"--log-level", "warning", "--component-log-level", "wasm:trace")
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the signal is sent when the starting thread ends
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
		close(ended)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("Envoy's log, without calls:\n%s", e.notes())
		}
	})
	eventually(t, "Envoy is ready", func() bool {
		select {
		case <-ended:
			t.Fatal("Envoy has ended")
		default:
		}
		b, _ := os.ReadFile(e.path("admin"))
		e.admin = strings.TrimSpace(string(b))
		return e.admin != "" && strings.HasPrefix(e.get("/ready"), "LIVE") && e.listening(len(listeners))
	})
	return e
}

func (e *envoy) path(name string) string { return filepath.Join(e.dir, name) }

// setListeners replaces the listeners.
func (e *envoy) setListeners(t *testing.T, listeners ...obj) {
	t.Helper()
	e.version++
	writeJSON(t, e.path("listeners.json"), obj{"version_info": strconv.Itoa(e.version), "resources": listeners})
}

// get asks the admin interface; "" where it does not answer.
func (e *envoy) get(path string) string {
	r, err := http.Get("http://" + e.admin + path)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// listening finds the ports that the kernel chose.
func (e *envoy) listening(n int) bool {
	var status struct {
		Listeners []struct {
			Name    string `json:"name"`
			Address struct {
				Socket struct {
					Port int `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if json.Unmarshal([]byte(e.get("/listeners?format=json")), &status) != nil || len(status.Listeners) < n {
		return false
	}
	e.ports = map[string]string{}
	for _, l := range status.Listeners {
		e.ports[l.Name] = "127.0.0.1:" + strconv.Itoa(l.Address.Socket.Port)
	}
	return true
}

func (e *envoy) log() string {
	b, _ := os.ReadFile(e.path("log"))
	return string(b)
}

// notes are the log's lines that are no traced call.
func (e *envoy) notes() string {
	var notes []string
	for line := range strings.Lines(e.log()) {
		if !strings.Contains(line, "[vm->host]") && !strings.Contains(line, "[vm<-host]") &&
			!strings.Contains(line, "[host->vm]") && !strings.Contains(line, "[host<-vm]") {
			notes = append(notes, line)
		}
	}
	return strings.Join(notes[max(0, len(notes)-200):], "")
}
