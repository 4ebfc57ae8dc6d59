package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/oncewall/oncewall/testenv/apitest"
)

// module makes a WebAssembly module of one empty function, which it exports
// under names, and which may import one.
func module(imports string, exports ...string) []byte {
	section := func(id byte, content []byte) []byte { return append([]byte{id, byte(len(content))}, content...) }
	name := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	b := []byte("\x00asm\x01\x00\x00\x00")
	b = append(b, section(1, []byte{1, 0x60, 0, 0})...)
	index := byte(0)
	if imports != "" {
		b = append(b, section(2, append(append(append([]byte{1}, name("env")...), name(imports)...), 0, 0))...)
		index = 1
	}
	b = append(b, section(3, []byte{1, 0})...)
	list := []byte{byte(len(exports))}
	for _, e := range exports {
		list = append(append(list, name(e)...), 0, index)
	}
	b = append(b, section(7, list)...)
	return append(b, section(10, []byte{1, 2, 0, 0x0b})...)
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// What cannot be run is refused with a reason and the right exit code.
func TestRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	run := func(wasm string, args ...string) []string {
		return append([]string{"run", wasm, "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0",
			"--cache-dir", filepath.Join(outDir, "wazero-cache")}, args...)
	}
	old := file(t, module("", "proxy_abi_version_0_1_0"))
	for name, c := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"no command":      {nil, exitUsage, []string{"oncewall-host run"}},
		"unknown command": {[]string{"rnu"}, exitUsage, []string{`unknown command "rnu"`}},
		"no filter":       {[]string{"run", "--upstream", "http://a:1"}, exitUsage, []string{"exactly one filter must be named, got 0"}},
		"two filters":     {run("a", "b"), exitUsage, []string{"got 2"}},
		"no upstream":     {[]string{"run", "a"}, exitUsage, []string{"--upstream must be given"}},
		"all at once":     {run("a", "--workers", "0", "--route-timeout", "-1s"), exitUsage, []string{"--workers 0", "--route-timeout -1s"}},
		"unknown flag":    {run("a", "--nope"), exitUsage, []string{"-nope"}},
		"remote":          {run("a", "--listen", "0.0.0.0:9000"), exitUsage, []string{"--listen 0.0.0.0:9000", "--allow-remote"}},
		"remote admin":    {run("a", "--admin", ":9001"), exitUsage, []string{"--admin :9001", "--allow-remote"}},
		"tls upstream":    {run("a", "--cluster", "b=https://a"), exitUsage, []string{"TLS to a cluster is not supported"}},
		"cluster twice":   {run("a", "--cluster", "upstream=http://a"), exitUsage, []string{`"upstream" is given twice`}},
		"unknown setting": {run("a", "--flag", "x"), exitUsage, []string{`"x" must be allow_on_headers_stop_iteration`}},
		"buffer limit":    {run("a", "--buffer-limit", "2GiB"), exitUsage, []string{"64KiB"}},
		"policy":          {run("a", "--failure-policy", "never"), exitUsage, []string{"-failure-policy"}},
		"property":        {run("a", "--property", "a=1", "--property", "a.b=2"), exitUsage, []string{"below a property"}},
		"no file":         {run("/nowhere.wasm"), exitFailed, []string{"open /nowhere.wasm: no such file"}},
		"no wasm":         {run(file(t, []byte("(module)"))), exitFailed, []string{"not a WebAssembly module"}},
		"component":       {run(file(t, []byte("\x00asm\x0d\x00\x01\x00"))), exitFailed, []string{"a filter is a core module"}},
		"broken wasm":     {run(file(t, append(module(""), 0xff, 0xff))), exitFailed, []string{"oncewall-host:"}},
		"no proxy-wasm":   {run(file(t, module("", "f"))), exitFailed, []string{"no proxy-wasm filter"}},
		"old abi":         {run(old), exitFailed, []string{"ABI 0.1.0 is not supported: it must be 0.2.0 or 0.2.1"}},
		"missing call":    {run(file(t, module("proxy_magic", "proxy_abi_version_0_2_1", "malloc"))), exitFailed, []string{"import env.proxy_magic"}},
		"port taken":      {run(filter, "--listen", taken.Addr().String()), exitFailed, []string{"--listen:", "address already in use"}},
		"admin taken":     {run(filter, "--admin", taken.Addr().String()), exitFailed, []string{"--admin:", "address already in use"}},
		"no config":       {run(filter, "--config", "/nowhere.json"), exitFailed, []string{"--config: open /nowhere.json"}},
		"no trace":        {run(filter, "--trace=/nowhere/trace"), exitFailed, []string{"--trace"}},
		"config refused": {run(filter, "--config", file(t, []byte(`{"namespace":"x","rulez":[]}`))), exitFailed,
			[]string{"critical: config:", "rulez", "the filter does not start", "proxy_on_configure answered false"}},
		"inspect nothing": {[]string{"inspect"}, exitUsage, []string{"usage"}},
		"inspect no file": {[]string{"inspect", "/nowhere"}, exitFailed, []string{"open /nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := command(t.Context(), c.args, os.LookupEnv, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, stderr.String())
				}
			}
		})
	}
}

func TestAnswersThatAreNoFailure(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"version", "oncewall-host "}, {"--version", "oncewall-host "}, {"run --version", "oncewall-host "}, {"help", "oncewall-host inspect"},
	} {
		var stdout, stderr bytes.Buffer
		if code := command(t.Context(), strings.Fields(c.args), os.LookupEnv, &stdout, &stderr); code != exitOK || !strings.Contains(stdout.String(), c.want) {
			t.Errorf("%s: code %d, %s", c.args, code, stdout.String())
		}
	}
	var stderr bytes.Buffer
	if code := command(t.Context(), []string{"run", "--help"}, os.LookupEnv, nil, &stderr); code != exitOK || !strings.Contains(stderr.String(), "-env-from-host") {
		t.Errorf("%d %s", code, stderr.String())
	}
}

func TestInspect(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := command(t.Context(), []string{"inspect", filter}, os.LookupEnv, &stdout, &stderr); code != exitOK {
		t.Errorf("code %d", code)
	}
	for _, want := range []string{"ABI       proxy-wasm 0.2.1", "  proxy_on_request_headers\n", "  env.proxy_http_call\n", "  wasi_snapshot_preview1.fd_write\n", "missing here: nothing"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, stdout.String())
		}
	}
	stdout.Reset()
	name := file(t, module("proxy_magic", "proxy_abi_version_0_2_1", "malloc"))
	if code := command(t.Context(), []string{"inspect", name}, os.LookupEnv, &stdout, &stderr); code != exitFailed {
		t.Errorf("code %d", code)
	}
	if !strings.Contains(stdout.String(), "missing here (1)\n  import env.proxy_magic: neither this host nor Envoy has it\n") {
		t.Error(stdout.String())
	}
}

func TestSettings(t *testing.T) {
	env := func(name string) (string, bool) { return "from-host", name == "SET" }
	s, err := parse([]string{"f.wasm", "--upstream", "h2c://127.0.0.1:1", "--cluster", "a=http://b", "--env", "X=1=2", "--env-from-host", "SET",
		"--env-from-host", "UNSET", "--property", "a.b=c", "--buffer-limit", "32KiB", "--trace", "--flag", "use_remote_address=false",
		"--failure-policy", "FAIL_RELOAD", "--listen", "[::1]:0", "--route-timeout", "0"}, env, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if s.filter != "f.wasm" || s.clusters["upstream"] != (target{"127.0.0.1:1", true}) || s.clusters["a"] != (target{"b:80", false}) {
		t.Errorf("%+v", s)
	}
	if s.env["X"] != "1=2" || s.env["SET"] != "from-host" || len(s.env) != 2 {
		t.Errorf("%v", s.env)
	}
	if s.properties["a"].(map[string]any)["b"] != "c" || s.bufferLimit != 32<<10 || !s.trace.on || s.trace.file != "" || s.flags["use_remote_address"] {
		t.Errorf("%+v", s)
	}
}

// A signal lets the request under way end, and the program ends with 0.
func TestSignalDrains(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	addr := backend(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		w.WriteHeader(202)
	}))
	cmd := exec.Command(os.Args[0], "run", filter, "--config", rules, "--upstream", "http://"+addr, "--listen", "127.0.0.1:0",
		"--cache-dir", filepath.Join(outDir, "wazero-cache"), "--flag", "allow_on_headers_stop_iteration", "--env", "ONCEWALL_BRIDGE_SECRET="+apitest.Gateway)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := &apitest.Buffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() {
		t.Fatal(stderr)
	}
	url, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "serving "), " ")
	got := make(chan int, 1)
	r := get(t, url+"/slow")
	client := testClient(t, false)
	go func() {
		resp, err := client.Do(r)
		if err != nil {
			got <- 0
			return
		}
		resp.Body.Close()
		got <- resp.StatusCode
	}()
	wait(t, "the request's arrival", arrived)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the drain", func() bool { return strings.Contains(stderr.String(), "draining") })
	eventually(t, "the end of listening", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	close(release)
	if code := <-got; code != 202 {
		t.Errorf("the request under way got %d", code)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

// A request that does not end in the drain time is cut.
func TestDrainTime(t *testing.T) {
	arrived := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	addr := backend(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		select {
		case <-r.Context().Done():
		case <-ctx.Done():
		}
	}))
	g := plain(t, "http://"+addr, "--drain-timeout", "50ms")
	r := get(t, g.url+"/slow")
	failed := make(chan error, 1)
	client := testClient(t, false)
	go func() {
		resp, err := client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	wait(t, "the request's arrival", arrived)
	g.end()
	if err := <-failed; err == nil {
		t.Error("the client got an answer")
	}
	eventually(t, "the notice", func() bool { return strings.Contains(g.stderr.String(), "requests were cut after 50ms") })
}

// The filter hears of the end of the process, as in Envoy.
func TestFilterHearsOfTheEnd(t *testing.T) {
	g := plain(t, "http://127.0.0.1:1", "--trace")
	g.end()
	eventually(t, "the end of the main thread's root context", func() bool {
		_, rest, ok := strings.Cut(g.stderr.String(), "worker0  > proxy_on_done(ctx=1)")
		return ok && strings.Contains(rest, "worker0  > proxy_on_delete(ctx=1)") &&
			strings.Contains(rest, "main     > proxy_on_done(ctx=1)") && strings.Contains(rest, "main     > proxy_on_delete(ctx=1)")
	})
}
