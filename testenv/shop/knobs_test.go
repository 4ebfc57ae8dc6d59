package shop

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

func TestBodyKnobs(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		a := s.do("POST", "/orders", "", "X-Shop-Body", "%00a%ff%25 b")
		if string(a.body) != "\x00a\xff% b" || a.ContentLength != 6 {
			t.Errorf("x-shop-body: %q, length %d", a.body, a.ContentLength)
		}
		a = s.do("POST", "/orders", "", "X-Shop-Body", "")
		if len(a.body) != 0 || a.ContentLength != 0 {
			t.Errorf("empty x-shop-body: %q, length %d", a.body, a.ContentLength)
		}
		for _, n := range []string{"0", "1", "16384", "300001"} {
			a, b := s.do("POST", "/orders", "", "X-Shop-Body-Bytes", n), s.do("POST", "/orders", "", "X-Shop-Body-Bytes", n)
			if got := a.Header.Get("Content-Length"); got != n || int64(len(a.body)) != a.ContentLength {
				t.Errorf("x-shop-body-bytes %s: %d bytes, length %s", n, len(a.body), got)
			}
			if len(a.body) > 100 && bytes.Equal(a.body, b.body) {
				t.Errorf("x-shop-body-bytes %s: two executions share a body", n)
			}
		}
		a = s.do("POST", "/orders", "", "X-Shop-Body-Bytes", "70000", "X-Shop-Chunked", "1")
		if a.ContentLength != -1 || len(a.body) != 70000 {
			t.Errorf("x-shop-chunked: length %d, %d bytes", a.ContentLength, len(a.body))
		}
		if a.ProtoMajor == 1 && (len(a.TransferEncoding) != 1 || a.TransferEncoding[0] != "chunked") {
			t.Errorf("x-shop-chunked: transfer-encoding %q", a.TransferEncoding)
		}
		a = s.do("POST", "/orders", "", "X-Shop-Body-Bytes", "70000", "X-Shop-Encode", "gzip")
		z, err := gzip.NewReader(bytes.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || len(plain) != 70000 || a.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("x-shop-encode: %d bytes, %v", len(plain), err)
		}
		if int64(len(a.body)) != a.ContentLength {
			t.Errorf("x-shop-encode: %d bytes, length %d", len(a.body), a.ContentLength)
		}
	})
}

func TestStatusKnob(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		for status, body := range map[string]bool{"200": true, "204": false, "304": false, "404": true, "503": true, "599": true} {
			a := s.do("POST", "/orders", "", "X-Shop-Status", status, "X-Shop-Tag", status)
			if !strings.HasPrefix(a.Status, status) || len(a.body) > 0 != body {
				t.Errorf("%s: %s with %d bytes", status, a.Status, len(a.body))
			}
			x := s.executions("tag=" + status)
			if x.Count != 1 || (x.Effects == 1) != (status < "400") {
				t.Errorf("%s: count %d, effects %d", status, x.Count, x.Effects)
			}
		}
	})
}

func TestHeaderKnobs(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		a := s.do("POST", "/orders", "",
			"X-Shop-Header", "content-type: text/plain", "X-Shop-Header", "set-cookie: a=1; Path=/",
			"X-Shop-Header", "Set-Cookie: b=2", "X-Shop-Header", "x-empty:", "X-Shop-Header", "date: then",
			"X-Shop-Header-Bytes", "9000", "X-Shop-Header-Count", "300")
		for name, want := range map[string]string{
			"Content-Type": "text/plain", "Set-Cookie": "a=1; Path=/|b=2", "X-Empty": "", "Date": "then",
			"X-Shop-Line-0": "0", "X-Shop-Line-299": "299",
		} {
			if got := a.Header.Values(name); len(got) == 0 || strings.Join(got, "|") != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if n := len(a.Header.Get("X-Shop-Fill")); n != 9000 {
			t.Errorf("x-shop-header-bytes: %d", n)
		}
		if a.Header.Get("X-Shop-Line-300") != "" {
			t.Error("x-shop-header-count: one line too many")
		}
	})
}

func TestEarlyKnob(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		var early []int
		ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
			Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { early = append(early, code); return nil },
		})
		r, _ := http.NewRequestWithContext(ctx, "POST", "http://"+s.addr+"/orders", nil)
		r.Header.Set("X-Shop-Early", "103")
		res, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if len(early) != 1 || early[0] != 103 || res.StatusCode != 201 || res.Header.Get("Link") != "" {
			t.Errorf("early %d, then %d, link %q", early, res.StatusCode, res.Header.Get("Link"))
		}
	})
}

func TestTrailerKnob(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		a := s.do("POST", "/orders", "", "X-Shop-Trailer", "x-sum: 1", "X-Shop-Trailer", "X-Sum: 2", "X-Shop-Header", "x-sum: head")
		if got := a.Trailer.Values("X-Sum"); len(got) != 2 || got[0] != "1" || got[1] != "2" {
			t.Errorf("trailer %q", a.Trailer)
		}
		if got := a.Header.Values("X-Sum"); len(got) != 1 || got[0] != "head" {
			t.Errorf("header line of the trailer's name: %q", got)
		}
		a.receipt(t)
	})
}

func TestEventsKnob(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		start := time.Now()
		a := s.do("POST", "/orders", "", "X-Shop-Events", "3,50ms")
		if took := time.Since(start); took < 100*time.Millisecond {
			t.Errorf("3 events at 50ms took %s", took)
		}
		if n := bytes.Count(a.body, []byte("\n\n")); n != 3 || a.Header.Get("Content-Type") != "text/event-stream" || a.ContentLength != -1 {
			t.Errorf("%d events, %s, length %d: %q", n, a.Header.Get("Content-Type"), a.ContentLength, a.body)
		}
		cut, err := s.try("POST", "/orders", "", "X-Shop-Events", "4", "X-Shop-Fault", "half")
		if err != nil || cut.bodyErr == nil || bytes.Count(cut.body, []byte("\n\n")) != 2 {
			t.Errorf("half of 4 events: %v, %+v", err, cut)
		}
	})
}

func TestUpgradeKnob(t *testing.T) {
	s := serve(t, false, NoGuards)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /orders HTTP/1.1\r\nHost: shop\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nx-shop-upgrade: 1\r\nx-shop-tag: up\r\n\r\nsoon")
	br := bufio.NewReader(c)
	res, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 101 || res.Header.Get("Upgrade") != "websocket" {
		t.Errorf("%s, upgrade %q", res.Status, res.Header.Get("Upgrade"))
	}
	io.WriteString(c, " and later")
	got := make([]byte, len("soon and later"))
	if _, err := io.ReadFull(br, got); err != nil || string(got) != "soon and later" {
		t.Errorf("echo %q, %v", got, err)
	}
	if s.executions("tag=up").Count != 1 {
		t.Error("an upgrade was not counted")
	}
	protocols(t, func(t *testing.T, s *served) {
		if a := s.do("POST", "/orders", "", "X-Shop-Upgrade", "1"); a.StatusCode != 426 {
			t.Errorf("nothing to upgrade to: %d", a.StatusCode)
		}
	})
}

func TestBadKnobsAreRefusedAllAtOnce(t *testing.T) {
	protocols(t, func(t *testing.T, s *served) {
		a := s.do("POST", "/orders", "", "X-Shop-Tag", "bad",
			"X-Shop-Delay", "11m", "X-Shop-Status", "199", "X-Shop-Body", "%zz", "X-Shop-Body-Bytes", "67108865",
			"X-Shop-Chunked", "yes", "X-Shop-Encode", "br", "X-Shop-Header", "no line", "X-Shop-Header-Bytes", "-1",
			"X-Shop-Header-Count", "10001", "X-Shop-Fault", "maybe", "X-Shop-Early", "101", "X-Shop-Trailer", "a b: c",
			"X-Shop-Events", "3,soon", "X-Shop-Upgrade", "2", "X-Shop-Dealy", "1s")
		if lines := strings.Count(string(a.body), "\n"); a.StatusCode != 400 || lines != 15 {
			t.Errorf("%d with %d lines:\n%s", a.StatusCode, lines, a.body)
		}
		if x := s.executions("tag=bad"); x.Count != 1 || x.Effects != 0 {
			t.Errorf("count %d, effects %d", x.Count, x.Effects)
		}
		if a := s.do("POST", "/orders", "", "X-Shop-Status", "200", "X-Shop-Status", "201"); a.StatusCode != 400 {
			t.Errorf("two x-shop-status lines: %d", a.StatusCode)
		}
	})
}
