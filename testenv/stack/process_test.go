package stack

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestStopAsksFirst(t *testing.T) {
	p := startHelper(t, "listen", strconv.Itoa(freePort(t)))
	if !p.alive() {
		t.Fatal("not alive after its start")
	}
	begin := time.Now()
	if err := p.stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	if p.alive() || time.Since(begin) > 30*time.Second {
		t.Errorf("alive %v after %s", p.alive(), time.Since(begin))
	}
	if err := p.stop(time.Minute); err != nil {
		t.Errorf("stopping it again: %v", err)
	}
}

func TestStopKillsTheDeaf(t *testing.T) {
	p := startHelper(t, "deaf")
	if err := p.stop(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.alive() {
		t.Error("still alive")
	}
}

func TestPIDFileNamesTheProcessNotTheNumber(t *testing.T) {
	p, dir := startHelper(t, "deaf"), t.TempDir()
	if err := writePID(dir, "x", p, []int{1, 2}); err != nil {
		t.Fatal(err)
	}
	if got, ports := readPID(dir, "x"); got != p || !got.alive() || len(ports) != 2 {
		t.Errorf("read %+v (alive %v) with ports %v, wrote %+v", got, got.alive(), ports, p)
	}
	// The number given out again to a later process.
	other := process{pid: p.pid, started: p.started + 1}
	if other.alive() {
		t.Error("a process with another start time is taken for ours")
	}
	if err := other.stop(0); err != nil || !p.alive() {
		t.Errorf("stopping it: %v, and the process that has the number lives: %v", err, p.alive())
	}
	for name, text := range map[string]string{"missing": "", "short": "12", "words": "a b"} {
		if name != "missing" {
			if err := os.WriteFile(pidFile(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := readPID(dir, name); got.alive() {
			t.Errorf("%s pid file: alive", name)
		}
	}
}

func TestChildrenDieWithTheirParent(t *testing.T) {
	c := helperCommand("parent", os.DevNull, strconv.Itoa(freePort(t)))
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Env = c.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	started, ok := startTime(pid)
	if !ok {
		t.Fatal("the child does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	child := process{pid: pid, started: started}
	eventually(t, "the child's end", func() bool { return !child.alive() })
}

func TestAwaitTellsWhatThePartSaid(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "x.log")
	if err := os.WriteFile(log, []byte("of an earlier run\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := &part{name: "x", cmd: helperCommand("fail", log), ready: func(context.Context) error { return context.Canceled }}
	if err := p.start(dir); err != nil {
		t.Fatal(err)
	}
	err := p.await(context.Background())
	if err == nil || !strings.Contains(err.Error(), "x: ended before it was ready:\nfirst fault\nsecond fault") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "earlier") {
		t.Error("tells of an earlier run")
	}
}

func TestListenersFindsWhoHoldsAPort(t *testing.T) {
	port := freePort(t)
	p := startHelper(t, "listen", strconv.Itoa(port))
	if got := listeners(port); len(got) != 1 || got[0] != p.pid {
		t.Errorf("listeners(%d) = %v, want %d", port, got, p.pid)
	}
	err := checkFree(port)
	for _, want := range []string{"port " + strconv.Itoa(port), "process " + strconv.Itoa(p.pid)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("checkFree: %v, want it to name %s", err, want)
		}
	}
}

func TestDownEndsStrangers(t *testing.T) {
	port, dir := freePort(t), t.TempDir()
	stranger := startHelper(t, "listen", strconv.Itoa(port))
	ours := startHelper(t, "listen", strconv.Itoa(freePort(t)))
	if err := writePID(dir, "ours", ours, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := secret(dir, bridgeSecretFile); err != nil {
		t.Fatal(err)
	}
	ports := Ports{Gateway: port, EnvoyAdmin: freePort(t), Bridge: freePort(t), BridgeAdmin: freePort(t), Shop: freePort(t)}
	if err := Down(dir, ports); err != nil {
		t.Fatal(err)
	}
	if stranger.alive() || ours.alive() {
		t.Errorf("alive: the stranger %v, ours %v", stranger.alive(), ours.alive())
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
		t.Errorf("left behind besides the lock: %v", left)
	}
}

func TestDownWaitsForNoOther(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := Down(dir, Ports{}); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreKeptAndClosed(t *testing.T) {
	dir := t.TempDir()
	a, err := secret(dir, bridgeSecretFile)
	if err != nil {
		t.Fatal(err)
	}
	b, err := secret(dir, bridgeSecretFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := secret(dir, namingSecretFile)
	if err != nil {
		t.Fatal(err)
	}
	if a != b || a == c || len(a) != 64 {
		t.Errorf("lengths %d, %d, %d; kept %v, distinct %v", len(a), len(b), len(c), a == b, a != c)
	}
	info, err := os.Stat(filepath.Join(dir, bridgeSecretFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEachSecretIsOneOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	one, err := readSecrets(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range []string{one.bridge, one.naming, one.sealing, one.consumer, one.operator} {
		if len(s) != 64 || seen[s] {
			t.Errorf("a secret of %d characters, or one twice", len(s))
		}
		seen[s] = true
	}
	if again, err := readSecrets(dir); err != nil || again != one {
		t.Errorf("kept %v, %v", again == one, err)
	}
	if err := removeSecrets(dir); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}

func TestFreePortsAreDistinct(t *testing.T) {
	ports, err := FreePorts(50)
	if err != nil {
		t.Fatal(err)
	}
	if !allFree(ports) {
		t.Errorf("%v: taken, or one twice", ports)
	}
}
