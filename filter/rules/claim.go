package rules

import (
	"slices"
	"strings"
)

// claimReference decodes a reference token of a JSON pointer (RFC 6901 section 4).
var claimReference = strings.NewReplacer("~1", "/", "~0", "~")

// ClaimPath returns the names that lead to a claim: what is between the dots, or of
// one that begins with "/" those of a JSON pointer, for names with dots in them
// ("/https:~1~1id.example~1tenant").
func ClaimPath(claim string) []string {
	if !strings.HasPrefix(claim, "/") {
		return strings.Split(claim, ".")
	}
	names := strings.Split(claim[1:], "/")
	for i := range names {
		names[i] = claimReference.Replace(names[i])
	}
	return names
}

// checkClaim refuses a claim that no token can have.
func (p *parser) checkClaim(at string, n *node) {
	switch {
	case !n.good():
	case strings.HasPrefix(n.text, "/") && !isPointer(n.text):
		p.add(at, n, `begins with "/" and is no JSON pointer: "~" stands before 0 or 1`)
	case slices.Contains(ClaimPath(n.text), ""):
		p.add(at, n, "has an empty name between dots or slashes")
	}
}
