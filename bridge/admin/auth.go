package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

const bearer = "Bearer "

// known returns whose secret r presents, among callers with the role. Digests of
// equal length are compared and none is skipped after a match, so the time tells
// nothing.
func (a *API) known(r *http.Request, operator bool) (Caller, bool) {
	lines := r.Header["Authorization"]
	if len(lines) != 1 || len(lines[0]) < len(bearer) || !strings.EqualFold(lines[0][:len(bearer)], bearer) {
		return Caller{}, false
	}
	presented := sha256.Sum256([]byte(lines[0][len(bearer):]))
	found := -1
	for i := range a.callers {
		equal := subtle.ConstantTimeCompare(presented[:], a.callers[i].digest[:])
		role := 0
		if a.callers[i].Operator == operator {
			role = 1
		}
		found = subtle.ConstantTimeSelect(equal&role, i, found)
	}
	if found < 0 {
		return Caller{}, false
	}
	return a.callers[found].Caller, true
}

// allows reports whether a consumer may have keys there.
func (c *Caller) allows(namespace, scope string) bool {
	for _, p := range c.Allow {
		if p.Namespace == namespace && (p.Scope == "*" || p.Scope == scope) {
			return true
		}
	}
	return false
}
