package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// rawLimit bounds an exchange on a socket.
const rawLimit = 30 * time.Second

// rawAnswer is an answer as it was on the wire: every line in its order, names in
// lower case.
type rawAnswer struct {
	status int
	lines  []string // "name: value"
	body   []byte
	early  int // answers with 1xx before
	err    error
}

func (a rawAnswer) header(name string) (values []string) {
	for _, l := range a.lines {
		if n, v, _ := strings.Cut(l, ": "); n == name {
			values = append(values, v)
		}
	}
	return values
}

func (a rawAnswer) String() string {
	return fmt.Sprintf("%d (%v)\n%s\n%d bytes", a.status, a.err, strings.Join(a.lines, "\n"), len(a.body))
}

// raw sends one request on a connection of its own: proto is HTTP/1.0, HTTP/1.1
// or h2.
func raw(t *testing.T, addr, proto, method, path string, lines [][2]string, body string) (a rawAnswer) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, rawLimit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(rawLimit)); err != nil {
		t.Fatal(err)
	}
	if proto == "h2" {
		return rawH2(conn, method, path, lines, body)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s\r\nhost: shop.example\r\n", method, path, proto)
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\r\n", l[0], l[1])
	}
	if proto == "HTTP/1.1" {
		b.WriteString("connection: close\r\n")
	}
	fmt.Fprintf(&b, "content-length: %d\r\n\r\n%s", len(body), body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		a.err = err
		return a
	}
	return readRaw(bufio.NewReader(conn), method)
}

// readRaw reads an HTTP/1 answer up to the end of the connection.
func readRaw(br *bufio.Reader, method string) (a rawAnswer) {
	for {
		first, err := textproto.NewReader(br).ReadLine()
		if err != nil {
			a.err = err
			return a
		}
		_, rest, _ := strings.Cut(first, " ")
		a.status, _ = strconv.Atoi(rest[:min(3, len(rest))])
		a.lines = nil
		for {
			l, err := br.ReadString('\n')
			if err != nil {
				a.err = err
				return a
			}
			if l = strings.TrimSuffix(l, "\r\n"); l == "" {
				break
			}
			name, value, _ := strings.Cut(l, ":")
			a.lines = append(a.lines, strings.ToLower(name)+": "+strings.TrimSpace(value))
		}
		if a.status >= 200 {
			break
		}
		a.early++
	}
	if v := a.header("transfer-encoding"); len(v) == 1 && v[0] == "chunked" {
		a.body, a.err = readChunks(br)
		return a
	}
	if method == "HEAD" || a.status == 204 || a.status == 304 {
		return a
	}
	if v := a.header("content-length"); len(v) == 1 {
		n, err := strconv.ParseUint(v[0], 10, 31)
		if a.err = err; err == nil {
			a.body = make([]byte, n)
			_, a.err = io.ReadFull(br, a.body)
		}
		return a
	}
	a.body, a.err = io.ReadAll(br)
	return a
}

func readChunks(br *bufio.Reader) (body []byte, err error) {
	for {
		l, err := textproto.NewReader(br).ReadLine()
		if err != nil {
			return body, err
		}
		n, err := strconv.ParseUint(l, 16, 31)
		if err != nil {
			return body, err
		}
		piece := make([]byte, n+2)
		if _, err := io.ReadFull(br, piece); err != nil {
			return body, err
		}
		body = append(body, piece[:n]...)
		if n == 0 {
			return body, nil
		}
	}
}

// rawH2 is one exchange on an HTTP/2 connection.
func rawH2(conn net.Conn, method, path string, lines [][2]string, body string) (a rawAnswer) {
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		a.err = err
		return a
	}
	fr := http2.NewFramer(conn, conn)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for _, f := range append([][2]string{{":method", method}, {":scheme", "http"}, {":authority", "shop.example"}, {":path", path}}, lines...) {
		_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	err := errors.Join(fr.WriteSettings(), fr.WriteWindowUpdate(0, 1<<30),
		fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b.Bytes(), EndHeaders: true, EndStream: body == ""}))
	if body != "" {
		err = errors.Join(err, fr.WriteData(1, true, []byte(body)))
	}
	if a.err = err; err != nil {
		return a
	}
	for {
		f, err := fr.ReadFrame()
		if err != nil {
			a.err = err
			return a
		}
		end := false
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			a.meta(f)
			end = f.StreamEnded()
		case *http2.DataFrame:
			a.body = append(a.body, f.Data()...)
			if n := len(f.Data()); n > 0 {
				_ = fr.WriteWindowUpdate(1, uint32(n))
			}
			end = f.StreamEnded()
		case *http2.RSTStreamFrame:
			a.err = fmt.Errorf("reset: %s", f.ErrCode)
			end = true
		case *http2.GoAwayFrame:
			a.err = fmt.Errorf("goaway: %s", f.ErrCode)
			end = true
		}
		if end {
			return a
		}
	}
}

// meta takes headers, or trailers.
func (a *rawAnswer) meta(f *http2.MetaHeadersFrame) {
	for _, h := range f.Fields {
		switch {
		case h.Name == ":status":
			if a.status != 0 && a.status < 200 {
				a.early++
			}
			a.status, _ = strconv.Atoi(h.Value)
		case a.status >= 200:
			a.lines = append(a.lines, h.Name+": "+h.Value)
		}
	}
}
