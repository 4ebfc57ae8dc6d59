package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/oncewall/oncewall/testenv/host"
)

// h1 is one request and its response on an HTTP/1.1 connection, bytes as they
// are: nothing is validated, repaired or hidden.
type h1 struct {
	l        *lab
	conn     net.Conn
	w        *writer
	msg      message
	client   bool
	noBody   bool // the request is HEAD: its response has no body
	chunked  bool // what we send is
	answered bool // a server has answered all
}

// dialH1 sends a request's headers.
func dialH1(l *lab, addr string, r host.Request) (*h1, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	l.owns(conn)
	x := &h1{l: l, conn: conn, w: newWriter(l, conn), client: true, noBody: r.Method == "HEAD"}
	path := r.Path
	if path == "" {
		path = "/"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nhost: example.com\r\n", r.Method, path)
	x.chunked = r.Headers.Get("transfer-encoding") == "chunked"
	writeFields(&b, r.Headers)
	x.w.write([]byte(b.String()))
	go x.readResponse()
	return x, nil
}

func writeFields(b *strings.Builder, h host.Headers) {
	for _, p := range h {
		fmt.Fprintf(b, "%s: %s\r\n", p[0], p[1])
	}
	b.WriteString("\r\n")
}

// serveH1 reads requests of a connection, each when the one before is answered.
func serveH1(l *lab, cluster string, conn net.Conn) {
	w, br := newWriter(l, conn), bufio.NewReader(conn)
	for {
		first, h, err := readHead(br)
		if err != nil {
			return
		}
		x := &h1{l: l, conn: conn, w: w}
		parts := strings.SplitN(first, " ", 3)
		x.msg.headers = host.Headers{{":method", parts[0]}, {":path", parts[1]}}
		for _, p := range h {
			if p[0] == "host" {
				p[0] = ":authority"
			}
			x.msg.headers = append(x.msg.headers, p)
		}
		l.do(func() { l.seen[cluster] = append(l.seen[cluster], x) })
		err = x.readBody(br, h, false)
		if err == nil {
			l.do(func() { x.msg.ended = true })
			_, err = br.Peek(1)
		}
		if err != nil {
			l.do(func() { x.msg.broken = !x.answered })
			return
		}
	}
}

func (x *h1) readResponse() {
	br := bufio.NewReader(x.conn)
	var h host.Headers
	status := "100"
	for status == "100" {
		first, fields, err := readHead(br)
		if err != nil {
			x.l.do(func() { x.msg.broken = true })
			return
		}
		status, h = strings.SplitN(first+"  ", " ", 3)[1], fields
	}
	x.l.do(func() { x.msg.headers = append(host.Headers{{":status", status}}, h...) })
	bodiless := x.noBody || status == "204" || status == "304"
	if !bodiless {
		if err := x.readBody(br, h, true); err != nil {
			x.l.do(func() { x.msg.broken = true })
			return
		}
	}
	x.l.do(func() { x.msg.ended = true })
	// What follows a response that may have no body belongs to it all the same.
	x.copyRest(br)
}

func (x *h1) copyRest(br *bufio.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := br.Read(buf)
		x.l.do(func() { x.msg.body = append(x.msg.body, buf[:n]...) })
		if err != nil {
			return
		}
	}
}

// readHead reads a start line and the fields behind it.
func readHead(br *bufio.Reader) (first string, h host.Headers, err error) {
	for {
		s, err := br.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		s = strings.TrimRight(s, "\r\n")
		switch {
		case first == "":
			first = s
		case s == "":
			return first, h, nil
		default:
			name, value, _ := strings.Cut(s, ":")
			h = append(h, [2]string{name, strings.TrimPrefix(value, " ")})
		}
	}
}

// readBody reads a body as its fields frame it; untilClose is how a response
// without framing ends.
func (x *h1) readBody(br *bufio.Reader, h host.Headers, untilClose bool) error {
	switch {
	case h.Has("transfer-encoding"):
		return x.readChunks(br)
	case h.Has("content-length"):
		n, err := strconv.Atoi(h.Get("content-length"))
		if err != nil {
			return err
		}
		return x.copyBody(io.LimitReader(br, int64(n)), n)
	case untilClose:
		return x.copyBody(br, -1)
	}
	return nil
}

func (x *h1) copyBody(r io.Reader, want int) error {
	buf, got := make([]byte, 64<<10), 0
	for got != want {
		n, err := r.Read(buf)
		got += n
		x.l.do(func() { x.msg.body = append(x.msg.body, buf[:n]...) })
		if err == io.EOF && want < 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *h1) readChunks(br *bufio.Reader) error {
	for {
		s, err := br.ReadString('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(s), 16, 32)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := x.copyBody(io.LimitReader(br, n), int(n)); err != nil {
			return err
		}
		if _, err := br.Discard(2); err != nil {
			return err
		}
	}
	for {
		s, err := br.ReadString('\n')
		if err != nil {
			return err
		}
		if s = strings.TrimRight(s, "\r\n"); s == "" {
			return nil
		}
		name, value, _ := strings.Cut(s, ":")
		x.l.do(func() { x.msg.trailers = append(x.msg.trailers, [2]string{name, strings.TrimSpace(value)}) })
	}
}

func (x *h1) got() message {
	x.l.mu.Lock()
	defer x.l.mu.Unlock()
	return x.msg
}

// head answers, as a server.
func (x *h1) head(status int, h host.Headers, end bool) {
	if !end && !h.Has("content-length") {
		h = append(h, [2]string{"transfer-encoding", "chunked"})
		x.chunked = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d Status\r\n", status)
	writeFields(&b, h)
	x.finished(end)
	x.w.write([]byte(b.String()))
}

func (x *h1) finished(end bool) {
	if end {
		x.l.do(func() { x.answered = true })
	}
}

func (x *h1) send(b []byte, end bool) {
	x.finished(end)
	if x.chunked {
		s := ""
		if len(b) > 0 {
			s = fmt.Sprintf("%x\r\n%s\r\n", len(b), b)
		}
		if end {
			s += "0\r\n\r\n"
		}
		b = []byte(s)
	}
	if len(b) > 0 {
		x.w.write(b)
	}
}

func (x *h1) trailers(h host.Headers) {
	x.finished(true)
	var b strings.Builder
	b.WriteString("0\r\n")
	writeFields(&b, h)
	x.w.write([]byte(b.String()))
}

// reset closes the connection, once what was sent is on its way.
func (x *h1) reset(host.ResetReason) {
	x.l.do(func() { x.answered, x.msg.broken = true, x.msg.broken || x.client })
	x.w.finally(func() { _ = x.conn.Close() })
}
