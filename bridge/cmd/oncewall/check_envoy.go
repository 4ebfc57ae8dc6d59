package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	goyaml "github.com/goccy/go-yaml"

	"github.com/oncewall/oncewall/bridge/config"
	"github.com/oncewall/oncewall/filter/rules"
)

// pluginFile is a plugin configuration and what its surroundings say.
type pluginFile struct {
	cfg *rules.Config
	// fromEnvoy is set where it was found in an Envoy file, whose
	// allow_on_headers_stop_iteration is then known.
	fromEnvoy      bool
	stopsIteration bool
	around         surroundings
	routes         routing
}

// readPlugin reads a plugin configuration: JSON, or the one in an Envoy YAML
// file. The second value is all of its faults.
func readPlugin(name string) (*pluginFile, []string) {
	b, err := readBounded(name)
	if err != nil {
		return nil, []string{err.Error()}
	}
	f := &pluginFile{}
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
		f.fromEnvoy = true
		if b, err = f.inEnvoy(b); err != nil {
			return nil, []string{err.Error()}
		}
	}
	if f.cfg, err = rules.Parse(b); err == nil {
		return f, nil
	}
	var all *rules.Error
	if !errors.As(err, &all) {
		return nil, []string{err.Error()}
	}
	return nil, strings.Split(all.Error(), "\n")
}

const (
	// maxFileBytes bounds a file that is looked at. Envoy's own are far smaller.
	maxFileBytes = 16 << 20
	// maxValues bounds the values of an Envoy file, each alias counted as all that it
	// stands for.
	maxValues = 1_000_000
)

// readBounded reads a file of at most maxFileBytes.
func readBounded(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		err = fmt.Errorf("file: must be at most %s", sized(maxFileBytes))
	}
	return b, err
}

// within reports whether a decoded document has no more values than left.
func within(v any, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if !within(inner, left) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !within(inner, left) {
				return false
			}
		}
	}
	return true
}

// inEnvoy returns the configuration text of the one Oncewall filter in an Envoy
// file, and notes what stands around it.
func (f *pluginFile) inEnvoy(b []byte) (text []byte, err error) {
	if err := config.CheckCost(b); err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	var document any
	if err := goyaml.Unmarshal(b, &document); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("envoy: not YAML: %s", line)
	}
	// Aliases share what they stand for: a few lines may hold more than can be walked.
	if left := maxValues; !within(document, &left) {
		return nil, fmt.Errorf("envoy: more than %d values, aliases resolved", maxValues)
	}
	f.around, f.routes = surroundingsOf(document), routingOf(document)
	var found []map[string]any
	walkMaps(document, func(m map[string]any) {
		if _, ok := m["vm_config"]; ok && m["configuration"] != nil {
			found = append(found, m)
		}
	})
	if len(found) != 1 {
		return nil, fmt.Errorf("envoy: %d Wasm filters with a configuration: want 1", len(found))
	}
	f.stopsIteration, _ = found[0]["allow_on_headers_stop_iteration"].(bool)
	config, _ := found[0]["configuration"].(map[string]any)
	kind, _ := config["@type"].(string)
	value := config["value"]
	switch {
	case strings.HasSuffix(kind, "google.protobuf.StringValue"):
		if s, ok := value.(string); ok {
			return []byte(s), nil
		}
	case strings.HasSuffix(kind, "google.protobuf.Struct"):
		if text, err := json.Marshal(value); err == nil && value != nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("envoy: configuration: @type %q: want a StringValue or a Struct with a value", kind)
}

// walkMaps calls f for every mapping in a decoded document.
func walkMaps(v any, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(v)
		for _, inner := range v {
			walkMaps(inner, f)
		}
	case []any:
		for _, inner := range v {
			walkMaps(inner, f)
		}
	}
}
