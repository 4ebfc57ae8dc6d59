package shop

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// piece is how much is written between two flushes of a chunked answer.
const piece = 16 << 10

// pieces holds copy buffers, *[piece]byte.
var pieces = sync.Pool{New: func() any { return new([piece]byte) }}

// answer writes the response that the knobs describe.
func (s *Shop) answer(w http.ResponseWriter, r *http.Request, q *request, out outcome) {
	k := &q.knobs
	switch {
	case k.upgrade:
		s.upgrade(w, r, q)
		return
	case q.route == "/shop.Shop/Order" && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		s.answerGRPC(w, q, out)
		return
	}
	h := w.Header()
	h.Set("X-Shop-Execution", q.id)
	status := statusOf(q, out)
	if out.effect == effectStale {
		h.Set("Idempotency-Outcome", "not-executed")
	}
	if k.events >= 0 {
		s.answerEvents(w, q, status)
		return
	}
	body, size, kind := s.body(q, out)
	h.Set("Content-Type", kind)
	if k.gzip {
		body, size = compress(body)
		h.Set("Content-Encoding", "gzip")
	}
	streamed := k.chunked || len(k.trailers) > 0
	if !streamed && bodyAllowed(status) {
		h.Set("Content-Length", strconv.FormatInt(size, 10))
	}
	s.setLines(h, k)
	w.WriteHeader(status)
	if bodyAllowed(status) && r.Method != http.MethodHead {
		if streamed {
			flush(w)
		}
		if k.fault == half {
			size /= 2
		}
		copyPieces(w, io.LimitReader(body, size), streamed)
	}
	cutIfHalf(w, k)
	setTrailers(h, k)
}

// cutIfHalf ends the stream after what has been written, if the knob says so.
func cutIfHalf(w http.ResponseWriter, k *knobs) {
	if k.fault == half {
		flush(w)
		panic(http.ErrAbortHandler)
	}
}

func flush(w http.ResponseWriter) { http.NewResponseController(w).Flush() }

// copyPieces stops when the caller has left.
func copyPieces(w http.ResponseWriter, body io.Reader, flushed bool) {
	buf := pieces.Get().(*[piece]byte)
	defer pieces.Put(buf)
	for {
		n, err := body.Read(buf[:])
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			if flushed {
				flush(w)
			}
		}
		if err != nil {
			return
		}
	}
}

// bodyAllowed tells whether HTTP lets a response of this status have a body.
func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// statusOf is the knob's status, else what the effect says. A refusal stands
// above the knob: it is what the guard is for.
func statusOf(q *request, out outcome) int {
	switch out.effect {
	case effectStale, effectPaid, effectSoldOut:
		return http.StatusConflict
	case effectNoBuyer:
		return http.StatusBadRequest
	}
	switch {
	case q.knobs.status != 0:
		return q.knobs.status
	case q.method == http.MethodGet:
		return http.StatusOK
	}
	return http.StatusCreated
}

// receipt is the JSON body of an answer.
type receipt struct {
	Execution string `json:"execution"` // unique to the execution
	Route     string `json:"route"`
	Method    string `json:"method"`
	Principal string `json:"principal,omitempty"`
	Fence     int64  `json:"fence,omitempty"`   // Idempotency-Fence as seen
	Attempt   string `json:"attempt,omitempty"` // Idempotency-Attempt as seen
	Effect    string `json:"effect"`
	Order     string `json:"order,omitempty"` // the execution whose effect it is
	State     string `json:"state,omitempty"`
	Payments  int    `json:"payments,omitempty"`
}

func (s *Shop) receipt(q *request, out outcome) []byte {
	r := receipt{
		Execution: q.id, Route: q.route, Method: q.method, Principal: q.principal,
		Fence: q.fence, Attempt: q.attempt,
		Effect: out.effect, State: out.state, Payments: out.payments,
	}
	if out.order != 0 {
		r.Order = s.idOf(out.order)
	}
	b, _ := json.Marshal(r) // no field of it can fail
	return append(b, '\n')
}

// body returns the uncompressed body, its size and its media type.
func (s *Shop) body(q *request, out outcome) (io.Reader, int64, string) {
	k := &q.knobs
	switch {
	case k.hasBody:
		return bytes.NewReader(k.body), int64(len(k.body)), "application/octet-stream"
	case k.bodyBytes >= 0:
		return io.LimitReader(&endless{line: []byte(q.id + "\n")}, k.bodyBytes), k.bodyBytes, "application/octet-stream"
	}
	b := s.receipt(q, out)
	return bytes.NewReader(b), int64(len(b)), "application/json"
}

// endless repeats a line, so that every piece of a long body is unique to its
// execution.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.line[e.at]
		e.at = (e.at + 1) % len(e.line)
	}
	return len(p), nil
}

func compress(body io.Reader) (io.Reader, int64) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.Copy(z, body) // neither end can fail
	z.Close()
	return &b, int64(b.Len())
}

// setLines adds the header lines that the knobs ask for. One of a default
// line's name replaces it; the next of that name appends.
func (s *Shop) setLines(h http.Header, k *knobs) {
	given := make(map[string]bool, len(k.headers))
	for _, l := range k.headers {
		if !given[l.name] {
			h.Del(l.name)
			given[l.name] = true
		}
		h.Add(l.name, l.value)
	}
	if k.headerBytes > 0 {
		h.Set("X-Shop-Fill", strings.Repeat("x", k.headerBytes))
	}
	for i := range k.headerCount {
		n := strconv.Itoa(i)
		h.Set("X-Shop-Line-"+n, n)
	}
	for _, l := range k.trailers {
		// Announced twice, net/http would send it twice over.
		if !slices.Contains(h["Trailer"], l.name) {
			h.Add("Trailer", l.name)
		}
	}
}

// setTrailers sets what setLines announced. It is called after the body.
func setTrailers(h http.Header, k *knobs) {
	for _, l := range k.trailers {
		h.Del(l.name) // a header line of the same name is on its way already
	}
	for _, l := range k.trailers {
		h.Add(l.name, l.value)
	}
}

// answerEvents streams server-sent events, the first one at once.
func (s *Shop) answerEvents(w http.ResponseWriter, q *request, status int) {
	k := &q.knobs
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	s.setLines(w.Header(), k)
	w.WriteHeader(status)
	flush(w)
	n := k.events
	if k.fault == half {
		n /= 2
	}
	for i := range n {
		if i > 0 {
			s.sleep(k.interval)
		}
		if _, err := fmt.Fprintf(w, "id: %d\ndata: {\"execution\":%q,\"event\":%d}\n\n", i+1, q.id, i+1); err != nil {
			return
		}
		flush(w)
	}
	cutIfHalf(w, k)
	setTrailers(w.Header(), k)
}
