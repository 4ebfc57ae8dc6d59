package stack

import (
	"fmt"
	"os"

	"github.com/goccy/go-yaml"
)

// document is a configuration file as plain maps and lists.
type document map[string]any

// readYAML reads a YAML file that holds one map.
func readYAML(file string) (document, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseYAML(file, b)
}

// parseYAML is readYAML for bytes; name is for errors.
func parseYAML(name string, b []byte) (document, error) {
	var c document
	if err := yaml.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(c) == 0 {
		return nil, fmt.Errorf("%s: holds no map", name)
	}
	return c, nil
}

// write stores the configuration as YAML that only the user can read.
func (c document) write(file string) error {
	b, err := yaml.Marshal(map[string]any(c))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, b, 0o600)
}

// at follows keys, names of list items and indices to a map. A path that is not
// there is an error: the file that was read is not the one we know.
func (c document) at(path ...any) (map[string]any, error) {
	v := walk(map[string]any(c), path)
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("configuration: nothing at %v", path)
	}
	return m, nil
}

func walk(v any, path []any) any {
	for _, step := range path {
		switch s := step.(type) {
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		case string:
			if l, ok := v.([]any); ok {
				i := indexOf(l, s)
				if i < 0 {
					return nil
				}
				v = l[i]
				continue
			}
			m, _ := v.(map[string]any)
			v = m[s]
		}
	}
	return v
}

// set gives m's member a value, at a path below c.
func (c document) set(value any, path ...any) error {
	last := len(path) - 1
	m, err := c.at(path[:last]...)
	if err != nil {
		return err
	}
	m[path[last].(string)] = value
	return nil
}

// clone copies maps and lists all the way down.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for k, e := range v {
			c[k] = clone(e)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, e := range v {
			c[i] = clone(e)
		}
		return c
	default:
		return v
	}
}
