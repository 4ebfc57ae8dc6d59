package host

// Live is a cluster that takes a request as it arrives: one behind a real
// connection. Its methods are called on the host's goroutine, in the order of
// the exchange's events, and must not block. It answers by the methods of
// [Exchange], later or at once.
type Live interface {
	// Open begins an exchange: its headers are there, Exchange.Body stays empty.
	Open(x *Exchange)
	// Data is a part of the request's body; b is the callee's.
	Data(x *Exchange, b []byte)
	// End says that the request is complete. Exchange.Trailers may be there now.
	End(x *Exchange)
	// Abort is Envoy's reset of an exchange whose answer has not ended.
	Abort(x *Exchange)
}

// Client takes a response as Envoy sends it: one behind a real connection. Its
// methods are called on the host's goroutine and must not block. A response
// ends with an end, with Trailers or with Reset.
type Client interface {
	Headers(status int, h Headers, end bool)
	// Data is a part of the body; b is the callee's.
	Data(b []byte, end bool)
	Trailers(t Headers)
	// Reset ends the response without its end: an HTTP/1 connection is closed, an
	// HTTP/2 stream reset.
	Reset(why string)
}

// hold is one reason not to read the other side, which may be set and lifted.
type hold struct{ lift func() }

func (o *hold) set(on bool, hold, release func()) {
	switch {
	case on && o.lift == nil:
		hold()
		o.lift = release
	case !on && o.lift != nil:
		lift := o.lift
		o.lift = nil
		lift()
	}
}

// Hold says whether the cluster takes no more of the request for now. As long as
// it does not, Envoy does not read the client. A callout is not held.
func (x *Exchange) Hold(on bool) {
	x.h.event(func() {
		r, _ := x.sink.(*router)
		if r == nil {
			return
		}
		s, ok := r.owner.(*Stream)
		if !ok || on && (x.Aborted || x.over) {
			return
		}
		x.held.set(on, (*decoder)(s).holdSource, (*decoder)(s).releaseSource)
	})
}

// Reading says that Envoy has taken all of the answer that was sent so far and
// reads on. While it is false, a sender that goes on fills the host's memory.
func (x *Exchange) Reading() bool {
	r, ok := x.sink.(*router)
	return !ok || r.over || x.Aborted || r.unread == 0 && len(r.inbox) == 0
}

// Hold says whether the client takes no more of the response for now. As long as
// it does not, Envoy does not read the upstream.
func (s *Stream) Hold(on bool) {
	s.h.event(func() {
		if r := s.router; r != nil && !(on && s.over) {
			s.held.set(on, func() { r.unread++ }, func() { r.unread--; s.h.event(r.readInbox) })
		}
	})
}

// Reading says that Envoy has taken all that the client sent so far and reads
// on. While it is false, a sender that goes on fills the host's memory.
func (s *Stream) Reading() bool { return s.over || s.unread == 0 && len(s.inbox) == 0 }

// keep holds a part of the request's body for another attempt. For a live
// cluster it is kept only as long as there may be one, up to the buffer limit of
// the listener: a larger request is not retried, as in Envoy.
func (r *router) keep(b []byte) {
	if r.cluster.Live == nil {
		r.body = append(r.body, b...)
		return
	}
	if r.retries > 0 && len(r.body)+len(b) > r.h.o.BufferLimit {
		r.retries = 0
		r.body = nil
	}
	if r.retries > 0 {
		r.body = append(r.body, b...)
	}
}

// take is a part of the request on its way to the cluster.
func (x *Exchange) take(b []byte) {
	switch {
	case !x.open:
		x.Body = append(x.Body, b...)
	case len(b) > 0:
		x.c.Live.Data(x, append([]byte(nil), b...))
	}
}
