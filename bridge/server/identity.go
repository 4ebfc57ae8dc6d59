package server

import (
	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// identify adds to an operation who and what its record is about, where a backend
// may have to be asked about it. Should sealing fail, which takes a broken
// library, the record is made without: it then waits for the operator.
func (s *Server) identify(out *store.Operation, namespace string, op *wire.Operation) {
	if s.cfg.Asked == nil || op.Kind != wire.Claim && op.Kind != wire.Unknown || !s.cfg.Asked(namespace, op.Scope) {
		return
	}
	sealed, err := s.cfg.Sealer.SealSubject(out.Name, seal.Subject{
		Namespace: namespace, Scope: op.Scope, Principal: op.Principal, Key: op.Key,
	})
	if err != nil {
		s.cfg.Log.Error("a record was made without its identity: no backend can be asked about it", "error", err)
		return
	}
	out.Identity = sealed
}
