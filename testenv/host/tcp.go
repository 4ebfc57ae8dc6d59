package host

import "fmt"

// Conn is a TCP connection through a listener whose chain is this filter and the
// TCP proxy.
//
// The upstream is scripted by the test: what Envoy sent is in Received, and
// Answer sends. Connecting to it always succeeds.
type Conn struct {
	h *Host
	w *Worker
	f *fctx

	sent, received         []byte  // to the client, to the upstream
	down, up               *buffer // what the filter may touch now
	read, write            *buffer // what the filter holds of the client's and the upstream's
	waiting                bool    // proxy_on_new_connection paused: nothing is read
	clientEnd, upstreamEnd bool    // half-closed
	passedEnd              bool    // the client's end has gone on
	closed                 bool
	state                  map[string][]byte
	id                     uint64
}

// closeType says who closed a connection, as the filter is told.
type closeType uint32

const (
	closeUnknown closeType = iota
	closeLocal
	closeRemote
)

var closeNames = [...]string{"unknown", "local", "remote"}

// Connect opens a connection: proxy_on_context_create, proxy_on_new_connection.
// Under FailOpen a dead VM is bypassed, else the connection is closed at once.
func (w *Worker) Connect() *Conn {
	k := &Conn{h: w.h, w: w, read: &buffer{}, write: &buffer{}, state: map[string][]byte{}}
	w.h.event(func() {
		w.h.conns++
		k.id = w.h.conns
		k.f = w.handle(nil)
		if k.f == nil {
			return
		}
		k.f.conn = k
		k.f.create()
		k.waiting = !k.call("proxy_on_new_connection", "")
	})
	return k
}

// call calls a callback of the connection; true lets the data go on.
func (k *Conn) call(name, args string, params ...uint64) bool {
	x := k.f
	if x.vm == nil || x.vm.failed {
		k.close(closeLocal)
		return false
	}
	if !x.vm.has(name) {
		return true
	}
	defer x.vm.afterCall()
	r := x.vm.invoke(x, name, args, showTrailers, params...)
	if x.vm.failed {
		k.close(closeLocal)
		return false
	}
	return r == 0
}

// Send sends bytes from the client; end is its half-close. While the filter
// pauses, what it holds comes again together with the new bytes. While
// proxy_on_new_connection pauses, nothing is read: the TCP proxy has not
// connected.
func (k *Conn) Send(b []byte, end bool) {
	b = append([]byte(nil), b...)
	k.h.event(func() {
		if k.closed || k.clientEnd {
			return
		}
		k.clientEnd = end
		k.read.add(b)
		if !k.waiting {
			k.arrived()
		}
	})
}

// arrived asks the filter about what was read.
func (k *Conn) arrived() {
	if k.f != nil {
		k.down = k.read
		n := len(k.read.b)
		if !k.call("proxy_on_downstream_data", fmt.Sprintf("n=%d, end=%d", n, bit(k.clientEnd)), uint64(n), bit(k.clientEnd)) {
			return
		}
		k.down = nil
	}
	k.forward()
}

// forward passes what was read to the upstream.
func (k *Conn) forward() {
	if k.closed {
		return
	}
	k.received = append(k.received, k.read.take()...)
	k.passedEnd = k.clientEnd
	if k.clientEnd && k.upstreamEnd {
		k.close(closeRemote)
	}
}

// proceed is continueReading: what is held goes on past the filter. After a
// pause of proxy_on_new_connection it is the start of reading.
func (k *Conn) proceed() {
	switch {
	case k.closed:
	case !k.waiting:
		k.forward()
	default:
		k.waiting = false
		if len(k.read.b) > 0 || k.clientEnd {
			k.h.event(k.arrived)
		}
	}
}

// Answer sends bytes from the upstream; end is its half-close. While the filter
// pauses, what it holds comes again together with the new bytes; nothing else
// releases it.
func (k *Conn) Answer(b []byte, end bool) {
	b = append([]byte(nil), b...)
	k.h.event(func() {
		if k.closed || k.upstreamEnd {
			return
		}
		k.upstreamEnd = end
		k.write.add(b)
		on := true
		if k.f != nil {
			k.up = k.write
			n := len(k.write.b)
			on = k.call("proxy_on_upstream_data", fmt.Sprintf("n=%d, end=%d", n, bit(end)), uint64(n), bit(end))
			if on {
				k.up = nil
			}
			if end && !k.closed {
				k.f.closing("proxy_on_upstream_connection_close", closeUnknown)
			}
		}
		if on && !k.closed {
			k.sent = append(k.sent, k.write.take()...)
		}
		if end && k.passedEnd {
			k.close(closeLocal)
		}
	})
}

// Close is the client resetting the connection. A client that closes in peace is
// Send with end. While proxy_on_new_connection pauses, Envoy does not notice.
func (k *Conn) Close() {
	k.h.event(func() {
		if !k.waiting {
			k.close(closeRemote)
		}
	})
}

// close ends the connection: proxy_on_downstream_connection_close, then
// proxy_on_done, proxy_on_log, proxy_on_delete; the order of the first two is
// not that of HTTP streams.
func (k *Conn) close(by closeType) {
	if k.closed {
		return
	}
	k.closed = true
	x := k.f
	if x == nil || x.vm == nil {
		return
	}
	x.closing("proxy_on_downstream_connection_close", by)
	x.done()
	x.event("proxy_on_log", "")
	x.delete()
}

func (x *fctx) closing(name string, by closeType) {
	if x.vm != nil {
		x.event(name, "by="+closeNames[by], uint64(by))
	}
}

// Received is what has reached the upstream.
func (k *Conn) Received() []byte { return k.received }

// Sent is what has reached the client.
func (k *Conn) Sent() []byte { return k.sent }

// Closed says that the connection has ended.
func (k *Conn) Closed() bool { return k.closed }

// ContextID is the id by which the filter knows the connection.
func (k *Conn) ContextID() uint32 {
	if k.f == nil {
		return 0
	}
	return k.f.id
}

func (k *Conn) attributes(first string) any {
	switch first {
	case "connection_id":
		return k.id
	case "connection":
		return connectionAttributes(k.id)
	case "source":
		return sourceAttributes(k.id)
	case "destination":
		return destinationAttributes()
	}
	return nil
}
