package rules

import (
	"slices"
	"strings"
)

// NormalPaths returns the ways in which the matcher reads a path, the common one
// first, each in normal form and once. A path that is in normal form has one.
// path is Envoy's :path.
func NormalPaths(path string) []string {
	path = cutQuery(path)
	if isNormal(path) {
		return []string{trimSlash(path)}
	}
	var out []string
	read, _ := readings(path, false)
	for _, r := range read {
		if text := "/" + strings.Join(r.resolved, "/"); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Miss says why a rule whose path covers a request does not decide it.
type Miss uint8

// The reasons.
const (
	MissLonger   Miss = iota + 1 // another rule has a longer path, or stands before this one
	MissMethod                   // the rule does not name the request's method
	MissSpelling                 // mode off, and not everyone reads the path alike
	MissHost                     // the rule is for another host
	MissHeader                   // a header that the rule asks for is not there, or is another
	MissReading                  // another reading of the path meets another rule
)

// NearMiss is a rule that does not decide a request although its path covers it.
type NearMiss struct {
	Rule *Rule
	Miss Miss
}

// NearMisses lists the rules that a request nearly met, in the order of the file.
// It asks the matcher itself, rule by rule: it is for tools, not for requests.
func (c *Config) NearMisses(h Head) []NearMiss {
	met := c.Select(h)
	var out []NearMiss
	for _, r := range c.Rules {
		if r == met {
			continue
		}
		if m := r.miss(h); m != 0 {
			if m == MissLonger && met == Ambiguous {
				m = MissReading
			}
			out = append(out, NearMiss{r, m})
		}
	}
	return out
}

// miss takes one condition after the other from the rule, until it is met.
func (r *Rule) miss(h Head) Miss {
	if r.meets(h) {
		return MissLonger
	}
	for _, less := range []struct {
		miss Miss
		drop func(*Rule)
	}{
		{MissMethod, func(o *Rule) { o.Match.Methods = []string{h.Method} }},
		{MissSpelling, func(o *Rule) { o.Mode = Enforce }},
		{MissHeader, func(o *Rule) { o.Match.Headers = nil }},
		{MissHost, func(o *Rule) { o.Match.Hosts = nil }},
	} {
		one := *r
		if less.drop(&one); one.meets(h) {
			return less.miss
		}
	}
	return 0
}

// meets reports whether a request would meet the rule if it were the only one.
func (r *Rule) meets(h Head) bool {
	one := Config{table: newTable([]*Rule{r})}
	return one.Select(h) != nil
}
