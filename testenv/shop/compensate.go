package shop

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// keptCompensations bounds the calls that are remembered.
const keptCompensations = 10_000

// Compensation is one call of POST /compensations.
type Compensation struct {
	At        time.Time `json:"at"`
	Route     string    `json:"route"`
	Principal string    `json:"principal"`
	Key       string    `json:"key"`
	Fence     int64     `json:"fence"`
	Status    int       `json:"status"` // what it was answered with
}

// Compensations is the answer to GET /compensations.
type Compensations struct {
	Count int            `json:"count"`
	Calls []Compensation `json:"calls"` // oldest first
}

// compensations remembers the newest calls.
type compensations struct {
	mu     sync.Mutex
	status int // of the calls to come; 0: 204
	calls  []Compensation
}

// serveCompensations is called by a gateway before it frees a key (POST), and asked
// by who wants to know of it (GET ?key=). PUT ?status= says what calls are answered
// with from then on.
func (s *Shop) serveCompensations(w http.ResponseWriter, r *http.Request) {
	q, c := r.URL.Query(), &s.compensations
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		fence, err := strconv.ParseInt(q.Get("fence"), 10, 64)
		if q.Get("route") == "" || q.Get("key") == "" || err != nil || fence <= 0 {
			http.Error(w, "route, key and fence are needed", http.StatusBadRequest)
			return
		}
		call := Compensation{At: time.Now(), Route: q.Get("route"), Principal: q.Get("principal"), Key: q.Get("key"), Fence: fence, Status: c.status}
		if call.Status == 0 {
			call.Status = http.StatusNoContent
		}
		if c.calls = append(c.calls, call); len(c.calls) > keptCompensations {
			c.calls = c.calls[1:]
		}
		w.WriteHeader(call.Status)
	case http.MethodGet:
		found := Compensations{Calls: []Compensation{}}
		for _, call := range c.calls {
			if call.Key == q.Get("key") {
				found.Calls = append(found.Calls, call)
			}
		}
		found.Count = len(found.Calls)
		writeJSON(w, found)
	case http.MethodPut:
		status, err := number(q.Get("status"), 200, 599)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.status = status
		w.WriteHeader(http.StatusNoContent)
	default:
		notAllowed(w, "GET, POST, PUT")
	}
}
