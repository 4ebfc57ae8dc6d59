package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/oncewall/oncewall/filter/wire"
)

// asProgram makes this test binary be the program: what a test starts is then
// the code under test, without a build of its own.
const asProgram = "ONCEWALL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

const secret = "0123456789abcdef0123456789abcdef"

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommands(t *testing.T) {
	bad := write(t, "bad.yaml", "listen: 1\nlissen: 2\n")
	broken := write(t, "broken.json", `{"namespace":"edge","rules":[{"nam":"x"}],"x":1}`)
	for name, tc := range map[string]struct {
		args           string
		code           int
		stdout, stderr []string
	}{
		"none":           {"", exitUsage, nil, []string{"oncewall serve"}},
		"help":           {"help", exitOK, []string{"oncewall serve", "oncewall check"}, nil},
		"version":        {"version", exitOK, []string{"oncewall dev"}, nil},
		"unknown":        {"sevre", exitUsage, nil, []string{`unknown command "sevre"`}},
		"serve nothing":  {"serve", exitUsage, nil, []string{"config: store: not configured", "config: secrets.bridge", "config: secrets.naming"}},
		"serve bad":      {"serve --dev --config " + bad, exitUsage, nil, []string{"config: listen: 1", "config: lissen: unknown field", "config: secrets.bridge"}},
		"serve no file":  {"serve --config /nowhere", exitUsage, nil, []string{"config: open /nowhere"}},
		"serve flag":     {"serve --prod", exitUsage, nil, []string{"-prod"}},
		"serve argument": {"serve x", exitUsage, nil, []string{`unexpected argument "x"`}},
		"serve help":     {"serve -h", exitOK, nil, []string{"-config", "-dev"}},
		"check nothing":  {"check", exitUsage, nil, []string{"usage: oncewall check"}},
		"check no file":  {"check /nowhere", exitFailed, nil, []string{"/nowhere"}},
		"check both":     {"check " + broken + " " + bad, exitFailed, nil, []string{"broken.json:", "nam", "bad.yaml:", "lissen: unknown field"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(strings.Fields(tc.args), nil, &stdout, &stderr); code != tc.code {
				t.Errorf("code %d, want %d", code, tc.code)
			}
			for _, want := range tc.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("stdout without %q: %s", want, stdout.String())
				}
			}
			for _, want := range tc.stderr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr without %q: %s", want, stderr.String())
				}
			}
		})
	}
}

func TestCheckAcceptsTheShopsRules(t *testing.T) {
	var stdout, stderr bytes.Buffer
	plugin := write(t, "plugin.json", `{"namespace":"edge","bridge":{"cluster":"b"},
		"rules":[{"name":"orders","match":{"path":{"prefix":"/orders"}},"principal":{"header":"x-user-id","trusted":true},
		"key":{"from":[{"header":"idempotency-key"}]},"fingerprint":{"body":"none"},"upstream_timeout":"5s",
		"recovery":{"action":"hold"},"unavailable":"reject"}]}`)
	bridge := write(t, "bridge.yaml", "store: {redis: {addresses: ['a:1']}}\nsecrets: {bridge: {env: S}, naming: [{id: n, env: S}]}")
	if code := check([]string{plugin, bridge}, []string{"S=" + secret}, &stdout, &stderr); code != exitOK {
		t.Fatalf("code %d: %s", code, stderr.String())
	}
	if strings.Count(stdout.String(), ": ok\n") != 2 {
		t.Errorf("stdout %q", stdout.String())
	}
}

// TestServe runs the program itself: it serves on the embedded store, says where,
// and ends with 0 on SIGTERM.
func TestServe(t *testing.T) {
	cmd := exec.Command(os.Args[0], "serve", "--dev")
	cmd.Env = []string{asProgram + "=1", "S=" + secret, "ONCEWALL_SECRETS_BRIDGE_ENV=S",
		"ONCEWALL_LISTEN=127.0.0.1:0", "ONCEWALL_ADMIN_LISTEN=127.0.0.1:0"}
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	var serving struct{ Msg, Listen, AdminListen string }
	scanner := bufio.NewScanner(logs)
	for serving.Msg != "serving" && scanner.Scan() {
		line := strings.ReplaceAll(scanner.Text(), "admin_listen", "adminListen")
		if err := json.Unmarshal([]byte(line), &serving); err != nil {
			t.Fatalf("not a JSON log line: %s", line)
		}
	}
	if serving.Listen == "" || serving.AdminListen == "" {
		t.Fatalf("no addresses: %+v", serving)
	}
	go func() {
		for scanner.Scan() { // the program must not block on its log
		}
	}()
	ready, err := http.Get("http://" + serving.AdminListen + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	ready.Body.Close()
	if ready.StatusCode != http.StatusOK {
		t.Errorf("readyz %d", ready.StatusCode)
	}
	resp, err := http.Post("http://"+serving.Listen+wire.BatchPath, wire.ContentType, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get(wire.StampHeader) == "" {
		t.Errorf("status %d, stamp %q", resp.StatusCode, resp.Header.Get(wire.StampHeader))
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
}

// TestServePortTaken fails at once and says which listener.
func TestServePortTaken(t *testing.T) {
	var stderr bytes.Buffer
	env := []string{"S=" + secret, "ONCEWALL_SECRETS_BRIDGE_ENV=S"}
	taken := listen(t)
	code := run([]string{"serve", "--dev"}, append(env, "ONCEWALL_LISTEN=127.0.0.1:0", "ONCEWALL_ADMIN_LISTEN="+taken), &stderr, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "admin_listen: listen tcp") {
		t.Errorf("code %d: %s", code, stderr.String())
	}
}

// listen takes a port for as long as the test runs and returns its address.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
