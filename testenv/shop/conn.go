package shop

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// maxHeaderBlock is the largest HTTP/2 header block that conn decodes. It is
// above what net/http accepts.
const maxHeaderBlock = 2 << 20

// conn lets a handler refuse a stream. net/http can reset an HTTP/2 stream
// only with INTERNAL_ERROR and does not tell a handler its stream's number, so
// conn listens on both directions: it decodes the header blocks that come in,
// notes the streams that ask for x-shop-fault: refused, and turns the code of
// the RST_STREAM that goes out for one of them into REFUSED_STREAM. An
// HTTP/1.1 connection passes untouched.
type conn struct {
	net.Conn

	in  inbound     // used by the reader alone
	out outbound    // used by the writer alone
	h2  atomic.Bool // the preface has come; nothing goes out before it

	mu      sync.Mutex
	refused map[uint32]bool // by stream
}

func newConn(c net.Conn) *conn {
	nc := &conn{Conn: c}
	nc.in.decoder = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == "x-shop-fault" && f.Value == string(refused) {
			nc.in.asks = true
		}
	})
	return nc
}

type connKey struct{}

// connOf returns the connection that a request came by, nil if the shop is
// not served by [Shop.Serve].
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

func (c *conn) mark(stream uint32, refuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !refuse {
		delete(c.refused, stream)
		return
	}
	if c.refused == nil {
		c.refused = make(map[uint32]bool)
	}
	c.refused[stream] = true
}

// takeRefused tells once whether the stream is marked.
func (c *conn) takeRefused(stream uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.refused[stream]
	delete(c.refused, stream)
	return r
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.in.blind {
		c.in.feed(c, p[:n])
	}
	return n, err
}

// Write implements [net.Conn]. net/http writes from one goroutine at a time.
func (c *conn) Write(p []byte) (int, error) {
	if !c.h2.Load() {
		return c.Conn.Write(p)
	}
	return c.Conn.Write(c.out.pass(c, p))
}

// frame is the part of a frame header that matters here.
type frame struct {
	length uint32
	kind   http2.FrameType
	flags  http2.Flags
	stream uint32
}

func parseFrame(b []byte) frame {
	return frame{
		length: uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]),
		kind:   http2.FrameType(b[3]),
		flags:  http2.Flags(b[4]),
		stream: binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1),
	}
}
