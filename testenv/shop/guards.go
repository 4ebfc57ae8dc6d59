package shop

import (
	"fmt"
	"strings"
)

// Guards is a set of the backend's own defences.
type Guards uint32

// The guards; see the package documentation for what each does.
const (
	GuardUnique Guards = 1 << iota
	GuardState
	GuardFence

	NoGuards  Guards = 0
	AllGuards        = GuardUnique | GuardState | GuardFence
)

var guardNames = []struct {
	name  string
	guard Guards
}{
	{"unique", GuardUnique},
	{"state", GuardState},
	{"fence", GuardFence},
}

// ParseGuards reads a comma-separated list of guard names, or "none" or "all".
func ParseGuards(text string) (Guards, error) {
	switch strings.TrimSpace(text) {
	case "none":
		return NoGuards, nil
	case "all":
		return AllGuards, nil
	}
	var g Guards
next:
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		for _, n := range guardNames {
			if n.name == word {
				g |= n.guard
				continue next
			}
		}
		return 0, fmt.Errorf("guards: %q is none of unique, state, fence, all, none", word)
	}
	return g, nil
}

// Names lists the guards of the set; it is empty, not nil, for none.
func (g Guards) Names() []string {
	names := []string{}
	for _, n := range guardNames {
		if g&n.guard != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// String returns the form that ParseGuards reads.
func (g Guards) String() string {
	if g == NoGuards {
		return "none"
	}
	return strings.Join(g.Names(), ",")
}

func (g Guards) has(one Guards) bool { return g&one != 0 }
