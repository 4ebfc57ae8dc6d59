package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

const bearer = "Bearer "

// authorized compares the presented secret with every configured one in a time
// that depends on neither: digests of equal length are compared, and none is
// skipped after a match.
func (s *Server) authorized(r *http.Request) bool {
	if len(s.secrets) == 0 {
		return true
	}
	lines := r.Header["Authorization"]
	if len(lines) != 1 || len(lines[0]) < len(bearer) || !strings.EqualFold(lines[0][:len(bearer)], bearer) {
		return false
	}
	presented := sha256.Sum256([]byte(lines[0][len(bearer):]))
	match := 0
	for i := range s.secrets {
		match |= subtle.ConstantTimeCompare(presented[:], s.secrets[i][:])
	}
	return match == 1
}
