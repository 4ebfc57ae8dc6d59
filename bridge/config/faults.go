package config

import (
	"fmt"
	"strings"
)

// Faults is everything that is wrong with a configuration, in the order of the
// table of fields.
type Faults []string

func (f Faults) Error() string {
	return "config: " + strings.Join(f, "\nconfig: ")
}

// report collects faults on the way through a configuration.
type report struct{ faults Faults }

// add records one fault of the field at path: its cause, value and bound.
func (r *report) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	r.faults = append(r.faults, text)
}

func (r *report) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	return r.faults
}
