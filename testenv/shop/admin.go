package shop

import (
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// Executions is the answer to GET /executions.
type Executions struct {
	Count     int         `json:"count"`
	Effects   int         `json:"effects"`   // of these, how many changed the database
	Forgotten int64       `json:"forgotten"` // dropped so far, of any key; see the package documentation
	Requests  []Execution `json:"requests"`  // oldest first
}

// Execution is one request that reached a handler.
type Execution struct {
	ID         string              `json:"id"`
	At         time.Time           `json:"at"` // when its headers had arrived
	Proto      string              `json:"proto"`
	Method     string              `json:"method"`
	Path       string              `json:"path"` // as received, without the query
	Query      string              `json:"query,omitempty"`
	Headers    map[string][]string `json:"headers"` // by lower-case name
	Trailers   map[string][]string `json:"trailers,omitempty"`
	BodySHA256 string              `json:"body_sha256"`   // hex; empty while the body is on its way
	BodyWhole  bool                `json:"body_complete"` // false: on its way, or broken off
	Effect     string              `json:"effect"`        // empty while running
}

// Find returns what GET /executions does: the executions under a key, a tag,
// or both where neither is empty.
func (s *Shop) Find(key, tag string) Executions {
	found, forgotten := s.log.find(key, tag)
	x := Executions{Count: len(found), Forgotten: forgotten, Requests: make([]Execution, len(found))}
	for i, e := range found {
		if e.effect == effectDone {
			x.Effects++
		}
		x.Requests[i] = Execution{
			ID: s.idOf(e.serial), At: e.at, Proto: e.proto, Method: e.method, Path: e.path, Query: e.query,
			Headers: unpackHeader(e.header), BodySHA256: e.sum, BodyWhole: e.whole, Effect: e.effect,
		}
		if e.trailer != "" {
			x.Requests[i].Trailers = unpackHeader(e.trailer)
		}
	}
	return x
}

func (s *Shop) serveExecutions(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		key, tag := r.URL.Query().Get("key"), r.URL.Query().Get("tag")
		if key == "" && tag == "" {
			http.Error(w, "key or tag is missing", http.StatusBadRequest)
			return
		}
		writeJSON(w, s.Find(key, tag))
	case http.MethodDelete:
		s.log.reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		notAllowed(w, "GET, DELETE")
	}
}

// serveGuards answers the guards that are on; PUT switches them, with a body
// as ParseGuards reads it.
func (s *Shop) serveGuards(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPut:
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1024))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		g, err := ParseGuards(string(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.SetGuards(g)
	case http.MethodGet:
	default:
		notAllowed(w, "GET, PUT")
		return
	}
	writeJSON(w, map[string][]string{"guards": s.Guards().Names()})
}

func notAllowed(w http.ResponseWriter, allow string) {
	w.Header().Set("Allow", allow)
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) // an error here means that the caller left
}
