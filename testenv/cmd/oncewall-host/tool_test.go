package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/apitest"
	"github.com/oncewall/oncewall/testenv/shop"
	"github.com/oncewall/oncewall/testenv/wasmbuild"
)

const (
	outDir = "../../../build/out"
	filter = outDir + "/oncewall.wasm" // TestMain builds it
	rules  = "../../stack/shop.json"
)

// limit bounds every wait of a test.
const limit = 30 * time.Second

// asProgram makes this test binary be the program.
const asProgram = "ONCEWALL_HOST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if _, err := wasmbuild.Plugin(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// tool is a running oncewall-host.
type tool struct {
	url, admin string
	stderr     *apitest.Buffer
	end        context.CancelFunc
	code       chan int
}

// start runs oncewall-host with the project's filter until the test ends, and
// wants it to end well.
func start(t *testing.T, args ...string) *tool {
	t.Helper()
	args = append([]string{"run", filter, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--cache-dir", filepath.Join(outDir, "wazero-cache"), "--env", "ONCEWALL_BRIDGE_SECRET=" + apitest.Gateway}, args...)
	ctx, cancel := context.WithCancel(context.Background())
	g := &tool{stderr: &apitest.Buffer{}, end: cancel, code: make(chan int, 1)}
	read, write := io.Pipe()
	go func() {
		code := command(ctx, args, os.LookupEnv, write, g.stderr)
		write.Close()
		g.code <- code
	}()
	lines := bufio.NewScanner(read)
	for g.admin == "" && lines.Scan() {
		line := lines.Text()
		if v, ok := strings.CutPrefix(line, "serving "); ok {
			g.url, _, _ = strings.Cut(v, " ")
		}
		if v, ok := strings.CutPrefix(line, "admin "); ok {
			g.admin = v
		}
	}
	if g.admin == "" {
		t.Fatalf("it did not start: %s", g.stderr)
	}
	t.Cleanup(func() {
		cancel()
		if code := <-g.code; code != exitOK {
			t.Errorf("exit code %d: %s", code, g.stderr)
		}
	})
	return g
}

// oncewall runs the project's filter and its configuration, with a bridge on the
// embedded store and a given upstream.
func oncewall(t *testing.T, upstream string, args ...string) *tool {
	t.Helper()
	at := strings.TrimPrefix(apitest.Start(t).Data, "http://")
	return start(t, append([]string{"--config", rules, "--upstream", upstream, "--flag", "allow_on_headers_stop_iteration",
		"--cluster", "oncewall_bridge=h2c://" + at, "--cluster", "oncewall_bridge_wait=h2c://" + at}, args...)...)
}

// plain runs the project's filter without a bridge, for requests that no rule
// covers and which pass through it.
func plain(t *testing.T, upstream string, args ...string) *tool {
	t.Helper()
	return start(t, append([]string{"--config", rules, "--upstream", upstream, "--flag", "allow_on_headers_stop_iteration",
		"--cluster", "oncewall_bridge=h2c://127.0.0.1:1", "--cluster", "oncewall_bridge_wait=h2c://127.0.0.1:1"}, args...)...)
}

// backend serves HTTP/1.1 and h2c and returns its address.
func backend(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// theShop is a shop in this process and its address.
func theShop(t *testing.T) (*shop.Shop, string) {
	t.Helper()
	s, err := shop.New(shop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); s.Serve(l) }()
	t.Cleanup(func() { s.Close(); <-ended })
	return s, l.Addr().String()
}

// client makes an HTTP client of one protocol.
func testClient(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true, MaxIdleConnsPerHost: 64}
	tr.Protocols.SetHTTP1(!http2)
	tr.Protocols.SetUnencryptedHTTP2(http2)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: limit}
}

// answer is a response that was read to its end.
type answer struct {
	status  int
	header  http.Header
	body    string
	trailer http.Header
	proto   string
}

func send(t *testing.T, c *http.Client, r *http.Request) answer {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b), resp.Trailer, resp.Proto}
}

// order is a POST to the shop under an idempotency key.
func order(t *testing.T, url, key, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("POST", url+"/orders", struct{ io.Reader }{strings.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = int64(len(body))
	r.Header["idempotency-key"] = []string{key}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-User-Id", "ada")
	return r
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// eventually polls until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}
