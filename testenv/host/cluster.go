package host

import (
	"strconv"
	"time"
)

// Cluster is a scripted upstream: of the route, of HTTP callouts or of gRPC
// callouts. The zero value accepts requests and never answers; the test answers
// them by [Host.Pending] or [Stream.Upstream].
type Cluster struct {
	// Handle is called for each attempt once its request has ended.
	Handle func(*Exchange)
	// HandleHeaders is called for each attempt when its headers arrive.
	HandleHeaders func(*Exchange)
	// Live takes the cluster's exchanges as they happen; Handle and HandleHeaders
	// are not called then.
	Live Live
	// HTTP2 makes the cluster speak HTTP/2: a body's last chunk carries its end,
	// a reset is remote_reset.
	HTTP2 bool
	// NoHosts leaves it without a healthy host (UH).
	NoHosts bool
	// Refuse refuses connections (UF).
	Refuse bool
	// MaxRequests is the circuit breaker: how many may be in flight; 0 means 1024.
	MaxRequests int
	// BufferLimit is the largest chunk read at once; 0 means DefaultBufferLimit.
	BufferLimit int
	// Metadata is the cluster's metadata: namespace, key, value.
	Metadata map[string]map[string]any

	active int
}

// Answer is a cluster that answers each request at once with a status and a
// body of text.
func Answer(status int, body string) *Cluster {
	return &Cluster{Handle: func(x *Exchange) {
		x.Respond(status, H("content-type", "text/plain"), []byte(body))
	}}
}

// Exchange is one attempt of a request at a cluster, as the cluster sees it.
type Exchange struct {
	// Cluster is the cluster's name.
	Cluster string
	// Callout is false for a request of a client that the route sent here.
	Callout bool
	// Attempt counts from 1.
	Attempt int
	// Headers, Body and Trailers are what has arrived so far; Ended says that the
	// request is complete.
	Headers  Headers
	Body     []byte
	Trailers Headers
	Ended    bool
	// Aborted says that Envoy gave the attempt up: a reset is on the wire. An
	// answer to it is dropped.
	Aborted bool

	h     *Host
	c     *Cluster
	sink  exchangeSink
	began bool // answer headers were given
	over  bool // the answer has ended, or is reset
	gone  bool // out of the circuit breaker's count
	open  bool // the live cluster knows it
	held  hold
}

// exchangeSink is Envoy's side of an exchange.
type exchangeSink interface {
	upstreamHeaders(x *Exchange, h Headers, end bool)
	upstreamData(x *Exchange, b []byte, end bool)
	upstreamTrailers(x *Exchange, h Headers)
	upstreamReset(x *Exchange, reason ResetReason)
}

// ResetReason says how an upstream ended an exchange without an answer.
type ResetReason int

const (
	// ConnectFailure: the connection was refused or timed out. The request was
	// not sent.
	ConnectFailure ResetReason = iota
	// ConnectionTermination: the connection was closed (UC).
	ConnectionTermination
	// RemoteReset: HTTP/2 RST_STREAM (UR).
	RemoteReset
	// RemoteRefused: HTTP/2 RST_STREAM with REFUSED_STREAM; not processed.
	RemoteRefused
	// ProtocolError: what arrived is no HTTP, or a body cut short on HTTP/1 (UPE).
	ProtocolError
	overflow
)

// Respond answers completely. A content-length is added as a server would.
func (x *Exchange) Respond(status int, h Headers, body []byte) {
	h = h.Clone()
	if !h.Has("content-length") && !h.Has("transfer-encoding") && status != 204 && status != 304 {
		h.Add("content-length", strconv.Itoa(len(body)))
	}
	bodiless := len(body) == 0 || x.Headers.Get(":method") == "HEAD"
	x.SendHeaders(status, h, bodiless)
	if !bodiless {
		x.Send(body, true)
	}
}

// SendHeaders begins the answer; end says that it has neither body nor trailers.
func (x *Exchange) SendHeaders(status int, h Headers, end bool) {
	all := append(Headers{{":status", strconv.Itoa(status)}}, h...)
	x.event(func() {
		x.began, x.over = true, end
		x.leave(end)
		x.sink.upstreamHeaders(x, all, end)
	})
}

// Send sends a part of the answer's body, in chunks of at most the cluster's
// buffer limit, on HTTP/2 of a frame. HTTP/1 tells of the end apart from the
// last bytes.
func (x *Exchange) Send(b []byte, end bool) {
	limit := orDefault(x.c.BufferLimit, DefaultBufferLimit)
	if x.c.HTTP2 {
		limit = min(limit, frameBytes)
	}
	for len(b) > limit {
		x.data(b[:limit], false)
		b = b[limit:]
	}
	if end && !x.c.HTTP2 {
		if len(b) > 0 {
			x.data(b, false)
		}
		b = nil
	}
	x.data(b, end)
}

func (x *Exchange) data(b []byte, end bool) {
	b = append([]byte(nil), b...)
	x.event(func() {
		x.over = end
		x.leave(end)
		x.sink.upstreamData(x, b, end)
	})
}

// SendTrailers ends the answer with trailers. HTTP/1 upstreams' trailers are
// dropped, as without enable_trailers; the body then ends.
func (x *Exchange) SendTrailers(h Headers) {
	if !x.c.HTTP2 {
		x.Send(nil, true)
		return
	}
	x.event(func() {
		x.over = true
		x.leave(true)
		x.sink.upstreamTrailers(x, h.Clone())
	})
}

// Reset ends the exchange without (the rest of) an answer.
func (x *Exchange) Reset(reason ResetReason) {
	x.event(func() {
		x.over = true
		x.leave(true)
		x.sink.upstreamReset(x, reason)
	})
}

// After calls f when d has passed on the virtual clock.
func (x *Exchange) After(d time.Duration, f func()) { x.h.After(d, f) }

// event makes f an event of Envoy's loop, dropped if the exchange is over then.
func (x *Exchange) event(f func()) {
	x.h.event(func() {
		if !x.Aborted && !x.over {
			f()
		}
	})
}

// leave takes the exchange out of the circuit breaker's count.
func (x *Exchange) leave(yes bool) {
	if yes && !x.gone {
		x.gone = true
		x.c.active--
		x.h.forget(x)
		x.held.set(false, nil, nil)
	}
}

// abort is Envoy's reset of the attempt.
func (x *Exchange) abort() {
	if !x.over && !x.Aborted {
		x.Aborted = true
		x.leave(true)
		if x.open {
			x.c.Live.Abort(x)
		}
	}
}

func orDefault(n, d int) int {
	if n == 0 {
		return d
	}
	return n
}

// Messages are the messages of a gRPC request's body so far.
func (x *Exchange) Messages() [][]byte {
	messages, _ := splitMessages(x.Body)
	return messages
}

// SendMessage sends a gRPC message.
func (x *Exchange) SendMessage(b []byte) { x.Send(frame(b), false) }
