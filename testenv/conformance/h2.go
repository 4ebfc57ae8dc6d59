package conformance

import (
	"bytes"
	"io"
	"net"
	"sync"

	"github.com/oncewall/oncewall/testenv/host"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2conn is an HTTP/2 connection at the level of frames, of a client or of a
// server. It gives the peer all the window there is.
type h2conn struct {
	l       *lab
	conn    net.Conn
	cluster string // of a server
	fr      *http2.Framer

	mu      sync.Mutex // of what is sent
	more    *sync.Cond // a window has grown, or the connection is over
	buf     bytes.Buffer
	enc     *hpack.Encoder
	window  int64 // of the connection
	initial int64 // of new streams
	over    bool
	streams map[uint32]*h2
}

// h2 is one stream.
type h2 struct {
	c      *h2conn
	id     uint32
	msg    message
	window int64
	out    chan func() // frames in order: waiting for a window blocks nobody else
}

func newH2(l *lab, conn net.Conn, cluster string) *h2conn {
	c := &h2conn{l: l, conn: conn, cluster: cluster, window: 65535, initial: 65535, streams: map[uint32]*h2{}}
	c.more = sync.NewCond(&c.mu)
	c.fr = http2.NewFramer(conn, conn)
	c.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.fr.MaxHeaderListSize = 16 << 20
	c.enc = hpack.NewEncoder(&c.buf)
	return c
}

func dialH2(l *lab, addr string, r host.Request) (*h2, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	l.owns(conn)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return nil, err
	}
	c := newH2(l, conn, "")
	if err := c.hello(); err != nil {
		return nil, err
	}
	s := c.stream(1)
	go c.read()
	path := r.Path
	if path == "" {
		path = "/"
	}
	h := append(host.Headers{{":method", r.Method}, {":scheme", "http"}, {":authority", "example.com"}, {":path", path}}, r.Headers...)
	s.out <- func() { s.writeHeaders(h, !r.Open) }
	return s, nil
}

func serveH2(l *lab, cluster string, conn net.Conn) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	c := newH2(l, conn, cluster)
	if c.hello() == nil {
		c.read()
	}
}

func (c *h2conn) hello() error {
	if err := c.fr.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 16 << 20}); err != nil {
		return err
	}
	return c.fr.WriteWindowUpdate(0, 1<<30)
}

func (c *h2conn) stream(id uint32) *h2 {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[id]
	if s == nil {
		s = &h2{c: c, id: id, window: c.initial, out: make(chan func(), 256)}
		c.streams[id] = s
		go func() {
			for {
				select {
				case f := <-s.out:
					f()
				case <-c.l.over:
					return
				}
			}
		}()
	}
	return s
}

// read takes frames until the connection is over; streams that had not ended are
// broken then.
func (c *h2conn) read() {
	for {
		f, err := c.fr.ReadFrame()
		if err != nil {
			break
		}
		c.frame(f)
	}
	c.mu.Lock()
	c.over = true
	c.more.Broadcast()
	var all []*h2
	for _, s := range c.streams {
		all = append(all, s)
	}
	c.mu.Unlock()
	c.l.do(func() {
		for _, s := range all {
			s.msg.broken = s.msg.broken || !s.msg.ended
		}
	})
}

func (c *h2conn) frame(f http2.Frame) {
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if f.IsAck() {
			return
		}
		if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
			c.grow(func() {
				for _, s := range c.streams {
					s.window += int64(v) - c.initial
				}
				c.initial = int64(v)
			})
		}
		c.locked(func() { _ = c.fr.WriteSettingsAck() })
	case *http2.WindowUpdateFrame:
		id, n := f.StreamID, int64(f.Increment)
		c.grow(func() {
			if id == 0 {
				c.window += n
			} else if s := c.streams[id]; s != nil {
				s.window += n
			}
		})
	case *http2.PingFrame:
		if !f.IsAck() {
			c.locked(func() { _ = c.fr.WritePing(true, f.Data) })
		}
	case *http2.MetaHeadersFrame:
		c.headers(f)
	case *http2.DataFrame:
		s := c.stream(f.StreamID)
		n := uint32(len(f.Data()))
		c.l.do(func() {
			s.msg.body = append(s.msg.body, f.Data()...)
			s.msg.ended = f.StreamEnded()
		})
		if n > 0 {
			c.locked(func() { _ = c.fr.WriteWindowUpdate(0, n) })
		}
	case *http2.RSTStreamFrame:
		s := c.stream(f.StreamID)
		c.l.do(func() { s.msg.broken = true })
	}
}

func (c *h2conn) headers(f *http2.MetaHeadersFrame) {
	s := c.stream(f.StreamID)
	var h host.Headers
	for _, p := range f.Fields {
		h = append(h, [2]string{p.Name, p.Value})
	}
	end := f.StreamEnded()
	c.l.do(func() {
		switch {
		case s.msg.headers != nil:
			s.msg.trailers = h
		default:
			s.msg.headers = h
			if c.cluster != "" {
				c.l.seen[c.cluster] = append(c.l.seen[c.cluster], s)
			}
		}
		s.msg.ended = end
	})
}

func (c *h2conn) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *h2conn) grow(f func()) {
	c.locked(f)
	c.more.Broadcast()
}

func (s *h2) writeHeaders(h host.Headers, end bool) {
	s.c.locked(func() {
		s.c.buf.Reset()
		for _, p := range h {
			_ = s.c.enc.WriteField(hpack.HeaderField{Name: p[0], Value: p[1]})
		}
		block, first := s.c.buf.Bytes(), true
		for first || len(block) > 0 {
			n := min(len(block), 16000)
			if first {
				_ = s.c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block[:n], EndStream: end, EndHeaders: n == len(block)})
			} else {
				_ = s.c.fr.WriteContinuation(s.id, n == len(block), block[:n])
			}
			block, first = block[n:], false
		}
	})
}

// writeData sends as the windows allow.
func (s *h2) writeData(b []byte, end bool) {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(b) > 0 && min(c.window, s.window) <= 0 && !c.over {
			c.more.Wait()
		}
		if c.over {
			return
		}
		n := len(b)
		if n > 0 {
			n = int(min(int64(n), c.window, s.window, 16384))
		}
		c.window -= int64(n)
		s.window -= int64(n)
		_ = c.fr.WriteData(s.id, end && n == len(b), b[:n])
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
}

func (s *h2) got() message {
	s.c.l.mu.Lock()
	defer s.c.l.mu.Unlock()
	return s.msg
}

func (s *h2) head(status int, h host.Headers, end bool) {
	h = append(host.H(":status", itoa(status)), h...)
	s.out <- func() { s.writeHeaders(h, end) }
}

func (s *h2) send(b []byte, end bool) { s.out <- func() { s.writeData(b, end) } }
func (s *h2) trailers(h host.Headers) { s.out <- func() { s.writeHeaders(h, true) } }

// reset is RST_STREAM, or the end of the connection where the reason says so.
func (s *h2) reset(reason host.ResetReason) {
	code := http2.ErrCodeCancel
	if s.c.cluster == "" {
		s.c.l.do(func() { s.msg.broken = true })
	}
	switch reason {
	case host.ConnectionTermination:
		s.out <- func() { _ = s.c.conn.Close() }
		return
	case host.RemoteRefused:
		code = http2.ErrCodeRefusedStream
	}
	s.out <- func() { s.c.locked(func() { _ = s.c.fr.WriteRSTStream(s.id, code) }) }
}
