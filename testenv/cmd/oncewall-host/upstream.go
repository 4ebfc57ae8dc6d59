package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oncewall/oncewall/testenv/host"
)

// connectTimeout bounds the making of a connection to a cluster: Envoy's default
// of connect_timeout.
const connectTimeout = 5 * time.Second

// upstream is a cluster of one address behind net/http's transport. What it does
// is done on the loop; each exchange has a goroutine that reads its answer.
type upstream struct {
	l         *loop
	name      string
	to        target
	limit     int // bytes that wait for the connection
	transport *http.Transport
	report    func(format string, args ...any)
	calls     map[*host.Exchange]*outgoing
}

var _ host.Live = (*upstream)(nil)

func newUpstream(l *loop, name string, to target, limit int, report func(string, ...any)) *upstream {
	t := &http.Transport{
		DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        time.Minute,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 60 << 10,
		Protocols:              new(http.Protocols),
	}
	if to.http2 {
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.Protocols.SetHTTP1(true)
	}
	return &upstream{l: l, name: name, to: to, limit: limit, transport: t, report: report, calls: map[*host.Exchange]*outgoing{}}
}

// outgoing is one request to the cluster.
type outgoing struct {
	u      *upstream
	x      *host.Exchange
	ctx    context.Context
	cancel context.CancelFunc
	body   *pipe
	ended  bool // the request is complete; set on the loop
}

// Open puts the sending off to the end of the event, when it is known whether
// the request has a body.
func (u *upstream) Open(x *host.Exchange) {
	ctx, cancel := context.WithCancel(context.Background())
	o := &outgoing{u: u, x: x, ctx: ctx, cancel: cancel}
	o.body = newPipe(u.limit, func(on bool) { x.Hold(on) }, func() { u.l.post(func() { x.Hold(false) }) })
	u.calls[x] = o
	u.l.later = append(u.l.later, o.start)
}

// Data is a part of the request's body.
func (u *upstream) Data(x *host.Exchange, b []byte) {
	if o := u.calls[x]; o != nil {
		o.body.push(b)
	}
}

// End completes the request.
func (u *upstream) End(x *host.Exchange) {
	if o := u.calls[x]; o != nil {
		o.ended = true
		o.body.finish(x.Trailers)
	}
}

// Abort resets the stream, or closes the connection.
func (u *upstream) Abort(x *host.Exchange) {
	if o := u.calls[x]; o != nil {
		o.drop()
	}
}

// drop ends an exchange from this side. It runs on the loop.
func (o *outgoing) drop() {
	delete(o.u.calls, o.x)
	o.cancel()
	o.body.fail(context.Canceled)
}

func (o *outgoing) start() {
	if o.ctx.Err() != nil {
		return
	}
	req, err := o.request()
	if err != nil {
		o.u.report("cluster %s: the request cannot be sent: %v", o.u.name, err)
		o.drop()
		o.x.Reset(host.ProtocolError)
		return
	}
	go o.exchange(req)
}

// request makes what is sent. Nothing of it lets the transport send it a second
// time by itself.
func (o *outgoing) request() (*http.Request, error) {
	h := o.x.Headers
	u := &url.URL{Scheme: "http", Host: o.u.to.addr}
	if path := h.Get(":path"); strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		u.Opaque = path // as it is, byte for byte
	} else {
		// Opaque would make an authority of what follows "//".
		parsed, err := url.ParseRequestURI(path)
		if err != nil {
			return nil, errors.New("not a path")
		}
		u.Path, u.RawPath, u.RawQuery = parsed.Path, parsed.RawPath, parsed.RawQuery
	}
	req := &http.Request{
		Method: h.Get(":method"), URL: u, Host: h.Get(":authority"), Header: toUpstream(h),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if !o.ended || o.body.pending() {
		req.Body, req.ContentLength = o.body, -1
		if n, err := strconv.ParseInt(h.Get("content-length"), 10, 64); err == nil {
			req.ContentLength = n
		}
		if o.u.to.http2 {
			req.Trailer = announced(h)
			o.body.trailer = req.Trailer
		}
	} else if !o.u.to.http2 && slices.Contains(resent, req.Method) {
		// A body, if an empty one, is what keeps the transport from sending the
		// request again when a connection turns out to be closed.
		req.Body = struct{ io.ReadCloser }{http.NoBody}
	}
	return req.WithContext(o.ctx), nil
}

// resent are the methods that the transport takes for safe to send again.
var resent = []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}

// exchange sends the request and gives the answer to the host, as fast as the
// host takes it.
func (o *outgoing) exchange(req *http.Request) {
	defer o.u.l.post(func() { o.drop() })
	resp, err := o.u.transport.RoundTrip(req)
	if err != nil {
		o.reset(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	h := fromHTTP(resp.Header)
	if slices.Contains(resp.TransferEncoding, "chunked") {
		h.Add("transfer-encoding", "chunked")
	}
	bodiless := resp.Body == http.NoBody || resp.ContentLength == 0 || req.Method == http.MethodHead ||
		resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	if !o.u.l.feed(func() { o.x.SendHeaders(resp.StatusCode, h, bodiless) }, o.x.Reading) || bodiless {
		return
	}
	buf := make([]byte, readBytes)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 && !o.u.l.feed(func() { o.x.Send(buf[:n], false) }, o.x.Reading) {
			return
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			o.u.l.post(func() {
				if t := fromHTTP(resp.Trailer); len(t) > 0 {
					o.x.SendTrailers(t)
				} else {
					o.x.Send(nil, true)
				}
			})
			return
		default:
			o.reset(err)
			return
		}
	}
}

// reset tells the host how the exchange failed.
func (o *outgoing) reset(err error) {
	if o.ctx.Err() != nil {
		return // given up by the host
	}
	o.u.report("cluster %s: %v", o.u.name, err)
	o.u.l.post(func() { o.x.Reset(resetReason(err)) })
}

// resetReason names a failure as Envoy does.
func resetReason(err error) host.ResetReason {
	var op *net.OpError
	text := err.Error()
	switch {
	case errors.As(err, &op) && op.Op == "dial":
		return host.ConnectFailure
	case strings.Contains(text, "REFUSED_STREAM"):
		return host.RemoteRefused
	case strings.Contains(text, "stream error"):
		return host.RemoteReset
	case errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(text, "malformed"):
		return host.ProtocolError
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		strings.Contains(text, "closed"), strings.Contains(text, "GOAWAY"):
		return host.ConnectionTermination
	default:
		return host.ProtocolError
	}
}

// close closes what is idle.
func (u *upstream) close() { u.transport.CloseIdleConnections() }

func (t target) String() string {
	if t.http2 {
		return fmt.Sprintf("h2c://%s", t.addr)
	}
	return fmt.Sprintf("http://%s", t.addr)
}
