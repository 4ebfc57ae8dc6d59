package host

import (
	"fmt"
	"strconv"
	"strings"
)

// localReply is a response made in Envoy.
type localReply struct {
	status  int
	headers Headers
	body    string
	details string
	grpc    int // -1: from the status
}

// localReply answers the stream from inside Envoy: through the filter's own
// response callbacks while there is no response yet, straight to the client
// while a response is held, by a reset once its headers are out.
func (s *Stream) localReply(r localReply) {
	if s.over {
		return
	}
	if s.dec.running > 0 {
		s.dec.aborted = true
	} else if s.enc.running > 0 {
		s.enc.aborted = true
	}
	s.details, s.detailed = r.details, true
	switch {
	case s.respHeaders == nil && s.dec.running > 0:
		if s.respHeld == nil {
			s.respHeld = &r // until the callback has returned
		}
	case s.respHeaders == nil:
		s.viaFilter(r)
	case !s.respSent:
		s.direct(r)
	default:
		s.reset("local reply after the response began")
	}
}

// sendPrepared sends the reply that a callback of the request asked for.
func (s *Stream) sendPrepared() {
	if r := s.respHeld; r != nil && !s.over {
		s.respHeld = nil
		s.viaFilter(*r)
	}
}

func (s *Stream) viaFilter(r localReply) {
	h, body := s.build(r)
	s.respHeaders, s.status = &h, r.status
	s.enc.headers(body == "")
	if body != "" && !s.over && !s.enc.aborted {
		s.enc.data(&buffer{b: []byte(body)}, true)
	}
}

// direct answers past the filter; what was held of another response is lost.
func (s *Stream) direct(r localReply) {
	h, body := s.build(r)
	s.respHeaders = &h
	s.enc.aborted = true
	e := (*encoder)(s)
	e.nextHeaders(body == "")
	if body != "" {
		e.nextData([]byte(body), true)
	}
}

// build makes the headers and the body that is sent. Nothing is validated.
func (s *Stream) build(r localReply) (Headers, string) {
	h := Headers{{":status", strconv.Itoa(r.status)}}
	for _, p := range r.headers {
		h.Add(p[0], p[1])
	}
	h.put(":status", strconv.Itoa(r.status))
	if s.grpc {
		h.put(":status", "200")
		h.put("content-type", "application/grpc")
		if !h.Has("grpc-status") {
			code := r.grpc
			if code < 0 {
				code = grpcStatus(r.status)
			}
			h.put("grpc-status", strconv.Itoa(code))
		}
		if r.body != "" && !s.head {
			h.put("grpc-message", percentEncode(r.body))
		}
		h.Del("content-length")
		return h, ""
	}
	if r.body == "" {
		h.Del("content-length")
		h.Del("content-type")
		return h, ""
	}
	h.put("content-length", strconv.Itoa(len(r.body)))
	if !h.Has("content-type") {
		h.put("content-type", "text/plain")
	}
	if s.head {
		return h, ""
	}
	return h, r.body
}

// grpcStatus maps an HTTP status as the gRPC protocol says.
func grpcStatus(status int) int {
	switch status {
	case 400:
		return 13
	case 401:
		return 16
	case 403:
		return 7
	case 404:
		return 12
	case 429, 502, 503, 504:
		return 14
	}
	return 2
}

// percentEncode writes grpc-message: all but printable ASCII, and %, as %XX.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// spacesToUnderscores makes response code details fit for access logs.
func spacesToUnderscores(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\v\f\r", r) {
			return '_'
		}
		return r
	}, s)
}
