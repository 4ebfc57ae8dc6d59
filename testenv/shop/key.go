package shop

import (
	"encoding/json"
	"net/http"
	"strings"
)

// headerKey returns the key in the first Idempotency-Key line: the characters
// of an RFC 8941 string, or a bare value as it stands. Empty means none.
func headerKey(h http.Header) string {
	v := strings.Trim(h.Get("Idempotency-Key"), " \t")
	if len(v) < 2 || v[0] != '"' {
		return v
	}
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		switch c := v[i]; c {
		case '"':
			return b.String() // parameters may follow; they are no part of the key
		case '\\':
			if i++; i < len(v) {
				b.WriteByte(v[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return v // never closed: not a string, so taken as it stands
}

// keyInBody tells whether a route's key is read from the JSON body.
func keyInBody(route string) bool {
	return route == "/transfers" || route == "/callbacks/psp"
}

// bodyKey returns the key in the body of a route for which keyInBody holds;
// empty if the body does not have it.
func bodyKey(route string, body []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return ""
	}
	if route == "/transfers" {
		return scalar(m["transfer_id"])
	}
	kind, id := scalar(m["type"]), scalar(m["id"])
	if kind == "" || id == "" {
		return ""
	}
	return kind + ":" + id
}

// scalar returns a JSON string's characters or a number's digits as sent.
func scalar(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if c := raw[0]; c == '-' || '0' <= c && c <= '9' {
		return string(raw)
	}
	return ""
}

// routes are the prefixes that have an entry in the demo's rules.
var routes = []string{"/orders", "/payments", "/bookings", "/checkout", "/refunds", "/transfers", "/uploads", "/callbacks/psp", "/notes", "/shop.Shop/Order"}

// routeOf names the route that a path belongs to, "/" for any other. Keys of
// different routes are different keys.
func routeOf(path string) string {
	for _, r := range routes {
		if rest, ok := strings.CutPrefix(path, r); ok && (rest == "" || rest[0] == '/') {
			return r
		}
	}
	return "/"
}
