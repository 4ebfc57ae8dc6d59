package server

import (
	"context"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of a search for a caller's records.
const (
	// findMost is how many records one page of a search looks at, and findTime for
	// how long it does about.
	findMost = 5000
	findTime = 4 // seconds
	// DefaultFindRate is how many it looks at in a second where the caller says
	// nothing; MinFindRate and MaxFindRate bound what may be said.
	DefaultFindRate = 20_000
	MinFindRate     = 200
	MaxFindRate     = 1_000_000
)

var errNoEraser = fmt.Errorf("%w: this store erases nothing", store.ErrUnavailable)

func (s *Server) eraser() (store.Eraser, error) {
	if e, ok := s.cfg.Store.(store.Eraser); ok {
		return e, nil
	}
	return nil, errNoEraser
}

// Erase forgets a record; see [store.Eraser].
func (s *Server) Erase(ctx context.Context, e store.Erasure) (store.Erased, error) {
	i, err := s.eraser()
	if err != nil {
		return 0, err
	}
	what, err := i.Erase(ctx, e)
	return what, s.noted(err)
}

// FindCaller looks for the records of a principal (encoded, see
// [wire.EncodePrincipal]) in a namespace, under every naming secret that is
// configured; see [store.Eraser].
func (s *Server) FindCaller(ctx context.Context, namespace, principal, cursor string, rate int) (store.Page, error) {
	for _, fault := range []string{
		checkLength("namespace", len(namespace), wire.MaxScopeBytes),
		checkLength("principal", len(principal), wire.MaxPrincipalBytes),
	} {
		if fault != "" {
			return store.Page{}, SubjectError(fault)
		}
	}
	i, err := s.eraser()
	if err != nil {
		return store.Page{}, err
	}
	var callers [][]byte
	for _, k := range s.cfg.Keys.Keys() {
		callers = append(callers, k.Caller(namespace, principal))
	}
	page, err := i.Find(ctx, callers, cursor, min(findMost, findTime*rate), rate)
	return page, s.noted(err)
}

// onTheWay is how long an answer of the bridge may be on its way to a worker.
const onTheWay = 5 * time.Second

// Forgotten is when no worker answers any more from its own memory what was erased
// at now: a worker remembers a finished key for [wire.MemoryLife] from when it was
// told at the latest.
func Forgotten(now time.Time) time.Time { return now.Add(wire.MemoryLife + onTheWay) }
