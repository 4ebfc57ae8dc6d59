package conformance

import "regexp"

// KnownDifference is a difference that remains, and why. The texts but ID and
// Reason are regular expressions.
type KnownDifference struct {
	// ID names it in docs/conformance.md.
	ID string
	// Version is the version of Envoy in which it shows; "" is all.
	Version string
	// Scenario and Section are where it shows. Scenario matches the whole name.
	Scenario, Section string
	// Host and Envoy are the lines of the two. No line is the empty text.
	Host, Envoy string
	// Reason is why the host does otherwise.
	Reason string
}

// knownSet counts which known differences have shown.
type knownSet struct {
	all   []compiled
	found []bool
}

type compiled struct {
	KnownDifference
	scenario, section, host, envoy *regexp.Regexp
}

func newKnown(version string, all []KnownDifference) *knownSet {
	s := &knownSet{}
	for _, k := range all {
		if k.Version == "" || k.Version == version {
			s.all = append(s.all, compiled{k, regexp.MustCompile("^(" + k.Scenario + ")$"), regexp.MustCompile(k.Section),
				regexp.MustCompile(k.Host), regexp.MustCompile(k.Envoy)})
		}
	}
	s.found = make([]bool, len(s.all))
	return s
}

func (s *knownSet) explains(d Difference) bool {
	for i, k := range s.all {
		if k.scenario.MatchString(d.Scenario) && k.section.MatchString(d.Section) && k.host.MatchString(d.Host) && k.envoy.MatchString(d.Envoy) {
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
			ran = ran || k.scenario.MatchString(sc.Name)
		}
		if ran && !s.found[i] {
			stale = append(stale, k.KnownDifference)
		}
	}
	return stale
}
