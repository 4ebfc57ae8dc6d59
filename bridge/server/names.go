package server

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// A record is named under a naming secret and a scope, and both may change while
// it lives. named is one name that it may have.
type named struct {
	key  *naming.Key
	name store.Name
}

// places returns the names that the record of a client key may have, the earliest
// first: under each secret that is in use, the previous scopes from the oldest on
// (policy lists the newest first) and the scope of now. A record that is nowhere is
// made at the last.
func (s *Server) places(namespace, scope, previous, principal, key string) []named {
	keys := s.cfg.Keys.Clients(s.cfg.Now().Add(s.cfg.ClockOffset))
	if len(keys) == 1 && previous == "" {
		return []named{{keys[0], keys[0].Name(namespace, scope, principal, key)}}
	}
	scopes := []string{scope}
	if previous != "" {
		scopes = append(scopes, strings.Split(previous, ",")...)
		slices.Reverse(scopes)
	}
	list := make([]named, 0, len(keys)*len(scopes))
	for _, k := range keys {
		for _, scope := range scopes {
			list = append(list, named{k, k.Name(namespace, scope, principal, key)})
		}
	}
	return list
}

// issuedPlace returns the name of an issued key's record. It never changes: the
// key says under which secret and for which scope it was issued.
func (s *Server) issuedPlace(namespace, scope, previous, principal, key string) (named, naming.Verdict) {
	checked := s.cfg.Keys.Check(namespace, scope, principal, key)
	for checked.Verdict == naming.Foreign && previous != "" {
		scope, previous, _ = strings.Cut(previous, ",")
		checked = s.cfg.Keys.Check(namespace, scope, principal, key)
	}
	if checked.Verdict != naming.Genuine {
		return named{}, checked.Verdict
	}
	return named{checked.Key, checked.Key.Name(namespace, scope, principal, key)}, naming.Genuine
}

// address makes out an operation on the record at p: all that is bound to its name
// is made anew.
func (s *Server) address(out *store.Operation, namespace string, op *wire.Operation, p named) {
	out.Name = p.name
	out.Fingerprint = p.key.Fingerprint(p.name, op.Fingerprint)
	out.Next, out.NextLife, out.Void = nil, 0, false
	switch op.Kind {
	case wire.Claim, wire.Executed, wire.Complete, wire.Unknown:
		out.Caller = p.key.Caller(namespace, op.Principal)
	}
	s.identify(out, namespace, op)
	if out.Kind == wire.Complete {
		s.setResult(out, op.Result)
	}
}

// towards lets an operation at from be sent on to to where there is no record.
func towards(out *store.Operation, from, to named) {
	out.Next = to.key.Link(from.name, to.name)
	p := out.Policy
	life := time.Duration(max(p.TTLMS, out.TTL.Milliseconds())+p.TombstoneMS+p.LeaseMS) * time.Millisecond
	out.NextLife = life + life/4 + 3*MaxBudget
}

// checkPrevious returns what is wrong with a policy's previous scopes, or nothing.
func checkPrevious(list string) string {
	if list == "" {
		return ""
	}
	scopes := strings.Split(list, ",")
	if len(scopes) > wire.MaxPreviousScopes {
		return fmt.Sprintf("policy previous scopes: %d: must be at most %d", len(scopes), wire.MaxPreviousScopes)
	}
	for i, scope := range scopes {
		if fault := checkLength("policy previous scope", len(scope), wire.MaxScopeBytes); fault != "" {
			return fault
		}
		if slices.Contains(scopes[:i], scope) {
			return "policy previous scopes: one is there twice"
		}
	}
	return ""
}
