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
	read, _ := readings(path)
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
)

// NearMiss is a rule that does not decide a request although its path covers it.
type NearMiss struct {
	Rule *Rule
	Miss Miss
}

// NearMisses lists the rules that a request nearly met, in the order of the file.
// It asks the matcher itself, rule by rule: it is for tools, not for requests.
func (c *Config) NearMisses(method, path string) []NearMiss {
	met := c.Match(method, path)
	var out []NearMiss
	for _, r := range c.Rules {
		if r == met {
			continue
		}
		anyMethod, enforcing := *r, *r
		anyMethod.Match.Methods = []string{method}
		enforcing.Mode = Enforce
		switch {
		case r.meets(method, path):
			out = append(out, NearMiss{r, MissLonger})
		case anyMethod.meets(method, path):
			out = append(out, NearMiss{r, MissMethod})
		case enforcing.meets(method, path): // it is one with mode off, then
			out = append(out, NearMiss{r, MissSpelling})
		}
	}
	return out
}

// meets reports whether a request would meet the rule if it were the only one.
func (r *Rule) meets(method, path string) bool {
	one := Config{index: newIndex([]*Rule{r})}
	return one.Match(method, path) != nil
}
