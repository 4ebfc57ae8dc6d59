package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	goyaml "github.com/goccy/go-yaml"
)

// Options is what a configuration is read from.
type Options struct {
	// YAML is the file's content; empty: every field has its default.
	YAML []byte
	// Environ has the form of os.Environ.
	Environ []string
	// Dev is --dev.
	Dev bool
	// ReadFile reads secrets; default os.ReadFile.
	ReadFile func(name string) ([]byte, error)
}

// Load reads and checks a configuration. Its error is a [Faults].
func Load(o Options) (*Config, error) {
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	r, rep := defaults(), &report{}
	r.Dev = o.Dev
	env := environment(o.Environ)
	table := r.table()
	set := map[string]bool{}
	read := func(f field, v any) {
		set[f.path] = true
		if err := f.read(v); err != nil {
			rep.add(f.path, "%v", err)
		}
	}

	leaves := parse(o.YAML, table, rep)
	for _, f := range table {
		// The variable wins; the value that it hides is not judged.
		if s := env[envName(f.path)]; s != "" {
			read(f, fromEnv(f, s))
		} else if v, ok := leaves[f.path]; ok {
			read(f, v)
		}
	}
	r.devKnobs(env, rep)
	r.check(set, env, o.ReadFile, rep)
	r.warn(env, table)
	if err := rep.err(); err != nil {
		return nil, err
	}
	return &r.Config, nil
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

func fromEnv(f field, s string) any {
	if !f.list {
		return s
	}
	var items []any
	for item := range strings.SplitSeq(s, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return items
}

// parse flattens a YAML document into its leaves by path. A path that the table
// does not know is a fault.
func parse(data []byte, table []field, rep *report) map[string]any {
	leaves := map[string]any{}
	if len(data) > MaxBytes {
		rep.add("", "the file has %d bytes: must be at most %d", len(data), MaxBytes)
		return leaves
	}
	if err := CheckCost(data); err != nil {
		rep.add("", "%v", err)
		return leaves
	}
	decoder := goyaml.NewDecoder(strings.NewReader(string(data)), goyaml.UseOrderedMap())
	var document any
	if err := decoder.Decode(&document); err != nil {
		if !errors.Is(err, io.EOF) {
			rep.add("", "not YAML: %v", firstLine(err))
		}
		return leaves
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		rep.add("", "more than one YAML document")
	}
	flatten("", document, table, leaves, rep)
	return leaves
}

// firstLine drops the excerpt of the file from a decoder's error.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func flatten(path string, v any, table []field, leaves map[string]any, rep *report) {
	if slices.ContainsFunc(table, func(f field) bool { return f.path == path }) {
		leaves[path] = v
		return
	}
	if path != "" && !slices.ContainsFunc(table, func(f field) bool {
		return strings.HasPrefix(f.path, path+".") || strings.HasPrefix(f.path, path+"[")
	}) {
		rep.add(path, "unknown field")
		return
	}
	switch v := v.(type) {
	case nil:
	case goyaml.MapSlice:
		for _, item := range v {
			flatten(join(path, fmt.Sprint(item.Key)), item.Value, table, leaves, rep)
		}
	case []any:
		most, ok := lists[path]
		if !ok {
			rep.add(path, "a list: must be a mapping")
			return
		}
		if len(v) > most {
			rep.add(path, "%d entries: must be at most %d", len(v), most)
			return
		}
		for i, item := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), item, table, leaves, rep)
		}
	default:
		if strings.HasPrefix(path, "secrets") {
			// The value may be the secret itself.
			rep.add(path, "must be a mapping with env or file: a secret never stands in this file")
			return
		}
		rep.add(path, "%s: must be a mapping", show(v))
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
