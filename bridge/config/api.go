package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the JSON API's secrets.
const (
	// MaxAPISecrets bounds secrets.api.
	MaxAPISecrets = 16
	maxAPIID      = 64
	maxAllow      = 64
)

// Role is what a caller of the JSON API may do.
type Role string

// The roles. A consumer claims and completes keys of its own on the data
// listener; an operator reads, lists and resolves any record on the admin
// listener. Where no secret has a role, its paths do not exist.
const (
	Consumer Role = "consumer"
	Operator Role = "operator"
)

// APISecret is a bearer secret of the JSON API. Two may have the same ID, while
// one is changed for the other.
type APISecret struct {
	ID     string
	Role   Role
	Allow  []Place // Consumer only; never empty then
	Secret []byte
}

// Place is where a consumer may have keys.
type Place struct {
	Namespace string
	Scope     string // "*": every scope of the namespace
}

// apiSecret is an APISecret as it is read.
type apiSecret struct {
	named
	role  Role
	allow []Place
}

func apiFields(list []apiSecret) []field {
	var t []field
	for i := range list {
		at, n := fmt.Sprintf("secrets.api[%d]", i), &list[i]
		t = append(t, text(at+".id", &n.id), choice(at+".role", &n.role, Consumer, Operator),
			places(at+".allow", &n.allow), text(at+".env", &n.env), text(at+".file", &n.file))
	}
	return t
}

func places(path string, dst *[]Place) field {
	return field{path: path, list: true, read: func(v any) error {
		items, ok := v.([]any)
		if !ok || len(items) == 0 || len(items) > maxAllow {
			return fmt.Errorf("%s: must be a list of 1 to %d namespace/scope", show(v), maxAllow)
		}
		var list []Place
		for _, item := range items {
			s, _ := item.(string)
			namespace, scope, ok := strings.Cut(s, "/")
			if !ok || namespace == "" || scope == "" || namespace == "*" || len(namespace) > wire.MaxScopeBytes || len(scope) > wire.MaxScopeBytes {
				return fmt.Errorf("%s: must be namespace/scope, or namespace/* for every scope", show(item))
			}
			list = append(list, Place{namespace, scope})
		}
		*dst = list
		return nil
	}}
}

// checkAPI resolves secrets.api. It comes after all other secrets, none of which
// may serve here too.
func (r *raw) checkAPI(set map[string]bool, secrets secretReader, rep *report) {
	list := make([]named, len(r.api))
	for i := range r.api {
		list[i] = r.api[i].named
		if at := fmt.Sprintf("secrets.api[%d]", i); !set[at+".id"] && (set[at+".role"] || set[at+".allow"]) && !list[i].set() {
			rep.add(at+".id", "required")
		}
	}
	taken := slices.Clone(r.Secrets)
	for _, n := range r.Naming {
		taken = append(taken, n.Bytes)
	}
	for _, s := range r.Sealing {
		taken = append(taken, s.Bytes)
	}
	before := len(rep.faults)
	found := checkSecretList("secrets.api", list, set, secrets, rep)
	if len(rep.faults) > before {
		return
	}
	roles := map[string]Role{}
	for i, f := range found {
		at, a := fmt.Sprintf("secrets.api[%d]", i), &r.api[i]
		if !validAPIID(a.id) {
			rep.add(at+".id", "%s: must be 1 to %d of A-Z a-z 0-9 . _ -", show(a.id), maxAPIID)
		}
		switch {
		case a.role == "":
			if !set[at+".role"] {
				rep.add(at+".role", "required: %s or %s", Consumer, Operator)
			}
		case a.role == Consumer && !set[at+".allow"]:
			rep.add(at+".allow", "required with role %s: where its keys may be", Consumer)
		case a.role == Operator && set[at+".allow"]:
			rep.add(at+".allow", "only with role %s: an operator sees every record", Consumer)
		}
		if other, ok := roles[a.id]; ok && other != a.role {
			rep.add(at+".role", "%s: id %q has role %s already", show(string(a.role)), a.id, other)
		}
		roles[a.id] = a.role
		switch {
		case len(f.secret) < minBridgeSecret:
			rep.add(at, "%d bytes: must be at least %d", len(f.secret), minBridgeSecret)
		case slices.ContainsFunc(f.secret, func(c byte) bool { return c <= ' ' || c > '~' }):
			rep.add(at, "must be visible ASCII: it travels in a header")
		case slices.ContainsFunc(taken, func(b []byte) bool { return string(b) == string(f.secret) }):
			rep.add(at, "secret %q serves another purpose too: each needs its own", a.id)
		}
		taken = append(taken, f.secret)
		r.API = append(r.API, APISecret{ID: a.id, Role: a.role, Allow: a.allow, Secret: f.secret})
	}
	r.warnAPI()
}

// warnAPI remarks on an operator's secret that crosses a network in clear.
func (r *raw) warnAPI() {
	operator := slices.ContainsFunc(r.API, func(a APISecret) bool { return a.Role == Operator })
	if operator && !isLoopback(r.AdminListen) {
		r.Warnings = append(r.Warnings, "admin_listen: not a loopback address and never TLS: operators' secrets cross the network in clear")
	}
}

func validAPIID(s string) bool {
	if len(s) == 0 || len(s) > maxAPIID {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-'
	})
}
