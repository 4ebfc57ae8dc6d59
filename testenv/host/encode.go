package host

import (
	"slices"
	"strconv"
)

// encoder is the response's way: router, filter, client.
type encoder Stream

// silent says that the filter is not asked about a response: it never heard of
// the stream, or its VM trapped and the stream was answered for that.
func (x *fctx) silent() bool { return !x.created || x.refused }

func (e *encoder) filterHeaders(end bool) headersStatus {
	x := e.f
	if x.silent() {
		return headersContinue
	}
	x.respHeaders, x.end = e.Stream().respHeaders, end
	st := x.headers("proxy_on_response_headers", len(*x.respHeaders), end)
	if st == headersContinue {
		x.respHeaders = nil
	}
	return st
}

// Stream gives the encoder's stream.
func (e *encoder) Stream() *Stream { return (*Stream)(e) }

func (e *encoder) filterData(b *buffer, end bool) dataStatus {
	x := e.f
	if x.silent() {
		return dataContinue
	}
	if x.bufferingResp {
		e.enc.addData(b)
		if x.deleted {
			return dataStopAndBuffer
		}
	}
	x.respBody, x.end, x.staleResp = b, end, false
	v, _ := x.buffer(responseBody)
	st := x.body("proxy_on_response_body", len(v.b), end)
	x.bufferingResp = st == dataStopAndBuffer
	x.staleResp = st == dataStopAndWatermark || st == dataStopNoBuffer
	if st == dataContinue {
		x.respBody = nil
	}
	return st
}

func (e *encoder) filterTrailers() trailersStatus {
	x := e.f
	if x.silent() {
		return trailersContinue
	}
	x.respTrailers = e.enc.trailers
	st := x.trailers("proxy_on_response_trailers", len(*x.respTrailers))
	if st == trailersContinue {
		x.respTrailers = nil
	}
	return st
}

// nextHeaders is the connection manager, whose changes the access log sees, and
// the codec.
func (e *encoder) nextHeaders(end bool) {
	s := e.Stream()
	s.touch()
	s.respSent = true
	m := s.respHeaders
	s.status, _ = strconv.Atoi(m.Get(":status"))
	for _, name := range []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding"} {
		m.Del(name)
	}
	if !m.Has("date") {
		m.Add("date", s.h.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	}
	m.put("server", "envoy")
	if !s.http2 && !s.dec.ended {
		m.Add("connection", "close")
		s.response.Closed = true
	}
	h := m.Clone()
	h.delPseudo()
	s.response.Status = s.status
	bodiless := slices.Contains([]int{204, 304}, s.status) || s.status < 200
	switch {
	case s.http2 || bodiless || h.Has("content-length"):
	case end && !s.head:
		h.Add("content-length", "0")
	default:
		h.Add("transfer-encoding", "chunked")
	}
	s.response.Headers = h
	if s.client != nil {
		s.client.Headers(s.status, h.Clone(), end)
	}
	if end {
		s.complete()
	}
}

func (e *encoder) nextData(b []byte, end bool) {
	s := e.Stream()
	s.touch()
	s.sent += len(b)
	if s.client != nil {
		s.client.Data(b, end)
	} else {
		s.response.Body = append(s.response.Body, b...)
	}
	if end {
		s.complete()
	}
}

func (e *encoder) nextTrailers() {
	s := e.Stream()
	switch {
	case s.http2 && s.client != nil:
		s.client.Trailers(e.enc.trailers.Clone())
	case s.http2:
		s.response.Trailers = e.enc.trailers.Clone()
	case s.client != nil: // HTTP/1 drops them without enable_trailers
		s.client.Data(nil, true)
	}
	s.complete()
}

func (s *Stream) complete() {
	s.response.Complete = true
	s.finish()
}

func (e *encoder) closed() bool { return e.over || e.enc.aborted }

// tooLarge ends a response that the filter buffers beyond the limit: 500 where
// its headers are still held, past the filter; else a reset.
func (e *encoder) tooLarge() {
	e.Stream().localReply(localReply{status: 500, body: "Internal Server Error", details: "response_payload_too_large", grpc: -1})
}

func (e *encoder) holdSource() {
	if e.router != nil {
		e.router.unread++
	}
}

func (e *encoder) releaseSource() {
	if r := e.router; r != nil {
		r.unread--
		e.h.event(r.readInbox)
	}
}

// The router's answers enter the response's way here.

func (s *Stream) routed(x *Exchange) { s.upstreams = append(s.upstreams, x) }

func (s *Stream) attempted(n int) { s.attempts = n }

func (s *Stream) routerReply(r localReply, f Flags) {
	s.flags |= f
	s.localReply(r)
}

func (s *Stream) routerFlags(f Flags) { s.flags |= f }

func (s *Stream) routerHeaders(h Headers, end bool) {
	if s.over {
		return
	}
	s.touch()
	s.details = "via_upstream"
	s.status, _ = strconv.Atoi(h.Get(":status"))
	s.respHeaders = &h
	s.enc.headers(end)
}

func (s *Stream) routerData(b []byte, end bool) {
	if s.over || s.enc.aborted {
		return
	}
	s.touch()
	s.enc.data(&buffer{b: b}, end)
}

func (s *Stream) routerTrailers(t Headers) {
	if s.over || s.enc.aborted {
		return
	}
	s.touch()
	s.enc.trailersArrived(t)
}
