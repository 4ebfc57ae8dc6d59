package shop

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// keptBody is how much of a request body is kept to look for a key or an
// order in it. The digest covers all of it.
const keptBody = 1 << 20

// request is one execution on its way.
type request struct {
	*execution
	id        string // unique to the execution, over restarts too
	route     string
	principal string
	fence     int64 // 0 means the request carried none
	attempt   string
	body      []byte // at most keptBody
	knobs     knobs
}

// execute plays one execution. The order is: close-before and refused; count;
// early answer; body; delay; effect; close-after and rst; answer.
func (s *Shop) execute(w http.ResponseWriter, r *http.Request) {
	k, knobErr := parseKnobs(r.Header)
	if knobErr == nil && (k.fault == closeBefore || k.fault == refused) {
		io.Copy(io.Discard, r.Body) // a close over unread bytes would be a reset
		s.abort(r, k.fault)
	}
	q := s.begin(r)
	q.knobs = k
	if knobErr != nil {
		s.log.finished(q.execution, effectNone)
		http.Error(w, knobErr.Error(), http.StatusBadRequest)
		return
	}
	if k.early != 0 {
		w.Header().Set("Link", "</shop.css>; rel=preload")
		w.WriteHeader(k.early)
		w.Header().Del("Link")
	}
	if err := s.readBody(q, r); err != nil {
		s.log.finished(q.execution, effectNone)
		http.Error(w, "the request body broke off", http.StatusBadRequest)
		return
	}
	s.sleep(k.delay)

	out, err := s.perform(q, r)
	if err != nil {
		s.log.finished(q.execution, effectNone)
		status := http.StatusInternalServerError
		if errors.Is(err, errFence) {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	s.keep(q, out)
	s.log.finished(q.execution, out.effect)
	if k.fault == closeAfter || k.fault == rst {
		s.abort(r, k.fault)
	}
	s.answer(w, r, q, out)
}

// perform applies the effect, if the method has one. A GET of an order reads
// its state.
func (s *Shop) perform(q *request, r *http.Request) (out outcome, err error) {
	if q.fence, err = fenceOf(r.Header); err != nil {
		return out, err
	}
	switch q.method {
	case http.MethodGet:
		out.effect = effectNone
		out.order, out.state, out.payments = s.db.order(s.orderIn(strings.TrimPrefix(q.path, "/orders/")))
		return out, nil
	case http.MethodHead:
		return outcome{effect: effectNone}, nil
	}
	if out, err = s.apply(q); err != nil {
		return out, err
	}
	return out, s.db.prune()
}

// begin counts the request.
func (s *Shop) begin(r *http.Request) *request {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	e := &execution{
		serial: s.serial.Add(1),
		at:     time.Now(),
		method: r.Method,
		path:   path,
		query:  query,
		proto:  r.Proto,
		tag:    r.Header.Get("X-Shop-Tag"),
	}
	q := &request{
		execution: e,
		id:        s.idOf(e.serial),
		route:     routeOf(r.URL.Path),
		principal: r.Header.Get("X-User-Id"),
		attempt:   r.Header.Get("Idempotency-Attempt"),
	}
	if !keyInBody(q.route) {
		e.key = headerKey(r.Header)
	}
	// net/http takes these two out of the header map.
	extra := []string{"host", r.Host}
	for _, coding := range r.TransferEncoding {
		extra = append(extra, "transfer-encoding", coding)
	}
	e.header = packHeader(r.Header, extra...)
	s.log.begin(e)
	return q
}

// readBody reads the body to its end, or until it breaks off, and notes it.
func (s *Shop) readBody(q *request, r *http.Request) error {
	sum := sha256.New()
	var kept bytes.Buffer
	buf := pieces.Get().(*[piece]byte)
	defer pieces.Put(buf)
	_, err := io.CopyBuffer(io.MultiWriter(sum, &head{&kept}), r.Body, buf[:])
	q.body = kept.Bytes()
	key := q.key
	if keyInBody(q.route) {
		if key = bodyKey(q.route, q.body); key == "" {
			key = headerKey(r.Header)
		}
	}
	s.log.bodyRead(q.execution, key, digest(sum), packHeader(r.Trailer), err == nil)
	return err
}

func digest(h hash.Hash) string { return hexSum(h.Sum(nil)) }

// head keeps the first keptBody bytes written to it and discards the rest.
type head struct{ *bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), keptBody-h.Len())])
	return len(p), nil
}

var errFence = errors.New("idempotency-fence: no number from 0 to 2^63-1")

// fenceOf reads Idempotency-Fence. Absent and 0 are the same: no claim was
// granted for this request.
func fenceOf(h http.Header) (int64, error) {
	v := h.Get("Idempotency-Fence")
	if v == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, errFence
	}
	return n, nil
}

// sleep waits for d, or until the shop closes.
func (s *Shop) sleep(d time.Duration) {
	if d == 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.stopped.Done():
		panic(http.ErrAbortHandler)
	}
}

// abort ends the exchange without an answer; it does not return. On HTTP/2 the
// closing faults close the connection, and with it every stream on it.
func (s *Shop) abort(r *http.Request, f fault) {
	if c := connOf(r.Context()); c != nil {
		switch {
		case f == rst && r.ProtoMajor == 1:
			// Discards what is unsent and resets instead of closing in order.
			if tcp, ok := c.Conn.(*net.TCPConn); ok {
				tcp.SetLinger(0)
			}
		case (f == closeBefore || f == closeAfter) && r.ProtoMajor == 2:
			c.Close()
		}
	}
	panic(http.ErrAbortHandler)
}
