package shop

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

func TestFaultsAndWhatTheyCount(t *testing.T) {
	for _, c := range []struct {
		fault    string
		counted  bool
		effects  int
		answered bool
	}{
		{"close-before", false, 0, false},
		{"refused", false, 0, false},
		{"close-after", true, 1, false},
		{"rst", true, 1, false},
		{"half", true, 1, true},
	} {
		protocols(t, func(t *testing.T, s *served) {
			if c.fault == "refused" && s.h2 {
				return // the client would repeat it; see TestHTTP2ResetCodes
			}
			a, err := s.try("POST", "/orders", "a body", "X-Shop-Fault", c.fault, "X-Shop-Tag", "f", "X-Shop-Body-Bytes", "100000")
			if (err == nil) != c.answered {
				t.Fatalf("%s: error %v", c.fault, err)
			}
			if c.answered {
				if a.bodyErr == nil || len(a.body) != 50000 {
					t.Errorf("%s: %d bytes, then %v", c.fault, len(a.body), a.bodyErr)
				}
			}
			x := s.executions("tag=f")
			if (x.Count > 0) != c.counted || x.Effects != c.effects {
				t.Errorf("%s: count %d, effects %d", c.fault, x.Count, x.Effects)
			}
		})
	}
}

func TestHalfOfAChunkedBodyHasNoEnd(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		a, err := s.try("POST", "/orders", "", "X-Shop-Fault", "half", "X-Shop-Chunked", "1", "X-Shop-Body", "abcdef")
		if err != nil || string(a.body) != "abc" || a.bodyErr == nil {
			t.Errorf("%v, %q, %v", err, a.body, a.bodyErr)
		}
	})
}

func TestHTTP1CloseAndResetDiffer(t *testing.T) {
	s := serve(t, false, NoGuards)
	for fault, want := range map[string]error{"close-before": io.EOF, "close-after": io.EOF, "refused": io.EOF, "rst": syscall.ECONNRESET} {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "POST /orders HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\nx-shop-fault: "+fault+"\r\n\r\nhi")
		if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %d bytes and %v, want %v", fault, n, err, want)
		}
		c.Close()
	}
}

// rawH2 speaks frames, since the Go client hides reset codes and repeats
// refused streams.
type rawH2 struct {
	t    *testing.T
	conn net.Conn
	*http2.Framer
	buf bytes.Buffer
	enc *hpack.Encoder
}

func dialH2(t *testing.T, addr string) *rawH2 {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	io.WriteString(c, http2.ClientPreface)
	h := &rawH2{t: t, conn: c, Framer: http2.NewFramer(c, c)}
	h.enc = hpack.NewEncoder(&h.buf)
	h.WriteSettings()
	return h
}

func (h *rawH2) block(fields ...string) []byte {
	h.buf.Reset()
	all := append([]string{":method", "POST", ":scheme", "http", ":authority", "shop", ":path", "/orders"}, fields...)
	for i := 0; i < len(all); i += 2 {
		h.enc.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	return bytes.Clone(h.buf.Bytes())
}

func (h *rawH2) post(stream uint32, fields ...string) {
	h.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: h.block(fields...), EndHeaders: true, EndStream: true})
}

// ends reads until n streams have ended: by a reset code, or "ok".
func (h *rawH2) ends(n int) map[uint32]string {
	h.t.Helper()
	ended := map[uint32]string{}
	for len(ended) < n {
		f, err := h.ReadFrame()
		if err != nil {
			h.t.Fatalf("after %v: %v", ended, err)
		}
		switch f := f.(type) {
		case *http2.RSTStreamFrame:
			ended[f.StreamID] = f.ErrCode.String()
		case *http2.DataFrame:
			if f.StreamEnded() {
				ended[f.StreamID] = "ok"
			}
		}
	}
	return ended
}

func TestHTTP2ResetCodes(t *testing.T) {
	s := serve(t, true, NoGuards)
	h := dialH2(t, s.addr)
	const streams = 300
	faults := []string{"refused", "rst", ""}
	want := map[string]string{"refused": "REFUSED_STREAM", "rst": "INTERNAL_ERROR", "": "ok"}
	go func() {
		for i := range streams {
			fields := []string{"x-shop-tag", "mixed", "x-n", strconv.Itoa(i)}
			if f := faults[i%3]; f != "" {
				fields = append(fields, "x-shop-fault", f)
			}
			h.post(uint32(2*i+1), fields...)
		}
	}()
	for stream, got := range h.ends(streams) {
		if f := faults[stream/2%3]; got != want[f] {
			t.Errorf("stream %d, fault %q: %s, want %s", stream, f, got, want[f])
		}
	}
	if n := s.Find("", "mixed").Count; n != streams*2/3 {
		t.Errorf("counted %d of %d", n, streams*2/3)
	}
}

// The header block may be padded, carry a priority, and be spread over
// continuation frames; and a trailer block follows the body.
func TestRefusedIsFoundInEveryShapeOfHeaders(t *testing.T) {
	s := serve(t, true, NoGuards)
	h := dialH2(t, s.addr)
	b := h.block("x-shop-fault", "refused", "x-long", strings.Repeat("v", 500))
	h.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: b[:6], PadLength: 9,
		Priority: http2.PriorityParam{StreamDep: 9, Exclusive: true, Weight: 200},
	})
	h.WriteContinuation(1, false, b[6:40])
	h.WriteContinuation(1, true, b[40:])
	h.WriteData(1, false, []byte("body"))
	h.buf.Reset()
	h.enc.WriteField(hpack.HeaderField{Name: "x-trailer", Value: "1"})
	h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: bytes.Clone(h.buf.Bytes()), EndHeaders: true, EndStream: true})
	if got := h.ends(1)[1]; got != "REFUSED_STREAM" {
		t.Errorf("got %s", got)
	}
	h.post(3)
	if got := h.ends(1)[3]; got != "ok" {
		t.Errorf("the next stream: %s", got)
	}
}

// Whatever the pieces in which bytes arrive and leave, the same code is
// replaced and nothing else.
func TestFramesInPieces(t *testing.T) {
	var in bytes.Buffer
	in.WriteString(http2.ClientPreface)
	h := &rawH2{t: t, Framer: http2.NewFramer(&in, nil)}
	h.enc = hpack.NewEncoder(&h.buf)
	h.WriteSettings()
	h.post(1, "x-shop-fault", "refused")
	h.post(3, "x-shop-fault", "rst")

	var out, want bytes.Buffer
	for b, code := range map[*bytes.Buffer]http2.ErrCode{&out: http2.ErrCodeInternal, &want: http2.ErrCodeRefusedStream} {
		f := http2.NewFramer(b, nil)
		f.WriteData(5, false, []byte("data that looks like no frame"))
		f.WriteRSTStream(3, http2.ErrCodeInternal)
		f.WriteRSTStream(1, code)
		f.WriteRSTStream(1, http2.ErrCodeInternal) // marked once
	}
	for size := 1; size < out.Len(); size++ {
		c := newConn(nil)
		for p := in.Bytes(); len(p) > 0; p = p[min(size, len(p)):] {
			c.in.feed(c, p[:min(size, len(p))])
		}
		if c.in.blind || !c.h2.Load() {
			t.Fatalf("pieces of %d: lost track", size)
		}
		var got []byte
		for p := out.Bytes(); len(p) > 0; p = p[min(size, len(p)):] {
			got = append(got, c.out.pass(c, p[:min(size, len(p))])...)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("pieces of %d: %x, want %x", size, got, want.Bytes())
		}
	}
}
