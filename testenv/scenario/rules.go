package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Rules reads a plugin configuration, dir/name.json, and states in it that the
// filter runs with allow_on_headers_stop_iteration or without.
func Rules(dir, name string, flag bool) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return nil, err
	}
	var c map[string]json.RawMessage
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var envoy map[string]any
	if err := json.Unmarshal(c["envoy"], &envoy); err != nil {
		return nil, fmt.Errorf("%s: envoy: %w", name, err)
	}
	envoy["allow_on_headers_stop_iteration"] = flag
	if c["envoy"], err = json.Marshal(envoy); err != nil {
		return nil, err
	}
	return json.MarshalIndent(c, "", "  ")
}
