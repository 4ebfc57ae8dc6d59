package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/stack"
	"github.com/oncewall/oncewall/testenv/story"
)

// shopRules is the demo's plugin configuration, changed by edits of its text.
func shopRules(t *testing.T, edits ...string) string {
	t.Helper()
	b, err := os.ReadFile("../stack/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("shop.json does not hold %q any more", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	return text
}

// brokenRules has one fault of each kind; faults are what must be told of each.
func brokenRules(t *testing.T) (text string, faults []string) {
	return shopRules(t,
			`"namespace": "edge",`, `"namespace": "edge", "colour": "blue",`,
			`"upstream_timeout": "5s"`, `"upstream_timeout": "5 parsecs"`,
			`"lease": "4s"`, `"lease": "1s"`,
			`"name": "payments"`, `"name": "orders"`,
		), []string{
			"colour", "parsecs", "lease", "notes", "orders",
		}
}

// TestWrongConfigurationStopsEnvoy: Envoy itself refuses to start, and its one
// message tells every fault.
func TestWrongConfigurationStopsEnvoy(t *testing.T) {
	t.Parallel()
	text, faults := brokenRules(t)
	file := filepath.Join(t.TempDir(), "rules.json")
	write(t, file, text)
	s, err := stack.Start(t.Context(), stack.Options{Rules: file, PartsJudge: true})
	if err == nil {
		_ = s.Close()
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "gateway: ended before it was ready") {
		t.Errorf("Envoy did not end by itself: %v", err)
	}
	wantOneMessage(t, err.Error(), faults)
}

// wantOneMessage wants one log entry of the plugin that holds every text.
func wantOneMessage(t *testing.T, log string, texts []string) {
	t.Helper()
	entries := strings.Split("\n"+log, "\n[20") // an entry begins with its date
	for _, e := range entries {
		missing := 0
		for _, text := range texts {
			if !strings.Contains(e, text) {
				missing++
			}
		}
		if missing == 0 {
			t.Logf("told: %s", e)
			return
		}
	}
	t.Errorf("no message holds all of %q:\n%s", texts, log)
}

// live is a stack whose gateway has a further listener, which Envoy reads from a
// file and reads again when the file is replaced.
type live struct {
	t        *testing.T
	stack    *stack.Stack
	port     int
	file     string
	listener map[string]any // of the gateway, as Envoy shows it
}

func startLive(t *testing.T) *live {
	ports, err := stack.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := &live{t: t, port: ports[0], file: filepath.Join(dir, "listeners.json")}
	write(t, l.file, `{"version_info": "0", "resources": []}`)
	patch := filepath.Join(dir, "patch.yaml")
	write(t, patch, fmt.Sprintf(`{"dynamic_resources": {"lds_config": {"resource_api_version": "V3", "path_config_source": {"path": %q}}}}`, l.file))
	l.stack = start(t, stack.Options{EnvoyPatch: patch, Concurrency: 2})
	var dump struct {
		Configs []struct{ Listener map[string]any }
	}
	if err := json.Unmarshal(l.admin("/config_dump?resource=static_listeners"), &dump); err != nil || len(dump.Configs) == 0 {
		t.Fatalf("no listener in Envoy's configuration: %v", err)
	}
	l.listener = dump.Configs[0].Listener
	return l
}

func (l *live) admin(path string) []byte {
	l.t.Helper()
	resp, err := http.Get("http://" + l.stack.GatewayAdmin(0) + path)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

// update gives Envoy a listener with another plugin configuration.
func (l *live) update(rules string) {
	l.t.Helper()
	b, err := json.Marshal(l.listener)
	if err != nil {
		l.t.Fatal(err)
	}
	var next map[string]any
	if err := json.Unmarshal(b, &next); err != nil {
		l.t.Fatal(err)
	}
	next["@type"], next["name"] = "type.googleapis.com/envoy.config.listener.v3.Listener", "live"
	dig(l.t, next, "address", "socket_address")["port_value"] = l.port
	hcm := dig(l.t, next, "filter_chains", 0, "filters", 0, "typed_config")
	filters, _ := hcm["http_filters"].([]any)
	at := slices.IndexFunc(filters, func(f any) bool { return dig(l.t, f)["name"] == "oncewall" })
	plugin := dig(l.t, filters, at, "typed_config", "config", "configuration")
	plugin["value"] = rules
	if b, err = json.Marshal(map[string]any{"version_info": "1", "resources": []any{next}}); err != nil {
		l.t.Fatal(err)
	}
	write(l.t, l.file+".new", string(b))
	if err := os.Rename(l.file+".new", l.file); err != nil { // Envoy watches for moves
		l.t.Fatal(err)
	}
}

// dig follows member names and list indices.
func dig(t *testing.T, v any, path ...any) map[string]any {
	t.Helper()
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				t.Fatalf("no item %d on the way %v", key, path)
			}
			v = list[key]
		}
	}
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("nothing at %v", path)
	}
	return m
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLiveUpdate changes the plugin's configuration under a running Envoy. A
// wrong one is refused with every fault, and the old one goes on serving; a
// right one takes its place, and finished keys stay finished.
func TestLiveUpdate(t *testing.T) {
	t.Parallel()
	l := startLive(t)
	c := client(t, stack.Addr(l.port), story.HTTP1)
	order := story.Post("/orders", "live-1")
	refusing := shopRules(t, `"key": {"from": [{"header": "idempotency-key"}]}`, `"key": {"from": [{"header": "idempotency-key"}], "max_length": 6}`)
	heads := shopRules(t, `"match": {"path": {"prefix": "/orders"}}`, `"match": {"methods": ["POST", "HEAD"], "path": {"prefix": "/orders"}}`)

	l.update(shopRules(t))
	var first story.Answer
	eventually(t, "the new listener", 60*time.Second, func() bool {
		first = c.Send(t.Context(), order)
		return first.Err == nil
	})
	wantKind(t, "the first request", first, "201 created")

	text, faults := brokenRules(t)
	l.update(text)
	eventually(t, "the refusal of the update", 60*time.Second, func() bool {
		return !strings.Contains(string(l.admin("/stats?filter=lds.update_rejected")), "update_rejected: 0")
	})
	log, err := os.ReadFile(l.stack.Log(stack.GatewayPart(0)))
	if err != nil {
		t.Fatal(err)
	}
	wantOneMessage(t, string(log), faults)
	wantKind(t, "a retry under the old configuration", c.Send(t.Context(), order), "201 replayed")
	wantKind(t, "a new key under the old configuration", c.Send(t.Context(), order.Key("live-2")), "201 created")

	l.update(refusing)
	eventually(t, "the update in force", 60*time.Second, func() bool {
		c.Close()
		return c.Send(t.Context(), order.Key("seven77")).Kind() == "400 key-invalid"
	})
	wantKind(t, "a finished key under the new configuration", c.Send(t.Context(), order), "201 replayed")
	wantRuns(t, l.stack, "live-1", 1)

	l.update(heads)
	head := order.Key("live-head").Method("HEAD").Body("")
	eventually(t, "the update in force", 60*time.Second, func() bool {
		c.Close()
		return c.Send(t.Context(), head).Header.Get("Idempotency-Status") != ""
	})
	key := "live-head-2"
	one := c.Send(t.Context(), head.Key(key))
	two := c.Send(t.Context(), head.Key(key))
	wantKind(t, "HEAD", one, "201 created")
	wantKind(t, "HEAD again", two, "201 replayed")
	if len(one.Body)+len(two.Body) != 0 || one.Header.Get("X-Shop-Execution") != two.Header.Get("X-Shop-Execution") {
		t.Errorf("%s\n%s", one, two)
	}
	wantRuns(t, l.stack, key, 1)
}
