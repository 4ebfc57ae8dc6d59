package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Rules reads a plugin configuration, dir/name.json, and states in it that the
// filter runs with allow_on_headers_stop_iteration or without. Without, its rules
// compare no bodies, and those that look for their keys there are left out: the
// filter would refuse them.
func Rules(dir, name string, flag bool) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return nil, err
	}
	var c map[string]any
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	envoy, ok := c["envoy"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: envoy is missing", name)
	}
	envoy["allow_on_headers_stop_iteration"] = flag
	if !flag {
		c["rules"] = withoutBodies(c["rules"])
	}
	return json.MarshalIndent(c, "", "  ")
}

// withoutBodies are the rules that need no request bodies, changed so that they
// do not.
func withoutBodies(rules any) (kept []any) {
	list, _ := rules.([]any)
	for _, r := range list {
		rule, _ := r.(map[string]any)
		key, _ := rule["key"].(map[string]any)
		if names(key["from"], "json") || names(key["from"], "form") {
			continue
		}
		fingerprint := map[string]any{"body": "none"}
		if old, ok := rule["fingerprint"].(map[string]any); ok && old["headers"] != nil {
			fingerprint["headers"] = old["headers"]
		}
		rule["fingerprint"] = fingerprint
		kept = append(kept, rule)
	}
	return kept
}

// names reports whether a member of the name is anywhere in v.
func names(v any, name string) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if names(e, name) {
				return true
			}
		}
	case map[string]any:
		for n, e := range v {
			if n == name || names(e, name) {
				return true
			}
		}
	}
	return false
}
