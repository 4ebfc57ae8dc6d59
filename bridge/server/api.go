package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/naming"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/filter/wire"
)

// What other parts of the bridge use of the server, so that a record has one
// name, one form and one set of bounds whoever asks for it.

// mounts are handlers beside the server's own.
type mounts struct {
	dataPrefix string
	data       http.Handler
	admin      map[string]http.Handler // by prefix
}

// MountData serves paths that begin with prefix by h on the data listener. h
// checks its callers itself. It must be called before Run.
func (s *Server) MountData(prefix string, h http.Handler) {
	s.mounts.dataPrefix, s.mounts.data = prefix, h
}

// MountAdmin is MountData for the admin listener, for paths that begin with prefix
// where that ends in a slash, else for that path. There may be several.
func (s *Server) MountAdmin(prefix string, h http.Handler) {
	if s.mounts.admin == nil {
		s.mounts.admin = map[string]http.Handler{}
	}
	s.mounts.admin[prefix] = h
}

func (m *mounts) onData(path string) http.Handler {
	if m.data == nil || !strings.HasPrefix(path, m.dataPrefix) {
		return nil
	}
	return m.data
}

// Execute carries out a batch as if a filter had sent it and returns a result for
// each operation. It keeps batch's bytes until the store has let go of them, so
// they must not be written to again. ctx only tells whether the caller is there
// still; what is on its way takes effect all the same.
func (s *Server) Execute(ctx context.Context, batch *wire.Batch) []wire.Result {
	j := &job{arrival: time.Now(), batch: *batch}
	s.prepare(j, ctx.Err() != nil)
	replies, _ := s.do(j)
	s.finish(j, replies)
	s.tell(j, replies)
	return j.results
}

// Subject is what names a record.
type Subject struct {
	Namespace string
	Scope     string
	Principal string // encoded, see [wire.EncodePrincipal]
	Key       string
	Issued    bool // the rule wants keys that the gateway issued
	// PreviousScopes are looked at first, as in wire.Policy.
	PreviousScopes string
}

// SubjectError says what is wrong with a Subject, never what it holds.
type SubjectError string

func (e SubjectError) Error() string { return string(e) }

// Name returns the name of a subject's record. Its error is a SubjectError.
func (s *Server) Name(sub Subject) (store.Name, error) {
	for _, fault := range []string{
		checkLength("namespace", len(sub.Namespace), wire.MaxScopeBytes),
		checkLength("scope", len(sub.Scope), wire.MaxScopeBytes),
		checkLength("principal", len(sub.Principal), wire.MaxPrincipalBytes),
		checkLength("key", len(sub.Key), wire.MaxKeyBytes),
		checkPrevious(sub.PreviousScopes),
	} {
		if fault != "" {
			return store.Name{}, SubjectError(fault)
		}
	}
	if sub.Issued {
		p, verdict := s.issuedPlace(sub.Namespace, sub.Scope, sub.PreviousScopes, sub.Principal, sub.Key)
		if verdict != naming.Genuine {
			return store.Name{}, SubjectError("key: not issued to this principal in this scope")
		}
		return p.name, nil
	}
	places := s.places(sub.Namespace, sub.Scope, sub.PreviousScopes, sub.Principal, sub.Key)
	return places[len(places)-1].name, nil
}

var errNoInspector = fmt.Errorf("%w: this store shows no records", store.ErrUnavailable)

// inspector returns the store as one, where it is.
func (s *Server) inspector() (store.Inspector, error) {
	if i, ok := s.cfg.Store.(store.Inspector); ok {
		return i, nil
	}
	return nil, errNoInspector
}

// noted tells the store's health of an inspector's answer.
func (s *Server) noted(err error) error {
	switch {
	case errors.Is(err, store.ErrUnavailable):
		s.health.failed(err)
	case err == nil:
		s.health.answered()
	}
	return err
}

// Get reads a record, and its response where withResult asks for it and it can be
// opened. The record's own Result is left out.
func (s *Server) Get(ctx context.Context, name store.Name, withResult bool) (store.Record, *wire.Response, error) {
	i, err := s.inspector()
	if err != nil {
		return store.Record{}, nil, err
	}
	r, err := i.Get(ctx, name, withResult)
	if s.noted(err) != nil || r.Result == nil {
		return r, nil, err
	}
	stored := r.Result
	r.Result = nil
	if encoded, ok := s.open(name, stored); ok {
		var response wire.Response
		if wire.DecodeResponse(encoded, &response) == nil {
			return r, &response, nil
		}
	}
	r.Kept = false
	return r, nil, nil
}

// Overdue lists unresolved records whose lease is over; see [store.Inspector].
func (s *Server) Overdue(ctx context.Context, cursor string, limit int) ([]store.Entry, string, error) {
	i, err := s.inspector()
	if err != nil {
		return nil, "", err
	}
	list, next, err := i.Overdue(ctx, cursor, limit)
	return list, next, s.noted(err)
}

// Audit returns the entries about a record; see [store.Inspector].
func (s *Server) Audit(ctx context.Context, name store.Name) ([][]byte, error) {
	i, err := s.inspector()
	if err != nil {
		return nil, err
	}
	list, err := i.Audit(ctx, name)
	return list, s.noted(err)
}

// Resolve carries out an operator's decision. response is the answer that a
// Complete records; it is put into the form in which results are stored.
func (s *Server) Resolve(ctx context.Context, r store.Resolution, response *wire.Response) (store.Verdict, error) {
	i, err := s.inspector()
	if err != nil {
		return 0, err
	}
	if response != nil {
		encoded, err := wire.AppendResponse(nil, response)
		if err != nil {
			return 0, err
		}
		op := store.Operation{Kind: wire.Complete, Name: r.Name}
		s.setResult(&op, encoded)
		if r.Result = op.Result; op.Kind != wire.Complete {
			r.Action = store.Execute
		}
	}
	verdict, err := i.Resolve(ctx, r)
	return verdict, s.noted(err)
}
