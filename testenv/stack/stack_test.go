package stack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// post sends one order and returns status and body.
func post(t *testing.T, addr, key string) (status int, body string, header http.Header) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/orders", strings.NewReader(`{"item":1}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("X-User-Id", "ada")
	client := http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

// executions asks the shop how often a key really ran.
func executions(t *testing.T, shop, key string) int {
	t.Helper()
	resp, err := http.Get("http://" + shop + "/executions?key=" + key)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Count int }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Count
}

// wantOnce sends a key twice and wants one execution and two equal answers.
func wantOnce(t *testing.T, s *Stack, first, second, key string) {
	t.Helper()
	status1, body1, _ := post(t, first, key)
	status2, body2, header := post(t, second, key)
	if status1 != 201 || status2 != 201 || body1 != body2 || header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("key %s: %d %s\nthen %d %s %v", key, status1, body1, status2, body2, header)
	}
	if n := executions(t, s.Shop(), key); n != 1 {
		t.Errorf("key %s ran %d times, want once", key, n)
	}
}

func start(t *testing.T, o Options) *Stack {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStack(t *testing.T) {
	s := start(t, Options{Edge: true, Inner: true, Bare: true, Concurrency: 2})
	wantOnce(t, s, s.Gateway(0), s.Gateway(0), "a")
	wantOnce(t, s, s.Edge(), s.Gateway(0), "b")

	for range 2 {
		if status, body, _ := post(t, s.Bare(), "c"); status != 201 {
			t.Errorf("without the filter: %d %s", status, body)
		}
	}
	if n := executions(t, s.Shop(), "c"); n != 2 {
		t.Errorf("without the filter a duplicate ran %d times, want 2", n)
	}

	// One part's death is no other's, and nobody brings it back.
	pids := map[string]int{}
	for _, name := range s.Parts() {
		pids[name] = s.PID(name)
	}
	if err := s.Kill(BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	if status, body, _ := post(t, s.Gateway(0), "d"); status != 503 {
		t.Errorf("without a bridge: %d %s", status, body)
	}
	for name, pid := range pids {
		if want := pid; name != BridgePart(0) && s.PID(name) != want {
			t.Errorf("%s: process %d, was %d", name, s.PID(name), want)
		}
	}
	if pid := s.PID(BridgePart(0)); pid != 0 {
		t.Errorf("the bridge came back as process %d", pid)
	}
	if err := s.StartPart(t.Context(), BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an order after the bridge is back", func() bool {
		status, _, _ := post(t, s.Gateway(0), "e")
		return status == 201
	})
	if err := s.Kill("nobody"); err == nil {
		t.Error("killing an unknown part: no error")
	}
}

func TestStackOnACluster(t *testing.T) {
	s := start(t, Options{Store: Cluster, Bridges: 2})
	wantOnce(t, s, s.Gateway(0), s.Gateway(0), "a")
	if err := s.Kill(BridgePart(0)); err != nil {
		t.Fatal(err)
	}
	// The other bridge knows what the first recorded.
	eventually(t, "a replay through the other bridge", func() bool {
		status, _, header := post(t, s.Gateway(0), "a")
		return status == 201 && header.Get("Idempotent-Replayed") == "true"
	})
	if n := executions(t, s.Shop(), "a"); n != 1 {
		t.Errorf("ran %d times, want once", n)
	}
}

func TestRefusedConfigurationLeavesNothing(t *testing.T) {
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	badRules := file("rules.json", `{"namespace": "x y", "unknown": 1}`)
	badBridge := file("bridge.yaml", "unknown_field: 1\nissue_life: 9\n")
	badPatch := file("patch.yaml", "static_resources: {clusters: [{name: shop, unknown_here: 1}]}")
	for _, c := range []struct {
		name string
		opts Options
		want []string
	}{
		{"all files at once", Options{Rules: badRules, BridgeConfig: badBridge}, []string{"namespace", "unknown is not", "unknown_field", "issue_life"}},
		{"judged by the parts", Options{Rules: badRules, PartsJudge: true}, []string{"gateway: ended", "namespace", "unknown is not"}},
		{"an envoy patch", Options{EnvoyPatch: badPatch}, []string{"gateway: ended", "unknown_here"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ports, err := pickFree(c.opts)
			if err != nil {
				t.Fatal(err)
			}
			c.opts.Ports, c.opts.Dir = &ports, t.TempDir()
			s, err := Start(t.Context(), c.opts)
			if err == nil {
				_ = s.Close()
				t.Fatal("it started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not told in:\n%v", want, err)
				}
			}
			if !allFree(ports.all()) {
				t.Error("something still listens")
			}
			if left, _ := filepath.Glob(c.opts.Dir + "/*.pid"); len(left) > 0 {
				t.Errorf("pid files left: %v", left)
			}
		})
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	ports, err := pickFree(Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", Addr(ports.Shop))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s, err := Start(t.Context(), Options{Ports: &ports})
	if err == nil {
		_ = s.Close()
		t.Fatal("it started")
	}
	if want := "shop: port " + strconv.Itoa(ports.Shop) + ": already in use"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

func TestDetachedStack(t *testing.T) {
	ports, err := pickFree(Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Cleanup(func() { _ = Down(dir, ports) })
	up := func() {
		t.Helper()
		if out, err := runHelper("up", portEnv(ports), dir); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	up() // and its process is gone
	gateway := Addr(ports.Gateway)
	if status, body, _ := post(t, gateway, "a"); status != 201 {
		t.Errorf("got %d %s", status, body)
	}
	before, _ := readPID(dir, GatewayPart(0))
	shop, _ := readPID(dir, ShopPart)
	if err := syscall.Kill(shop.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the shop's end", func() bool { return !shop.alive() })
	up() // what is missing
	after, _ := readPID(dir, GatewayPart(0))
	again, _ := readPID(dir, ShopPart)
	if before != after || !again.alive() || again == shop {
		t.Errorf("gateway %+v, then %+v; shop %+v, then %+v", before, after, shop, again)
	}
	if status, body, _ := post(t, gateway, "b"); status != 201 {
		t.Errorf("got %d %s", status, body)
	}
	if err := Down(dir, ports); err != nil {
		t.Fatal(err)
	}
	if !allFree(ports.all()) {
		t.Error("something still listens")
	}
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	ports, err := pickFree(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		// Not before the first part runs.
		for len(listeners(ports.Shop)) == 0 && ctx.Err() == nil {
			time.Sleep(pollEvery)
		}
		cancel()
	}()
	s, err := Start(ctx, Options{Ports: &ports})
	if err == nil {
		_ = s.Close()
		t.Fatal("it started")
	}
	if !allFree(ports.all()) {
		t.Error("something still listens")
	}
}

func TestLiveUpdate(t *testing.T) {
	s := start(t, Options{Live: true})
	wantOnce(t, s, s.Gateway(0), s.Gateway(0), "a")

	rules, err := os.ReadFile(s.opts.Rules)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Replace(string(rules), `"namespace"`, `"nonsense": 1, "namespace"`, 1))
	if err := s.SetRules(t.Context(), 0, file); !errors.Is(err, ErrRejected) {
		t.Errorf("a bad update: %v", err)
	}
	wantOnce(t, s, s.Gateway(0), s.Gateway(0), "b")

	write(strings.Replace(string(rules), `"/orders"`, `"/elsewhere"`, 1))
	if err := s.SetRules(t.Context(), 0, file); err != nil {
		t.Fatal(err)
	}
	// The old listener drains; new connections meet the new rules.
	eventually(t, "an order that no rule covers", func() bool {
		_, _, header := post(t, s.Gateway(0), "c")
		return header.Get("Idempotency-Status") == ""
	})
}
