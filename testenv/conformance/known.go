package conformance

import "strings"

// KnownDifference is a difference that remains, and why.
type KnownDifference struct {
	// ID names it in docs/conformance.md.
	ID string
	// Scenario is where it shows; a name, or a prefix with a star.
	Scenario string
	// Version is the version of Envoy in which it shows; "" is all.
	Version string
	// Section is where in the record; a prefix.
	Section string
	// Host and Envoy are the lines, or a part of each; "" is no line.
	Host, Envoy string
	// Reason is why the host does otherwise.
	Reason string
}

func (k KnownDifference) matches(d Difference) bool {
	part := func(line, want string) bool {
		return want == "" && line == "" || want != "" && strings.Contains(line, want)
	}
	name := d.Scenario == k.Scenario
	if prefix, ok := strings.CutSuffix(k.Scenario, "*"); ok {
		name = strings.HasPrefix(d.Scenario, prefix)
	}
	return name && strings.HasPrefix(d.Section, k.Section) && part(d.Host, k.Host) && part(d.Envoy, k.Envoy)
}

// knownSet counts which known differences have shown.
type knownSet struct {
	all   []KnownDifference
	found []bool
}

func newKnown(version string) *knownSet {
	s := &knownSet{}
	for _, k := range Known {
		if k.Version == "" || k.Version == version {
			s.all = append(s.all, k)
		}
	}
	s.found = make([]bool, len(s.all))
	return s
}

func (s *knownSet) explains(d Difference) bool {
	for i, k := range s.all {
		if k.matches(d) {
			s.found[i] = true
			return true
		}
	}
	return false
}

// stale are those that did not show though a scenario of theirs was run.
func (s *knownSet) stale(run []*Scenario) []KnownDifference {
	var stale []KnownDifference
	for i, k := range s.all {
		ran := false
		for _, sc := range run {
			ran = ran || k.matchesName(sc.Name)
		}
		if ran && !s.found[i] {
			stale = append(stale, k)
		}
	}
	return stale
}

func (k KnownDifference) matchesName(name string) bool {
	prefix, ok := strings.CutSuffix(k.Scenario, "*")
	return ok && strings.HasPrefix(name, prefix) || name == k.Scenario
}

// Known are the differences that remain.
var Known = []KnownDifference{}
