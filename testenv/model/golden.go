package model

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// golden.txt is what the runs must show at DefaultMax, a line a run: the number
// of states, whether all were visited, the promises found broken, the name.
// `model -record` writes it; read the difference.
//
//go:embed golden.txt
var golden string

// GoldenHeader is the first line of golden.txt.
const GoldenHeader = "# states | visited | promises broken | run\n"

// An Expectation is what a run must show at DefaultMax.
type Expectation struct {
	States  int
	Bounded bool
	Broken  string // names of promises, sorted
}

// Expected reads golden.txt.
func Expected() (map[string]Expectation, error) {
	out := map[string]Expectation{}
	for line := range strings.Lines(golden) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		if len(parts) != 4 {
			return nil, fmt.Errorf("golden.txt: %q: %d columns, want 4", line, len(parts))
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		states, err := strconv.Atoi(parts[0])
		if err != nil {
			return nil, fmt.Errorf("golden.txt: %q: %w", line, err)
		}
		if _, twice := out[parts[3]]; twice {
			return nil, fmt.Errorf("golden.txt: %q: twice", parts[3])
		}
		out[parts[3]] = Expectation{states, parts[1] == "bounded", parts[2]}
	}
	return out, nil
}

// GoldenLine is the line of golden.txt for r.
func GoldenLine(name string, r *Report) string {
	return fmt.Sprintf("%8d | %-8s | %-36s | %s\n", r.States, visited(r.Bounded), r.Names(), name)
}

func visited(bounded bool) string {
	if bounded {
		return "bounded"
	}
	return "all"
}

// Compare says in what r differs from the expectation; "" is nothing. A run that
// was bounded, then or now, is compared only where both had the same bound:
// elsewhere what it shows depends on where it stopped.
func (e Expectation) Compare(r *Report, limit int) string {
	if (e.Bounded || r.Bounded) && limit != DefaultMax {
		return ""
	}
	if got := r.Names(); got != e.Broken {
		return fmt.Sprintf("broken [%s], want [%s]", got, e.Broken)
	}
	if r.Bounded != e.Bounded || !e.Bounded && r.States != e.States {
		return fmt.Sprintf("%d states (%s), want %d (%s)", r.States, visited(r.Bounded), e.States, visited(e.Bounded))
	}
	return ""
}
