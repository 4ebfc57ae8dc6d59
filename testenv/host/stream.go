package host

import (
	"net"
	"strconv"
	"strings"
	"time"
)

// Request is what a client sends.
type Request struct {
	// Method, Path, Authority and Scheme default to GET, /, example.com, http.
	Method, Path, Authority, Scheme string
	// NoAuthority leaves an empty Authority empty, as that of a "Host:" line.
	NoAuthority bool
	Headers     Headers
	// Body is sent after the headers, in chunks of at most the buffer limit;
	// content-length is added where it is missing.
	Body []byte
	// Trailers end the body. HTTP/1 listeners drop them, as without
	// enable_trailers.
	Trailers Headers
	// Open leaves the request open after what is given here: Send goes on.
	Open bool
	// HTTP2 makes the client speak HTTP/2, HTTP10 HTTP/1.0, which gets 426.
	HTTP2, HTTP10 bool
	// Client takes the response as it is sent; Stream.Response stays without a
	// body then.
	Client Client
	// ClientAddress is the client's address and port as filters see it; "" means
	// an address kept for documents.
	ClientAddress string
}

// Stream is one request and its response, from its client's side.
type Stream struct {
	h *Host
	w *Worker
	f *fctx // nil where the filter is bypassed

	http2, http10 bool
	head, grpc    bool
	refused       bool // its connection header names what it may not
	conn          uint64
	began         time.Duration
	reqHeaders    Headers
	respHeaders   *Headers // nil until there is a response
	respSent      bool     // its headers have reached the client
	respHeld      *localReply
	dec, enc      path
	router        *router
	attempts      int
	details       string
	detailed      bool // there are details, empty ones perhaps
	flags         Flags
	status        int // response code of stream info; 0: none yet
	state         map[string][]byte
	over          bool
	idle          *timer
	reqBytes      int
	upstreams     []*Exchange
	inbox         []func() // what the client sent while it was not read
	unread        int      // how often reading was switched off
	client        Client   // may be nil
	clientAddress string
	sent          int // bytes of the response's body
	held          hold

	response Response
}

// Response is what a client has received so far.
type Response struct {
	// Status is 0 as long as no headers came.
	Status  int
	Headers Headers
	// Body holds every byte on the wire, also those behind a 204 that should have
	// none.
	Body     []byte
	Trailers Headers
	// Complete says that the response has ended properly.
	Complete bool
	// Reset says why it has not: the connection was closed (HTTP/1) or the stream
	// reset (HTTP/2).
	Reset string
	// Closed says that an HTTP/1 connection is closed after this response, since
	// the request had not arrived whole.
	Closed bool
}

// Request sends a request as far as r has it.
func (w *Worker) Request(r Request) *Stream {
	s := &Stream{h: w.h, w: w, http2: r.HTTP2, http10: r.HTTP10, head: r.Method == "HEAD", state: map[string][]byte{},
		client: r.Client, clientAddress: r.ClientAddress}
	s.dec = path{side: (*decoder)(s), s: s}
	s.enc = path{side: (*encoder)(s), s: s}
	s.dec.streaming, s.enc.streaming = true, true
	s.reqHeaders = s.requestHeaders(r)
	whole := !r.Open && r.Body == nil && r.Trailers == nil
	w.h.event(func() { s.begin(whole) })
	if whole {
		return s
	}
	last := !r.Open && r.Trailers == nil
	if len(r.Body) > 0 || last {
		s.Send(r.Body, last)
	}
	if r.Trailers != nil {
		s.SendTrailers(r.Trailers)
	}
	return s
}

func (s *Stream) requestHeaders(r Request) Headers {
	or := func(v, d string) string {
		if v == "" {
			return d
		}
		return v
	}
	authority, path := r.Authority, or(r.Path, "/")
	if !r.NoAuthority {
		authority = or(authority, "example.com")
	}
	method, scheme := or(r.Method, "GET"), or(r.Scheme, "http")
	h := H(":authority", authority, ":path", path, ":method", method, ":scheme", scheme)
	if r.HTTP2 { // in the order of the client, say curl's
		h = H(":method", method, ":path", path, ":scheme", scheme, ":authority", authority)
	}
	for _, p := range r.Headers {
		h.Add(p[0], p[1])
	}
	if r.Body != nil && !r.Open && r.Trailers == nil && !h.Has("content-length") && !h.Has("transfer-encoding") {
		h.Add("content-length", strconv.Itoa(len(r.Body)))
	}
	if crumbs := h.Values("cookie"); r.HTTP2 && len(crumbs) > 0 {
		h.Set("cookie", strings.Join(crumbs, "; ")) // the codec's work
	}
	s.refused = !r.HTTP2 && !nominated(&h)
	for _, name := range clientMayNot {
		h.Del(name)
	}
	if h.Get("expect") == "100-continue" {
		h.Del("expect") // answered by Envoy
	}
	if s.h.o.UseRemoteAddress {
		for _, name := range outsiderMayNot {
			h.Del(name)
		}
		h.Add("x-forwarded-for", s.clientHost())
		h.put("x-forwarded-proto", scheme)
		h.put("x-envoy-external-address", s.clientHost())
	}
	if !h.Has("x-forwarded-proto") {
		h.Add("x-forwarded-proto", scheme)
	}
	h.put(":scheme", h.Get("x-forwarded-proto"))
	if !h.Has("x-request-id") || s.h.o.UseRemoteAddress {
		h.put("x-request-id", s.h.uuid())
	}
	return h
}

// clientMayNot are the headers that the connection manager removes from every
// client that is not internal, outsiderMayNot those that an edge removes besides.
var (
	clientMayNot = []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "x-forwarded-client-cert",
		"x-envoy-internal", "x-envoy-expected-rq-timeout-ms", "x-envoy-retry-on", "x-envoy-retry-grpc-on", "x-envoy-max-retries",
		"x-envoy-retriable-status-codes", "x-envoy-retriable-header-names", "x-envoy-upstream-alt-stat-name",
		"x-envoy-upstream-rq-timeout-ms", "x-envoy-upstream-rq-per-try-timeout-ms", "x-envoy-upstream-rq-timeout-alt-response",
		"x-envoy-force-trace", "x-envoy-ip-tags", "x-envoy-original-url", "x-envoy-hedge-on-per-try-timeout"}
	outsiderMayNot = []string{"x-envoy-original-path", "x-envoy-decorator-operation", "x-envoy-downstream-service-cluster",
		"x-envoy-downstream-service-node"}
)

// maxHeaderBytes and maxHeaders bound a request's headers.
const (
	maxHeaderBytes = 60 << 10
	maxHeaders     = 100
)

// clientIP is the address of a client without another: one of those kept for
// documents.
const clientIP = "192.0.2.1"

func (s *Stream) clientHost() string {
	if host, _, err := net.SplitHostPort(s.clientAddress); err == nil {
		return host
	}
	return clientIP
}

func (s *Stream) begin(end bool) {
	h := s.h
	h.conns++
	s.conn, s.began = h.conns, h.now
	ct := s.reqHeaders.Get("content-type")
	s.grpc = ct == "application/grpc" || len(ct) > 16 && ct[:17] == "application/grpc+"
	s.w.streams = append(s.w.streams, s)
	s.f = s.w.handle(s)
	s.touch()
	if r := s.refusal(); r != nil {
		s.answer(r)
		return
	}
	if h.o.Earlier != nil {
		if r := h.o.Earlier(s.reqHeaders); r != nil {
			s.dec.ended = end
			s.answer(r)
			return
		}
	}
	s.dec.headers(end)
}

// answer is the local reply of another filter.
func (s *Stream) answer(r *Reply) {
	s.flags |= r.Flags
	s.localReply(localReply{status: r.Status, headers: r.Headers, body: r.Body, details: r.Details, grpc: -1})
}

// Send sends a part of the request's body. HTTP/1 tells of the end apart from
// the last bytes.
func (s *Stream) Send(b []byte, end bool) {
	most := s.h.o.BufferLimit
	if s.http2 {
		most = frameBytes
	}
	for len(b) > most {
		s.chunk(b[:most], false)
		b = b[most:]
	}
	if end && !s.http2 {
		if len(b) > 0 {
			s.chunk(b, false)
		}
		b = nil
	}
	s.chunk(b, end)
}

// frameBytes is the largest DATA frame of HTTP/2.
const frameBytes = 16 << 10

// limit is the buffer limit of either way.
func (s *Stream) limit() int {
	if s.http2 {
		return s.h.o.StreamWindow
	}
	return s.h.o.BufferLimit
}

func (s *Stream) chunk(b []byte, end bool) {
	b = append([]byte(nil), b...)
	s.input(func() {
		s.reqBytes += len(b)
		s.dec.data(&buffer{b: b}, end)
	})
}

// SendTrailers ends the request with trailers; on HTTP/1 they are dropped.
func (s *Stream) SendTrailers(t Headers) {
	if !s.http2 {
		s.Send(nil, true)
		return
	}
	t = t.Clone()
	s.input(func() { s.dec.trailersArrived(t) })
}

// input is something the client sent; it waits while Envoy does not read.
func (s *Stream) input(f func()) {
	s.h.event(func() {
		switch {
		case s.over:
		case s.unread > 0 || len(s.inbox) > 0:
			s.inbox = append(s.inbox, f)
		default:
			s.touch()
			f()
		}
	})
}

func (s *Stream) readInbox() {
	for len(s.inbox) > 0 && s.unread == 0 && !s.over {
		f := s.inbox[0]
		s.inbox = s.inbox[1:]
		s.touch()
		f()
	}
}

// Reset is the client giving the request up: RST_STREAM on HTTP/2 (DR), the
// connection closed on HTTP/1 (DC).
func (s *Stream) Reset() {
	if !s.http2 {
		s.Disconnect()
		return
	}
	s.goes("http2.remote_reset", FlagDownstreamRemoteReset)
}

// Disconnect is the client's connection closed (DC), whatever it speaks.
func (s *Stream) Disconnect() { s.goes("downstream_remote_disconnect", FlagDownstreamDisconnect) }

func (s *Stream) goes(details string, f Flags) {
	s.h.event(func() {
		if !s.over {
			s.details, s.flags = details, s.flags|f
			s.reset("client gone")
		}
	})
}

// reset ends the stream without a proper end of the response.
func (s *Stream) reset(why string) {
	if !s.over {
		s.response.Reset = why
		if s.client != nil {
			s.client.Reset(why)
		}
		s.finish()
	}
}

// touch restarts the idle timeout.
func (s *Stream) touch() {
	if d := s.h.o.StreamIdleTimeout; d > 0 {
		s.h.stopTimer(s.idle)
		s.idle = s.h.setTimer(d, s.idled)
	}
}

func (s *Stream) idled() {
	if s.over {
		return
	}
	s.flags |= FlagStreamIdleTimeout
	status := 408
	if s.dec.ended {
		status = 504
	}
	s.localReply(localReply{status: status, body: "stream timeout", details: "stream_idle_timeout", grpc: -1})
}

// finish ends the stream: proxy_on_log, proxy_on_done, proxy_on_delete.
func (s *Stream) finish() {
	if s.over {
		return
	}
	s.over = true
	s.h.stopTimer(s.idle)
	for i, t := range s.w.streams {
		if t == s {
			s.w.streams = append(s.w.streams[:i:i], s.w.streams[i+1:]...)
			break
		}
	}
	if x := s.f; x != nil && x.vm != nil {
		x.log()
		if x.created {
			x.done()
			x.delete()
		}
	}
	if s.router != nil {
		s.router.abort()
	}
}

// Response is what the client has so far.
func (s *Stream) Response() Response { return s.response }

// Upstream is the last attempt that reached the route's cluster; nil where none
// did.
func (s *Stream) Upstream() *Exchange {
	if len(s.upstreams) == 0 {
		return nil
	}
	return s.upstreams[len(s.upstreams)-1]
}

// Attempts are all of them.
func (s *Stream) Attempts() []*Exchange { return s.upstreams }

// Done says that the stream has ended, either way.
func (s *Stream) Done() bool { return s.over }

// Details are the response code details of the access log.
func (s *Stream) Details() string { return s.details }

// Flags are the response flags of the access log.
func (s *Stream) Flags() Flags { return s.flags }

// Code is the response code of the access log: 0 where none was sent.
func (s *Stream) Code() int { return s.status }

// ContextID is the id by which the filter knows the stream; 0 where it does not.
func (s *Stream) ContextID() uint32 {
	if s.f == nil {
		return 0
	}
	return s.f.id
}

// FilterState is a value of the stream's filter state: "wasm.decision".
func (s *Stream) FilterState(name string) ([]byte, bool) {
	b, ok := s.state[name]
	return b, ok
}
