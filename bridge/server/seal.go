package server

import (
	"errors"

	"github.com/oncewall/oncewall/bridge/seal"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Why a result could not be opened; indices of unreadableNames.
const (
	malformed  = iota // not an envelope, or not a response in it
	unsealed          // in clear, and refused
	unknownKey        // under a key that is not configured
	forged            // damaged, or another record's
)

var unreadableNames = [...]string{malformed: "malformed", unsealed: "unsealed", unknownKey: "unknown-key", forged: "forged"}

// setResult puts a response into the form in which it is stored. Should sealing
// fail, which takes a broken library, what is stored is that the request has run:
// a result in clear that was to be sealed would be worse than none.
func (s *Server) setResult(out *store.Operation, response []byte) {
	var err error
	if s.cfg.Sealer != nil && !s.cfg.WriteUnsealed {
		out.Result, err = s.cfg.Sealer.Seal(seal.Result, out.Name, response)
	} else {
		envelope := make([]byte, 0, len(response)+3)
		out.Result, err = wire.AppendEnvelope(envelope, wire.Envelope{Seal: wire.SealNone, Payload: response})
	}
	if err != nil {
		s.cfg.Log.Error("a result was not kept", "error", err)
		withoutResult(out)
	}
}

// withoutResult makes a completion one whose result is not kept: repeats are told
// so at once.
func withoutResult(out *store.Operation) {
	out.Kind, out.Result, out.NoResult = wire.Executed, nil, true
}

// open returns the response in a stored result of the record name. false: there
// is none to be had of it, which is counted, and logged once until all open
// again.
func (s *Server) open(name store.Name, stored []byte) ([]byte, bool) {
	e, err := wire.ParseEnvelope(stored)
	response := e.Payload
	switch {
	case err != nil:
	case e.Seal == wire.SealNone && !s.cfg.RefuseUnsealed:
	case s.cfg.Sealer == nil:
		err = seal.ErrUnknownKey
	default:
		response, err = s.cfg.Sealer.Open(seal.Result, name, stored)
	}
	if err == nil && readable(response) {
		s.opening.answered()
		return response, true
	}
	reason := malformed
	switch {
	case errors.Is(err, seal.ErrUnsealed):
		reason = unsealed
	case errors.Is(err, seal.ErrUnknownKey):
		reason = unknownKey
	case errors.Is(err, seal.ErrForged):
		reason = forged
	}
	s.metrics.unreadable[reason].Inc()
	if err == nil {
		err = errors.New("not a response of a version that is served")
	}
	// The id is the store's word; who can write there must not write our log.
	id := e.KeyID
	if !seal.ValidID(id) {
		id = ""
	}
	s.opening.failed(err, "key_id", id)
	return nil, false
}
