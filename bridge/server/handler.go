package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// stamp is the value of wire.StampHeader: the newest version served.
var stamp = strconv.Itoa(wire.Version)

// DataHandler answers the filter. It serves POST wire.BatchPath and
// wire.WaitPath, and what MountData added.
func (s *Server) DataHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Set before anything can answer: an answer without it means to the
		// filter that no bridge was reached.
		w.Header().Set(wire.StampHeader, stamp)
		defer func() {
			if v := recover(); v != nil {
				s.cfg.Log.Error("batch handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				s.refuse(w, problem{Title: "internal error", Status: http.StatusInternalServerError})
			}
		}()
		s.route(w, r, time.Now())
	})
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, arrival time.Time) {
	if h := s.mounts.onData(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	if r.URL.Path != wire.BatchPath && r.URL.Path != wire.WaitPath {
		s.refuse(w, problem{Title: "no such path", Status: http.StatusNotFound,
			Detail: "served: POST " + wire.BatchPath + ", POST " + wire.WaitPath})
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, problem{Title: "method not allowed", Status: http.StatusMethodNotAllowed})
		return
	}
	if !s.authorized(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="oncewall"`)
		s.refuse(w, problem{Title: "not authorized", Status: http.StatusUnauthorized,
			Detail: "the Authorization header does not carry the bridge's secret"})
		return
	}
	if r.Header.Get("Content-Type") != wire.ContentType {
		s.refuse(w, problem{Title: "unsupported content type", Status: http.StatusUnsupportedMediaType,
			Detail: "served: " + wire.ContentType})
		return
	}
	if r.URL.Path == wire.WaitPath {
		s.serveWait(w, r, arrival)
		return
	}
	defer s.inFlight.Add(-1)
	if n := s.inFlight.Add(1); n > int64(s.cfg.MaxInFlight) {
		s.refuse(w, problem{Title: "too many batches in flight", Status: http.StatusServiceUnavailable,
			Detail: fmt.Sprintf("max_in_flight is %d", s.cfg.MaxInFlight)})
		return
	}
	s.serveBatch(w, r, arrival)
}

func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request, arrival time.Time) {
	j := newJob(arrival)
	var err error
	j.body, err = readBody(w, r, j.body, s.cfg.MaxBatchBytes)
	if err != nil {
		s.refuse(w, bodyProblem(err, s.cfg.MaxBatchBytes))
		return
	}
	if err := wire.DecodeBatch(j.body, &j.batch); err != nil {
		s.refuse(w, decodeProblem(err))
		return
	}
	s.prepare(j, s.gone(r))
	replies, settled := s.do(j)
	s.finish(j, replies)
	s.pause(r)

	j.out, err = wire.AppendAnswerAs(roomFor(j.out, answerSize(j.results)), wire.VersionOf(j.body), &wire.Answer{Results: j.results})
	if err != nil {
		panic(err) // the encoder fails only beyond 256 MiB
	}
	h := w.Header()
	h.Set("Content-Type", wire.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(j.out)))
	w.WriteHeader(http.StatusOK)
	w.Write(j.out)
	s.metrics.batch(len(j.results), time.Since(arrival))
	s.tell(j, replies)
	if settled {
		j.recycle()
	}
}

// pause sleeps the fault tests' delay.
func (s *Server) pause(r *http.Request) {
	if s.cfg.Delay <= 0 {
		return
	}
	select {
	case <-time.After(s.cfg.Delay):
	case <-r.Context().Done():
	}
}

// readBody reads the whole body into buf's storage. It trusts a stated length
// only as far as one read: memory grows with what really arrives.
func readBody(w http.ResponseWriter, r *http.Request, buf []byte, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return buf, &http.MaxBytesError{Limit: limit}
	}
	const first = 64 << 10
	buf = roomFor(buf, r.ContentLength+1)
	if want := min(r.ContentLength+1, first); int64(cap(buf)) < want {
		buf = make([]byte, 0, want)
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(buf) == cap(buf) {
			size := 2*len(buf) + first
			if left := int(r.ContentLength) + 1 - len(buf); left > 0 && len(buf)+left < 2*size {
				size = len(buf) + left
			}
			buf = append(make([]byte, 0, size), buf...)
		}
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

func bodyProblem(err error, limit int64) problem {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return problem{Title: "batch too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("max_batch_bytes is %d", limit)}
	}
	return problem{Title: "batch cut short", Status: http.StatusBadRequest}
}

func decodeProblem(err error) problem {
	var version *wire.VersionError
	if errors.As(err, &version) {
		return problem{Title: "batch version not served", Status: http.StatusBadRequest,
			Detail: fmt.Sprintf("version %d was sent", version.Got), Versions: servedVersions}
	}
	// The decoder's own text may quote what it met; it stays here.
	return problem{Title: "not a batch", Status: http.StatusBadRequest}
}
