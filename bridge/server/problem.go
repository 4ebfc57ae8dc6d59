package server

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/oncewall/oncewall/filter/wire"
)

// problem is an RFC 9457 document for the filter's operator. Its texts are
// fixed strings and numbers of the server's own.
type problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Versions lists the batch versions served, where another one was sent.
	Versions []int `json:"versions,omitempty"`
}

// servedVersions lists the versions of batches that are read.
var servedVersions = []int{wire.PreviousVersion, wire.Version}

func (s *Server) refuse(w http.ResponseWriter, p problem) {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and ints always marshal
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	w.Write(body)
	s.metrics.request(p.Status)
}
