package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// wireRun is one exchange as both of its ends see it.
type wireRun struct {
	c *wireCase

	mu       sync.Mutex
	up       []byte   // of the request that the backend is getting
	requests []string // those that it has got
	down     []byte   // what the client has got
}

// wireGot is what came of an exchange, without what differs in each.
type wireGot struct {
	requests []string
	answer   string
	took     time.Duration
}

// chunkEdges lie where reads of a large body happened to end.
var chunkEdges = regexp.MustCompile(`\r\n[0-9a-f]+\r\n`)

// remaining is what a retry has left of the route's 15 s.
var remaining = regexp.MustCompile(`(?m)^(x-envoy-expected-rq-timeout-ms): 1[0-5]\d{3}`)

func (r *wireRun) cleaned(s string) string {
	if r.c.fails > 0 {
		s = remaining.ReplaceAllString(s, "$1: *")
	}
	if strings.HasPrefix(r.c.name, "large") {
		s = chunkEdges.ReplaceAllString(s, "")
	}
	return perExchangeWire.ReplaceAllString(s, "$1: *")
}

// Write takes what the client has got.
func (r *wireRun) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = append(r.down, p...)
	return len(p), nil
}

// tee takes what the backend reads.
type tee struct {
	net.Conn
	b *wireBackend
}

func (c tee) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if r := c.b.run(); r != nil {
		r.mu.Lock()
		r.up = append(r.up, p[:n]...)
		r.mu.Unlock()
	}
	return n, err
}

// got notes that the request is here; ours: it is the exchange's own.
func (r *wireRun) got(ours bool) (failing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ours {
		r.requests = append(r.requests, r.cleaned(string(r.up)))
	}
	r.up = nil
	return len(r.requests) <= r.c.fails
}

// await waits until one end has got the end of what the other wrote.
func (r *wireRun) await(wrote string, down bool) error {
	tail := wrote[max(len(wrote)-4, 0):]
	for deadline := time.Now().Add(rawLimit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		here := bytes.Contains(r.down, []byte(tail))
		if !down {
			here = bytes.Contains(r.up, []byte(tail)) || strings.Contains(strings.Join(r.requests, ""), tail)
		}
		r.mu.Unlock()
		if here {
			return nil
		}
	}
	return fmt.Errorf("%q was held back", tail)
}

// wireBackend records requests and answers them by their exchange's script.
type wireBackend struct {
	port    int
	mu      sync.Mutex
	current *wireRun
}

func newWireBackend(t *testing.T) *wireBackend {
	t.Helper()
	b := &wireBackend{}
	b.port = listen(t, func(conn *net.TCPConn) { b.serve(tee{conn, b}) })
	return b
}

func (b *wireBackend) run() *wireRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current
}

func (b *wireBackend) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	br := bufio.NewReader(conn)
	if first, err := br.Peek(3); err != nil || string(first) == "PRI" {
		b.serveH2(conn, br)
		return
	}
	for {
		req, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		if req.Header.Get("Upgrade") != "" {
			if _, err := io.WriteString(conn, b.run().c.answer[0]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, br, 4); err != nil {
				return
			}
			b.run().got(true)
			_, _ = io.WriteString(conn, b.run().c.answer[1])
			return
		}
		r := b.run()
		failing := r.got(req.URL.Path != "/last")
		answer := r.c.answer
		switch {
		case req.URL.Path == "/last":
			answer = []string{"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast"}
		case failing:
			answer = []string{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"}
		case answer == nil:
			answer = []string{wireReceipt}
		}
		for i, piece := range answer {
			if i > 0 && r.await(answer[i-1], true) != nil || piece == "cut" {
				return
			}
			if piece == "never" {
				_, _ = br.ReadByte() // until Envoy has had enough
				return
			}
			if _, err := io.WriteString(conn, piece); err != nil {
				return
			}
		}
	}
}

// h2Text writes a frame down: fields in their order, and where they end the stream.
func h2Text(w io.Writer, f http2.Frame) (ended bool) {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		for _, h := range f.Fields {
			fmt.Fprintf(w, "%s: %s\n", h.Name, h.Value)
		}
		ended = f.StreamEnded()
		fmt.Fprintf(w, "end %t\n", ended)
	case *http2.DataFrame:
		_, _ = w.Write(f.Data())
		if ended = f.StreamEnded(); ended {
			fmt.Fprint(w, "\nend")
		}
	case *http2.RSTStreamFrame:
		fmt.Fprintf(w, "reset %s\n", f.ErrCode)
		ended = true
	case *http2.GoAwayFrame:
		fmt.Fprintf(w, "goaway %s\n", f.ErrCode)
		ended = true
	}
	return ended
}

// h2Peer is one end of an HTTP/2 connection.
type h2Peer struct {
	*http2.Framer
	block bytes.Buffer
	enc   *hpack.Encoder
}

func newH2Peer(w io.Writer, r io.Reader) (*h2Peer, error) {
	p := &h2Peer{Framer: http2.NewFramer(w, r)}
	p.enc = hpack.NewEncoder(&p.block)
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return p, errors.Join(p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 24}), p.WriteWindowUpdate(0, 1<<30))
}

// write sends fields, a line each.
func (p *h2Peer) write(id uint32, lines string, end bool) error {
	p.block.Reset()
	for l := range strings.SplitSeq(lines, "\n") {
		i := strings.Index(l[1:], ":") + 1
		_ = p.enc.WriteField(hpack.HeaderField{Name: l[:i], Value: strings.TrimSpace(l[i+1:])})
	}
	return p.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.block.Bytes(), EndHeaders: true, EndStream: end})
}

func (p *h2Peer) writeData(id uint32, body string, end bool) (err error) {
	for len(body) > 0 && err == nil {
		n := min(len(body), 16<<10)
		err = p.WriteData(id, end && n == len(body), []byte(body[:n]))
		body = body[n:]
	}
	return err
}

func (b *wireBackend) serveH2(conn net.Conn, br *bufio.Reader) {
	if _, err := io.CopyN(io.Discard, br, int64(len(http2.ClientPreface))); err != nil {
		return
	}
	p, err := newH2Peer(conn, br)
	if err != nil {
		return
	}
	var text strings.Builder
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		if s, ok := f.(*http2.SettingsFrame); ok && !s.IsAck() {
			_ = p.WriteSettingsAck()
		}
		if _, ok := f.(*http2.GoAwayFrame); ok || !h2Text(&text, f) {
			continue
		}
		r := b.run()
		r.mu.Lock()
		r.up = []byte(text.String())
		r.mu.Unlock()
		r.got(true)
		text.Reset()
		id := f.Header().StreamID
		grpc := r.c.name == "gRPC"
		err = errors.Join(p.write(id, ":status: 200\ncontent-type: a/b\nx-b: 1\nx-a: 2\nx-b: 3\nset-cookie: a=1\nset-cookie: b=2", false), p.writeData(id, "answer", !grpc))
		if grpc {
			err = errors.Join(err, p.write(id, "grpc-status: 0\ngrpc-message: ok", true))
		}
		if err != nil {
			return
		}
	}
}

// exchange carries one out through a listener.
func (b *wireBackend) exchange(t *testing.T, addr string, c *wireCase) wireGot {
	t.Helper()
	r := &wireRun{c: c}
	b.mu.Lock()
	b.current = r
	b.mu.Unlock()
	began := time.Now()
	conn, err := net.DialTimeout("tcp", addr, rawLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(rawLimit)); err != nil {
		t.Fatal(err)
	}
	if lines, ok := strings.CutPrefix(c.request[0], "h2\n"); ok {
		err = askH2(conn, r, lines)
	} else {
		err = askH1(conn, r)
	}
	if err != nil {
		t.Errorf("through %s: %v", addr, err)
	}
	took := time.Since(began)
	r.mu.Lock()
	defer r.mu.Unlock()
	return wireGot{requests: r.requests, answer: r.cleaned(string(r.down)), took: took}
}

// askH1 writes the pieces, with another request behind the last one, so that the
// connection ends by itself where the first would leave it open.
func askH1(conn net.Conn, r *wireRun) error {
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(r, conn)
		read <- err
	}()
	pieces := r.c.request
	upgrades := strings.Contains(pieces[0], "Upgrade: websocket")
	ends := upgrades || strings.Contains(pieces[0], " HTTP/1.0\r\n") && !strings.Contains(pieces[0], "keep-alive") || len(r.c.answer) == 2 && r.c.answer[1] == "cut"
	for i, piece := range pieces {
		if i > 0 {
			if err := r.await(pieces[i-1], upgrades); err != nil {
				return err
			}
		}
		if i == len(pieces)-1 && !ends {
			piece += wireLast
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			return err
		}
	}
	return <-read
}

func askH2(conn net.Conn, r *wireRun, text string) error {
	parts := strings.SplitN(text, "\n\n", 3)
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return err
	}
	p, err := newH2Peer(conn, conn)
	if err != nil {
		return err
	}
	for opened := 0; ; {
		f, err := p.ReadFrame()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if f.IsAck() {
				continue
			}
			opened++
			err = p.WriteSettingsAck()
		case *http2.WindowUpdateFrame:
			opened++
		}
		if err != nil {
			return err
		}
		// With its settings and its window Envoy has room for the whole request.
		if _, isWindow := f.(*http2.WindowUpdateFrame); opened == 2 && (isWindow || f.Header().Type == http2.FrameSettings) {
			lines, body, trailers := parts[0], parts[1], parts[2]
			err = p.write(1, lines, body == "" && trailers == "")
			if err == nil {
				err = p.writeData(1, body, trailers == "")
			}
			if err == nil && trailers != "" {
				err = p.write(1, trailers, true)
			}
			if opened++; err != nil {
				return err
			}
		}
		if h2Text(r, f) {
			return nil
		}
	}
}
