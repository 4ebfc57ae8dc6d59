package shop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync/atomic"
)

const (
	// DefaultLogRequests is how many executions are remembered.
	DefaultLogRequests = 200_000
	// DefaultLogBytes bounds the memory of the remembered executions,
	// estimated from the length of what is kept of each.
	DefaultLogBytes = 256 << 20
)

// Options configure a Shop. The zero value has no guard on: the program's
// default, all guards, is [AllGuards].
type Options struct {
	Guards      Guards
	LogRequests int   // 0 means DefaultLogRequests
	LogBytes    int64 // 0 means DefaultLogBytes
}

// Shop is the backend. It is an [http.Handler], safe for concurrent use.
// Served by [Shop.Serve] it plays every fault; behind another server, "rst"
// and the closing faults fall back to what that server does when a handler
// panics with [http.ErrAbortHandler].
type Shop struct {
	run     string // tells this process's executions from an earlier one's
	serial  atomic.Int64
	guards  atomic.Uint32
	log     *log
	db      *database
	answers answers

	compensations compensations

	server  *http.Server
	stopped context.Context // ends delays and upgraded connections
	stop    context.CancelFunc
}

// New returns a Shop with an empty database. Close releases it.
func New(o Options) (*Shop, error) {
	if o.LogRequests == 0 {
		o.LogRequests = DefaultLogRequests
	}
	if o.LogBytes == 0 {
		o.LogBytes = DefaultLogBytes
	}
	db, err := openDatabase()
	if err != nil {
		return nil, err
	}
	var id [4]byte
	rand.Read(id[:])
	s := &Shop{
		run: hex.EncodeToString(id[:]),
		log: newLog(o.LogRequests, o.LogBytes),
		db:  db,
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.SetGuards(o.Guards)
	s.server = s.newServer()
	return s, nil
}

// Guards returns the guards that are on.
func (s *Shop) Guards() Guards { return Guards(s.guards.Load()) }

// SetGuards switches guards for executions that begin from now on.
func (s *Shop) SetGuards(g Guards) { s.guards.Store(uint32(g)) }

// ServeHTTP implements [http.Handler].
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// No ServeMux: it would redirect an unclean path instead of counting it.
	switch r.URL.Path {
	case "/executions":
		s.serveExecutions(w, r)
	case "/guards":
		s.serveGuards(w, r)
	case "/sale":
		s.serveSale(w, r)
	case "/outcome":
		s.serveOutcome(w, r)
	case "/compensations":
		s.serveCompensations(w, r)
	case "/healthz":
		w.WriteHeader(http.StatusOK)
	default:
		s.execute(w, r)
	}
}
