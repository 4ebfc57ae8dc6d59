package stack

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oncewall/oncewall/filter/rules"
)

// shipped returns the checkout and envoy/envoy.yaml in it.
func shipped(t *testing.T) (root string, c document) {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = readYAML(filepath.Join(root, "envoy/envoy.yaml")); err != nil {
		t.Fatal(err)
	}
	return root, c
}

func find(t *testing.T, c document, path ...any) any {
	t.Helper()
	v := walk(map[string]any(c), path)
	if v == nil {
		t.Fatalf("envoy.yaml has nothing at %v", path)
	}
	return v
}

var (
	hcmPath  = []any{"static_resources", "listeners", listenerName, "filter_chains", 0, "filters", hcmName, "typed_config"}
	wasmPath = append(hcmPath[:len(hcmPath):len(hcmPath)], "http_filters", filterName, "typed_config", "config")
)

func below(path []any, more ...any) []any { return append(path[:len(path):len(path)], more...) }

func TestShippedConfigurationIsValid(t *testing.T) {
	root, _ := shipped(t)
	validate(t, root, "envoy/envoy.yaml")
}

// The patch that envoy/README.md shows is one that Envoy takes.
func TestDocumentedPatchIsValid(t *testing.T) {
	root, _ := shipped(t)
	page, err := os.ReadFile(filepath.Join(root, "envoy/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	patch, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("envoy/README.md shows no patch")
	}
	dir := t.TempDir()
	g := gatewayConfig{
		name: "x", port: 1, adminPort: 2, upstreamPort: 3, bridgePorts: []int{4}, bridgeAdminPorts: []int{5},
		wasm: filepath.Join(root, "build/out/oncewall.wasm"), rules: filepath.Join(root, "testenv/stack/shop.json"),
		patch: filepath.Join(dir, "patch.yaml"),
	}
	if err := os.WriteFile(g.patch, []byte(patch), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := g.build(filepath.Join(root, "envoy/envoy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "envoy.yaml")
	if err := c.write(file); err != nil {
		t.Fatal(err)
	}
	validate(t, root, file)
	names := []string{}
	for _, f := range find(t, c, below(hcmPath, "http_filters")...).([]any) {
		names = append(names, itemName(f))
	}
	if got := strings.Join(names, " "); got != "envoy.filters.http.buffer oncewall envoy.filters.http.router" {
		t.Errorf("filters are %s", got)
	}
}

func validate(t *testing.T, root, file string) {
	t.Helper()
	envoy, err := findEnvoy(context.Background(), Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(envoy, "--mode", "validate", "-c", file, "--log-level", "warning")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, out)
	}
}

func TestShippedPluginConfigurations(t *testing.T) {
	root, c := shipped(t)
	text := find(t, c, below(wasmPath, "configuration", "value")...).(string)
	if _, err := rules.Parse([]byte(text)); err != nil {
		t.Errorf("envoy.yaml: %v", err)
	}
	s := &Stack{}
	var err error
	if s.opts, err = (Options{Root: root}).withDefaults(); err != nil {
		t.Fatal(err)
	}
	s.ports = DefaultPorts()
	if err := s.preflight(); err != nil {
		t.Errorf("defaults of the stack: %v", err)
	}
}

// The plugin checks its caps against what it is told of Envoy, so what it is
// told must be what Envoy is set to.
func TestShippedBufferLimitsAgree(t *testing.T) {
	_, c := shipped(t)
	const limit = uint64(1 << 20)
	upstream := []any{"typed_extension_protocol_options", "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"}
	shop := []any{"static_resources", "clusters", shopCluster}
	for _, path := range [][]any{
		{"static_resources", "listeners", listenerName, "per_connection_buffer_limit_bytes"},
		below(hcmPath, "http2_protocol_options", "initial_stream_window_size"),
		below(shop, "per_connection_buffer_limit_bytes"),
		below(shop, append(upstream, "use_downstream_protocol_config", "http2_protocol_options", "initial_stream_window_size")...),
		{"static_resources", "clusters", batchCluster, "per_connection_buffer_limit_bytes"},
		{"static_resources", "clusters", waitCluster, "per_connection_buffer_limit_bytes"},
	} {
		if got := find(t, c, path...); got != limit {
			t.Errorf("%v is %v, want %d", path, got, limit)
		}
	}
	var plugin struct {
		Envoy struct {
			BufferLimit                 string `json:"buffer_limit"`
			AllowOnHeadersStopIteration bool   `json:"allow_on_headers_stop_iteration"`
		} `json:"envoy"`
	}
	text := find(t, c, below(wasmPath, "configuration", "value")...).(string)
	if err := json.Unmarshal([]byte(text), &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Envoy.BufferLimit != "1MiB" {
		t.Errorf("the plugin is told %q, want 1MiB", plugin.Envoy.BufferLimit)
	}
	if flag := find(t, c, below(wasmPath, "allow_on_headers_stop_iteration")...); flag != true || !plugin.Envoy.AllowOnHeadersStopIteration {
		t.Errorf("allow_on_headers_stop_iteration is %v, the plugin is told %v", flag, plugin.Envoy.AllowOnHeadersStopIteration)
	}
}

func TestShippedSafety(t *testing.T) {
	_, c := shipped(t)
	for _, want := range []struct {
		value any
		path  []any
	}{
		{"FAIL_RELOAD", below(wasmPath, "failure_policy")},
		{"oncewall", below(wasmPath, "vm_config", "vm_id")},
		{true, below(hcmPath, "normalize_path")},
		{true, below(hcmPath, "merge_slashes")},
		{true, below(hcmPath, "use_remote_address")},
	} {
		if got := find(t, c, want.path...); got != want.value {
			t.Errorf("%v is %v, want %v", want.path, got, want.value)
		}
	}
	filters := find(t, c, below(hcmPath, "http_filters")...).([]any)
	if n := len(filters); itemName(filters[n-1]) != "envoy.filters.http.router" || itemName(filters[n-2]) != filterName {
		t.Errorf("the filter is not directly before the router")
	}
	format := find(t, c, below(hcmPath, "access_log", 0, "typed_config", "log_format", "text_format_source", "inline_string")...).(string)
	for _, leak := range []string{"%REQ", "%RESP(", "%PATH", "%QUERY", "%TRAILER"} {
		if strings.Contains(format, leak) {
			t.Errorf("the access log holds %s: keys and principals travel there", leak)
		}
	}
}
