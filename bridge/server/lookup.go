package server

import (
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// wireStates are a record's states as a Get tells them.
var wireStates = [...]wire.State{
	store.Issued: wire.StateIssued, store.Released: wire.StateReleased, store.Processing: wire.StateProcessing,
	store.Unknown: wire.StateUnknown, store.Executed: wire.StateExecuted, store.Completed: wire.StateCompleted,
}

// openFound opens the result of a record that was looked up, unless the caller's
// rule hands none out. One that does not open is not there.
func (s *Server) openFound(out *wire.Result, op *store.Operation, r *store.Reply) {
	if len(r.Result) == 0 || op.Policy.RejectRepeat {
		return
	}
	if result, ok := s.open(op.Name, r.Result); ok {
		out.Result = result
	}
}
